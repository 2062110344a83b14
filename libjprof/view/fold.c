#include "view/fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/slotsamples.h"
#include "ops/standard.h"

enum { entry_within = 24 }; /* jemalloc's own part of a stack is at most this deep */

/* What is known of a function's name; KNOWN_x says that bit x has been worked out. */
enum { ENTRY = 1, PREFIXED = 2, INTERNAL = 4, WRAPPER = 8, PLUMBING = 16, STANDARD = 32, ALSO = 64, KNOWN_SHIFT = 7 };

static bool found(struct jp_pattern *also, const char *name)
{
	return jp_pattern_found(also, name, strlen(name));
}

static bool name_is(const struct jp_fold *f, uint32_t function, unsigned what)
{
	const char *name = jp_code_name(f->code, function, false);
	switch (what) {
	case ENTRY: return jp_is_allocator_name(name);
	case PREFIXED: return jp_is_prefixed_allocator_name(name);
	case INTERNAL: return jp_is_allocator_internal(name);
	case WRAPPER: return jp_is_wrapper_name(&f->wrappers, name);
	case STANDARD: return jp_is_standard_name(name, jp_code_string(f->code, f->code->functions[function].system));
	case ALSO: return found(f->also, name) || found(f->also, jp_code_name(f->code, function, true));
	default: return jp_is_plumbing_name(name);
	}
}

static bool function_is(const struct jp_fold *f, uint32_t function, unsigned what)
{
	unsigned short *known = &f->known[function];
	if (!(*known & what << KNOWN_SHIFT)) {
		bool is = name_is(f, function, what);
		*known = (unsigned short)(*known | what << KNOWN_SHIFT | (is ? what : 0));
	}
	return *known & what;
}

static bool frame_is(const struct jp_fold *f, const struct jp_location *l, uint32_t frame, unsigned what)
{
	if (l->source == JPROF_SOURCE_RUBY)
		return false;
	return l->source > JPROF_SOURCE_FDE && function_is(f, f->code->frames[l->frame_first + frame].function, what);
}

/* By the outermost function there, the one that was called. */
static bool location_is(const struct jp_fold *f, uint32_t location, unsigned what)
{
	const struct jp_location *l = &f->code->locations[location];
	return l->frame_count && frame_is(f, l, l->frame_count - 1, what);
}

static uint32_t object_at(const struct jp_fold *f, const struct jp_run *run, size_t i)
{
	return f->code->locations[run->places[i]].object;
}

static const char *name_at(const struct jp_fold *f, const struct jp_run *run, size_t i)
{
	const struct jp_location *l = &f->code->locations[run->places[i]];
	uint32_t function = f->code->frames[l->frame_first + l->frame_count - 1].function;
	return jp_code_name(f->code, function, false);
}

/* An entry point with a prefix. Where the file's own is known, a user's by_malloc is none; where it is not,
 * one at the very inner end is none either: what jemalloc itself wrote begins with its inner functions. */
static bool is_prefixed_entry(const struct jp_fold *f, const struct jp_run *run, size_t i)
{
	uint32_t known = f->code->objects[f->code->allocator].entry_prefix;
	if (!location_is(f, run->places[i], PREFIXED))
		return false;
	if (known == JP_NONE)
		return i > 0;
	const char *name = name_at(f, run, i), *prefix = jp_code_string(f->code, known);
	return jp_allocator_prefix(name) == strlen(prefix) && !strncmp(name, prefix, strlen(prefix));
}

/* How many frames of the allocator's own stand at the inner end, when it is part of a larger
 * object: up to the first entry point. That may have ended in a jump and be absent. */
static size_t count_static_allocator(const struct jp_fold *f, const struct jp_run *run)
{
	uint32_t allocator = f->code->allocator;
	size_t n = 0;
	for (; n < run->depth && n < entry_within && object_at(f, run, n) == allocator; n++)
		if (!location_is(f, run->places[n], INTERNAL) &&
		    (location_is(f, run->places[n], ENTRY) || is_prefixed_entry(f, run, n)))
			return n + 1;
	for (n = 0; n < run->depth && object_at(f, run, n) == allocator && location_is(f, run->places[n], INTERNAL);)
		n++;
	return n;
}

static size_t count_allocator(const struct jp_fold *f, const struct jp_run *run)
{
	uint32_t allocator = f->code->allocator;
	size_t n = 0;
	if (allocator == JP_NONE || !run->depth || object_at(f, run, 0) != allocator)
		n = 0;
	else if (f->code->objects[allocator].allocator)
		while (n < run->depth && object_at(f, run, n) == allocator)
			n++;
	else
		n = count_static_allocator(f, run);
	while (n < run->depth && location_is(f, run->places[n], ENTRY))
		n++;
	return n;
}

/* Takes n places off the inner end, but never the last one: bytes without a frame would be lost. */
static void drop(struct jp_run *run, size_t n)
{
	if (n && n >= run->depth)
		n = run->depth - 1;
	run->places += n;
	run->depth -= (uint32_t)n;
}

static bool is_wrapper(const struct jp_fold *f, const struct jp_location *l, uint32_t frame)
{
	if (f->also && function_is(f, f->code->frames[l->frame_first + frame].function, ALSO))
		return true;
	return f->level != JPROF_FOLD_NONE && (frame_is(f, l, frame, WRAPPER) || frame_is(f, l, frame, ENTRY));
}

static uint32_t count_wrapper_frames(const struct jp_fold *f, const struct jp_location *l)
{
	uint32_t n = 0;
	bool standard = f->level == JPROF_FOLD_STD || f->level == JPROF_FOLD_VM;
	if (l->wrapper && f->level != JPROF_FOLD_NONE)
		return l->frame_count;
	while (n < l->frame_count && (is_wrapper(f, l, n) || (standard && frame_is(f, l, n, STANDARD))))
		n++;
	return n;
}

/* Whether the innermost place has no name and a wrapper of its object file called it: a part of the wrapper. */
static bool is_below_wrapper(const struct jp_fold *f, const struct jp_run *run)
{
	const struct jp_location *l = &f->code->locations[run->places[0]],
				 *caller = &f->code->locations[run->places[1]];
	return l->source <= JPROF_SOURCE_FDE && l->object == caller->object && caller->frame_count &&
	       ((caller->wrapper && f->level != JPROF_FOLD_NONE) || is_wrapper(f, caller, 0));
}

/* A location goes as a whole or, where wrappers are inlined into something else, in part. */
static void fold_wrappers(const struct jp_fold *f, struct jp_run *run)
{
	while (run->depth > 1) {
		const struct jp_location *l = &f->code->locations[run->places[0]];
		uint32_t n = count_wrapper_frames(f, l);
		if ((n < l->frame_count && !is_below_wrapper(f, run)) || !l->frame_count) {
			run->skip = n;
			return;
		}
		drop(run, 1);
	}
}

static bool is_plumbing(const struct jp_fold *f, uint32_t location, uint32_t skip)
{
	const struct jp_location *l = &f->code->locations[location];
	if (l->object == f->slots)
		return true;
	for (uint32_t i = skip; i < l->frame_count; i++)
		if (!frame_is(f, l, i, PLUMBING))
			return false;
	return skip < l->frame_count;
}

bool jp_fold_takes_out(const struct jp_fold *f, uint32_t place)
{
	if (!f->machinery[place])
		f->machinery[place] = is_plumbing(f, place, 0) ? 1 : 2;
	return f->machinery[place] == 1;
}

static int fold_plumbing(struct jp_fold *f, struct jp_run *run)
{
	uint32_t kept = 0;
	bool innermost = false;
	if (jp_array_reserve(&f->scratch, &f->scratch_cap, run->depth, sizeof *f->scratch))
		return -1;
	for (uint32_t i = 0; i < run->depth; i++)
		if (!(i || !run->skip ? jp_fold_takes_out(f, run->places[i])
		                      : is_plumbing(f, run->places[i], run->skip))) {
			innermost = innermost || !i;
			f->scratch[kept++] = run->places[i];
		}
	if (kept && kept < run->depth)
		*run = (struct jp_run){ f->scratch, kept, innermost ? run->skip : 0 };
	return 0;
}

uint32_t jp_run_native(const struct jp_code *code, const struct jp_run *run)
{
	uint32_t native = run->depth;
	while (native && code->locations[run->places[native - 1]].source == JPROF_SOURCE_RUBY)
		native--;
	return native;
}

void jp_run_choose(struct jp_run *run, uint32_t native, bool ruby, const uint32_t *outside)
{
	if (!ruby)
		run->depth = native;
	else if (native < run->depth)
		*run = (struct jp_run){ .places = run->places + native, .depth = run->depth - native };
	else
		*run = (struct jp_run){ .places = outside, .depth = 1 };
}

int jp_fold_stack(struct jp_fold *f, struct jp_run *run)
{
	if (f->level == JPROF_FOLD_RAW)
		return 0;
	drop(run, count_allocator(f, run));
	if (f->level != JPROF_FOLD_NONE || f->also)
		fold_wrappers(f, run);
	return f->level == JPROF_FOLD_VM ? fold_plumbing(f, run) : 0;
}

int jp_fold_init(struct jp_fold *f, const struct jp_code *code, const struct jprof_view_opts *opts,
                 struct jprof_error *err)
{
	*f = (struct jp_fold){ .code = code, .level = opts->fold, .slots = JP_NONE };
	for (uint32_t i = 0; i < code->object_count; i++)
		if (jp_is_slot_object(jp_code_object(code, i)))
			f->slots = i;
	int rc = opts->fold_also && *opts->fold_also ? jp_pattern_new(opts->fold_also, "fold-also", &f->also, err) : 0;
	if (rc)
		return rc;
	f->known = calloc((size_t)code->function_count + 1, sizeof *f->known);
	f->machinery = calloc((size_t)code->location_count + 1, sizeof *f->machinery);
	return jp_wrappers_init(&f->wrappers) || !f->known || !f->machinery ? jp_error_nomem(err) : 0;
}

void jp_fold_release(struct jp_fold *f)
{
	jp_wrappers_release(&f->wrappers);
	jp_pattern_free(f->also);
	free(f->known);
	free(f->machinery);
	free(f->scratch);
}
