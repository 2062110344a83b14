/* A stack of a view laid out in flat arrays, one after the other: what every report walks. */
#pragma once

#include "view/view.h"

struct jp_walk {
	const struct jprof_view *view;
	uint32_t *frames; /* of the stack at hand, innermost first */
	uint32_t depth;
	uint32_t *rows;         /* those inside of the path, then the path */
	uint32_t inner, length; /* inside of the path; in all */
};

/* 0, or -1 when memory is short; to be released in either case. The view must outlive the walk. */
int jp_walk_init(struct jp_walk *walk, const struct jprof_view *view) jp_must_check;

/* Lays out a stack: its frames, and its rows too. By site `inner` is the frame at which it was allocated. Rows that are
 * no frames', as by library, come without frames. */
void jp_walk_frames(struct jp_walk *walk, uint32_t stack);
void jp_walk_rows(struct jp_walk *walk, uint32_t stack);

/* Lays out its frames and, where the profile has tags, its tag as one more that called the outermost. A tag's number is
 * behind those of all frames: first that of having none. */
void jp_walk_tagged(struct jp_walk *walk, uint32_t stack);

/* The tag that has such a number: its id, or JP_NONE. */
static inline uint32_t jp_walk_tag(const struct jprof_view *view, uint32_t frame)
{
	return frame == view->code.frame_count ? JP_NONE : frame - view->code.frame_count - 1;
}

/* The path of the stack at hand. */
static inline const uint32_t *jp_walk_path(const struct jp_walk *walk, size_t *length)
{
	*length = walk->length - walk->inner;
	return walk->rows + walk->inner;
}

void jp_walk_release(struct jp_walk *walk);
