/* Who named what: see struct jprof_coverage_file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "view/walk.h"

struct jprof_coverage {
	struct jprof_coverage_file *files;
	size_t count;
	struct jp_arena arena;
};

static double size_of(const struct jprof_coverage_file *file)
{
	double sum = 0;
	for (int s = 0; s < JPROF_SOURCES; s++)
		sum += fabs(file->bytes[s]);
	return sum;
}

static int by_bytes(const void *a, const void *b)
{
	const struct jprof_coverage_file *x = a, *y = b;
	double dx = size_of(x), dy = size_of(y);
	return jp_order_by(dy, dx, strcmp(x->path, y->path));
}

/* By the place that a stack's memory is said to be allocated at. 0, or -1 when memory is short. */
static int count_bytes(const struct jprof_view *v, struct jprof_coverage *c)
{
	struct jp_walk walk;
	int rc = jp_walk_init(&walk, v);
	bool sites = jp_view_has_sites(v);
	for (uint32_t i = 0; !rc && i < v->stack_count; i++) {
		const struct jp_view_stack *stack = &v->stacks[i];
		const struct jp_location *l = stack->depth ? &v->code.locations[stack->places[0]] : NULL;
		if (!l)
			continue;
		if (sites) {
			jp_walk_frames(&walk, i);
			l = jp_frame_location(v, walk.frames[walk.inner]);
		}
		c->files[l->object].bytes[l->source] += jp_stack_value(v, i);
	}
	jp_walk_release(&walk);
	return rc;
}

/* What would name those functions of a usable file that have no name. */
static const char *advice_for(struct jprof_coverage *c, struct jprof_coverage_file *file)
{
	char text[512];
	uint64_t nameless = file->addresses[JPROF_SOURCE_FDE] + file->addresses[JPROF_SOURCE_NONE];
	if (*file->advice || file->proof < JPROF_PROOF_UNVERIFIED || !nameless)
		return file->advice;
	int n = snprintf(text, sizeof text, "stripped: %s",
	                 *file->build_id
	                     ? "install its debug symbols (Debian: PACKAGE-dbgsym, Alpine: PACKAGE-dbg), build-id "
	                     : "use a build that is not stripped");
	if (n > 0 && (size_t)n < sizeof text)
		snprintf(text + n, sizeof text - (size_t)n, "%s", file->build_id);
	file->advised = JPROF_ADVICE_SYMBOLS;
	return jp_arena_dup(&c->arena, text, strlen(text));
}

/* Files that no stack passes through are nobody's concern. */
static void keep_sampled(struct jprof_coverage *c)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->count; i++) {
		uint64_t addresses = 0;
		for (int s = 0; s < JPROF_SOURCES; s++)
			addresses += c->files[i].addresses[s];
		if (addresses)
			c->files[kept++] = c->files[i];
	}
	c->count = kept;
}

static int fill_coverage(struct jprof_coverage *c, const struct jprof_view *v)
{
	const struct jp_code *code = &v->code;
	c->count = code->object_count;
	c->files = calloc(c->count + 1, sizeof *c->files);
	if (!c->files)
		return -1;
	for (uint32_t i = 0; i < c->count; i++) {
		const struct jp_object *o = &code->objects[i];
		c->files[i] = (struct jprof_coverage_file){ .path = jp_code_object(code, i),
			                                    .build_id = jp_code_string(code, o->build_id),
			                                    .proof = o->proof,
			                                    .reason = jp_code_string(code, o->reason),
			                                    .advice = jp_advice_text(o->advice),
			                                    .advised = o->advice };
	}
	if (count_bytes(v, c))
		return -1;
	/* Of the whole profile: those that folding took away were looked up too. */
	for (uint32_t i = 0; i < code->location_count; i++)
		c->files[code->locations[i].object].addresses[code->locations[i].source]++;
	for (size_t i = 0; i < c->count; i++) {
		c->files[i].advice = advice_for(c, &c->files[i]);
		if (!c->files[i].advice)
			return -1;
	}
	keep_sampled(c);
	if (c->count)
		qsort(c->files, c->count, sizeof *c->files, by_bytes);
	return 0;
}

int jprof_coverage_new(const struct jprof_view *view, struct jprof_coverage **out, struct jprof_error *err)
{
	if (jp_null(err, view, out))
		return JPROF_E_ARGUMENT;
	struct jprof_coverage *c = calloc(1, sizeof *c);
	if (!c || fill_coverage(c, view)) {
		jprof_coverage_free(c);
		return jp_error_nomem(err);
	}
	*out = c;
	return 0;
}

size_t jprof_coverage_count(const struct jprof_coverage *coverage)
{
	return coverage ? coverage->count : 0;
}

const struct jprof_coverage_file *jprof_coverage_at(const struct jprof_coverage *coverage, size_t i)
{
	return coverage && i < coverage->count ? &coverage->files[i] : NULL;
}

double jprof_coverage_named(const struct jprof_coverage *coverage)
{
	double named = 0, all = 0;
	for (size_t i = 0; i < jprof_coverage_count(coverage); i++)
		for (int s = 0; s < JPROF_SOURCES; s++) {
			all += fabs(coverage->files[i].bytes[s]);
			if (s > JPROF_SOURCE_FDE)
				named += fabs(coverage->files[i].bytes[s]);
		}
	return all > 0 ? named / all : 1;
}

void jprof_coverage_free(struct jprof_coverage *coverage)
{
	if (!coverage)
		return;
	jp_arena_release(&coverage->arena);
	free(coverage->files);
	free(coverage);
}
