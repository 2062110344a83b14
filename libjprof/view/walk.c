#include "view/walk.h"

#include <stdlib.h>
#include <string.h>

#include "view/origin.h"

int jp_walk_init(struct jp_walk *w, const struct jprof_view *view)
{
	*w = (struct jp_walk){ .view = view };
	w->frames = calloc(view->deepest + 1, sizeof *w->frames);
	w->rows = calloc((view->longest > view->deepest ? view->longest : view->deepest) + 1, sizeof *w->rows);
	return w->frames && w->rows ? 0 : -1;
}

void jp_walk_frames(struct jp_walk *w, uint32_t id)
{
	const struct jp_view_stack *stack = &w->view->stacks[id];
	uint32_t *end = w->frames;
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t count, first = jp_place_frames(w->view, stack, i, &count);
		if (count)
			*end++ = first; /* most have one */
		for (uint32_t f = 1; f < count; f++)
			*end++ = first + f;
	}
	w->depth = (uint32_t)(end - w->frames);
	w->inner = jp_view_has_sites(w->view) ? jp_origins_site(w->view->origins, w->frames, w->depth) : 0;
}

void jp_walk_tagged(struct jp_walk *w, uint32_t id)
{
	const uint32_t tag = w->view->stacks[id].tag;
	jp_walk_frames(w, id);
	/* There is room for one more. */
	if (w->depth && w->view->profile->tags.count)
		w->frames[w->depth++] = w->view->code.frame_count + (tag == JP_NONE ? 0 : 1 + tag);
}

void jp_walk_rows(struct jp_walk *w, uint32_t id)
{
	const struct jp_view_path *path = w->view->paths ? &w->view->paths[id] : NULL;
	if (path) {
		w->inner = path->inner;
		w->length = path->length;
		memcpy(w->rows, path->rows, path->length * sizeof *path->rows);
		return;
	}
	jp_walk_frames(w, id);
	w->length = w->depth;
	for (uint32_t i = 0; i < w->length; i++)
		w->rows[i] = jp_row_of_frame(w->view, w->frames[i]);
}

void jp_walk_release(struct jp_walk *w)
{
	free(w->frames);
	free(w->rows);
}
