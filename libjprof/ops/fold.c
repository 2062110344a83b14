/* Folding: frames that tell how memory was got are taken off the inner end of each stack, so that
 * the innermost frame left tells what for. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/profile.h"
#include "ops/wrappers.h"

enum { entry_within = 24 }; /* jemalloc's own part of a stack is at most this deep */

/* What is known of a function's name; KNOWN_x says that bit x has been worked out. */
enum { ENTRY = 1, PREFIXED = 2, INTERNAL = 4, WRAPPER = 8, PLUMBING = 16, KNOWN_SHIFT = 5 };

struct fold {
	struct jprof_profile *profile;
	enum jprof_fold level;
	unsigned short *known; /* by function id */
	uint32_t *stack;       /* the stack under way, innermost first */
	size_t depth;
};

static bool test_name(unsigned what, const char *name)
{
	switch (what) {
	case ENTRY: return jp_is_allocator_name(name);
	case PREFIXED: return jp_is_prefixed_allocator_name(name);
	case INTERNAL: return jp_is_allocator_internal(name);
	case WRAPPER: return jp_is_wrapper_name(name);
	default: return jp_is_plumbing_name(name);
	}
}

static bool function_is(const struct fold *f, uint32_t function, unsigned what)
{
	unsigned short *known = &f->known[function];
	if (!(*known & what << KNOWN_SHIFT)) {
		bool is = test_name(what, jp_string(f->profile, f->profile->functions[function].brief));
		*known = (unsigned short)(*known | what << KNOWN_SHIFT | (is ? what : 0));
	}
	return *known & what;
}

static bool frame_is(const struct fold *f, const struct jp_location *l, uint32_t frame, unsigned what)
{
	return l->source > JPROF_SOURCE_FDE &&
	       function_is(f, f->profile->frames[l->frame_first + frame].function, what);
}

/* By the outermost function there, the one that was called. */
static bool location_is(const struct fold *f, uint32_t location, unsigned what)
{
	const struct jp_location *l = &f->profile->locations[location];
	return l->frame_count && frame_is(f, l, l->frame_count - 1, what);
}

static uint32_t object_at(const struct fold *f, size_t i)
{
	return f->profile->locations[f->stack[i]].object;
}

static const char *name_at(const struct fold *f, size_t i)
{
	const struct jp_location *l = &f->profile->locations[f->stack[i]];
	uint32_t function = f->profile->frames[l->frame_first + l->frame_count - 1].function;
	return jp_string(f->profile, f->profile->functions[function].brief);
}

/* An entry point with a prefix. Where the file's own is known, a user's by_malloc is none; where it is not,
 * one at the very inner end is none either: what jemalloc itself wrote begins with its inner functions. */
static bool is_prefixed_entry(const struct fold *f, size_t i)
{
	uint32_t known = f->profile->objects[f->profile->allocator_hint].entry_prefix;
	if (!location_is(f, f->stack[i], PREFIXED))
		return false;
	if (known == JP_NONE)
		return i > 0;
	const char *name = name_at(f, i), *prefix = jp_string(f->profile, known);
	return jp_allocator_prefix(name) == strlen(prefix) && !strncmp(name, prefix, strlen(prefix));
}

/* How many frames of the allocator's own stand at the inner end, when it is part of a larger
 * object: up to the first entry point. That may have ended in a jump and be absent. */
static size_t count_static_allocator(const struct fold *f)
{
	uint32_t allocator = f->profile->allocator_hint;
	size_t n = 0;
	for (; n < f->depth && n < entry_within && object_at(f, n) == allocator; n++)
		if (!location_is(f, f->stack[n], INTERNAL) &&
		    (location_is(f, f->stack[n], ENTRY) || is_prefixed_entry(f, n)))
			return n + 1;
	for (n = 0; n < f->depth && object_at(f, n) == allocator && location_is(f, f->stack[n], INTERNAL);)
		n++;
	return n;
}

static size_t count_allocator(const struct fold *f)
{
	uint32_t allocator = f->profile->allocator_hint;
	size_t n = 0;
	if (allocator == JP_NONE || !f->depth || object_at(f, 0) != allocator)
		n = 0;
	else if (f->profile->objects[allocator].allocator)
		while (n < f->depth && object_at(f, n) == allocator)
			n++;
	else
		n = count_static_allocator(f);
	while (n < f->depth && location_is(f, f->stack[n], ENTRY))
		n++;
	return n;
}

/* Takes n frames off the inner end, but never the last one: bytes without a frame would be lost. */
static void drop(struct fold *f, size_t n)
{
	if (n && n >= f->depth)
		n = f->depth - 1;
	f->stack += n;
	f->depth -= n;
}

static uint32_t count_wrapper_frames(const struct fold *f, const struct jp_location *l)
{
	uint32_t n = 0;
	if (l->wrapper)
		return l->frame_count;
	while (n < l->frame_count && (frame_is(f, l, n, WRAPPER) || frame_is(f, l, n, ENTRY)))
		n++;
	return n;
}

/* A location goes as a whole or, where wrappers are inlined into something else, in part. */
static int fold_wrappers(struct fold *f)
{
	while (f->depth > 1) {
		const struct jp_location *l = &f->profile->locations[f->stack[0]];
		uint32_t n = count_wrapper_frames(f, l), all = l->frame_count;
		if (n && n < all)
			f->stack[0] = jp_location_folded(f->profile, f->stack[0], n); /* l may have moved */
		if (n < all)
			return f->stack[0] == JP_NONE ? -1 : 0;
		drop(f, 1);
	}
	return 0;
}

static bool is_plumbing(const struct fold *f, uint32_t location)
{
	const struct jp_location *l = &f->profile->locations[location];
	for (uint32_t i = 0; i < l->frame_count; i++)
		if (!frame_is(f, l, i, PLUMBING))
			return false;
	return l->frame_count;
}

static void fold_plumbing(struct fold *f)
{
	size_t kept = 0;
	for (size_t i = 0; i < f->depth; i++)
		if (!is_plumbing(f, f->stack[i]))
			f->stack[kept++] = f->stack[i];
	if (kept)
		f->depth = kept;
}

static int fold_stack(void *context, uint32_t **stack, size_t *depth)
{
	struct fold *f = context;
	int rc = 0;
	f->stack = *stack;
	f->depth = *depth;
	drop(f, count_allocator(f));
	if (f->level >= JPROF_FOLD_ALLOC)
		rc = fold_wrappers(f);
	if (!rc && f->level >= JPROF_FOLD_VM)
		fold_plumbing(f);
	*stack = f->stack;
	*depth = f->depth;
	return rc;
}

int jprof_profile_fold(struct jprof_profile *profile, enum jprof_fold level, struct jprof_error *err)
{
	struct fold f = { .profile = profile, .level = level };
	f.known = calloc((size_t)jp_function_count(profile) + 1, sizeof *f.known);
	int rc = f.known ? jp_samples_rewrite(profile, fold_stack, &f) : -1;
	free(f.known);
	return rc ? jp_error_nomem(err) : 0;
}
