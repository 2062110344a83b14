/* Where code of Ruby comes from, told by its path: the application, a gem, Ruby's own. And by that: at which frame of a
 * stack its memory was allocated. */
#pragma once

#include "base/reader.h"
#include "base/strbuf.h"
#include "model/code.h"

/* What a path tells. The spans are parts of it. */
struct jp_path_origin {
	enum jprof_origin origin;
	struct jp_span name, version; /* of a gem; the version may be empty */
	struct jp_span rest;          /* the path in the gem; else all of it */
};

struct jp_path_origin jp_path_origin(const char *path);

/* What is known of a place. All zero: it is native. */
struct jp_origin {
	uint32_t label; /* id in labels, and one more: "application", "nokogiri 1.16.2"; 0: native */
	uint8_t origin; /* enum jprof_origin */
	uint8_t site;   /* how well memory may be said to be allocated there; 0: not at all */
};

struct jp_origins {
	struct jp_origin *of; /* by location */
	struct jp_intern labels;
	const uint32_t *location_of; /* by frame; of a view */
	uint32_t frame_count;        /* frames from there on are places without frames */
};

/* 0, or -1 when memory is short; to be released in either case. */
int jp_origins_init(struct jp_origins *origins, const struct jp_code *code, const uint32_t *location_of) jp_must_check;

/* Of the place of a frame. */
const struct jp_origin *jp_origin_of(const struct jp_origins *origins, uint32_t frame);

/* "" where there is none. */
const char *jp_origin_label(const struct jp_origins *origins, const struct jp_origin *of);

/* The frame of a stack at which its memory was allocated: the innermost of the application or a gem that does more than
 * load code (a gem's `require`); else the innermost of a gem; else the innermost that has a file; else the innermost of
 * Ruby; else the innermost. `frames` are innermost first. */
uint32_t jp_origins_site(const struct jp_origins *origins, const uint32_t *frames, uint32_t depth);

/* Likewise the first of the places [from, depth) that is the application's or a gem's; `depth` if there is none. */
size_t jp_origins_owner(const struct jp_origins *origins, const uint32_t *places, size_t from, size_t depth);

/* The innermost frame of the application from `from` on; `depth` if there is none. */
uint32_t jp_origins_caller(const struct jp_origins *origins, const uint32_t *frames, uint32_t from, uint32_t depth);

/* The path behind the first of the prefixes `trim` (comma-separated, may be NULL) that it begins with, or NULL. */
const char *jp_behind_prefix(const char *path, const char *trim);

/* A path of Ruby as it is shown: the first of the prefixes `trim` (comma-separated, may be NULL) that it begins with is
 * taken off; else, but of a gem's path, the directory of a process that it lies below. An empty `trim` leaves paths
 * whole. The result is a part of the path. */
const char *jp_shown_path(const struct jp_code *code, const char *path, const char *trim);

/* "app/models/user.rb:42", "i18n 1.14.1 lib/i18n.rb:71": where a frame of Ruby is, the path likewise. */
void jp_put_site(struct jp_strbuf *out, const struct jp_code *code, const char *path, uint32_t line, const char *trim);

void jp_origins_release(struct jp_origins *origins);
