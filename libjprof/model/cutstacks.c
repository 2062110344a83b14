#include "model/cutstacks.h"

#include <stdlib.h>

#include "statistics/scaling.h"

enum {
	sure_limit = 122, /* jemalloc's 128 less what the agent needs */
	ruby_limit = 64,  /* of the agent's, in front of a Ruby stack */
	least_limit = 32, /* another one is believed from here on, */
	several = 8,      /* if so many stacks end there, and as many before */
};

/* A stack before anything is taken off it. */
struct native_part {
	uint32_t depth;
	uint32_t outermost; /* its location; only of one with a depth */
	bool has_ruby;
};

static struct native_part native_part_of(const uint32_t *places, uint32_t depth, const struct jp_ruby_load *ruby)
{
	struct native_part part = { 0 };
	if (!ruby->any)
		return (struct native_part){ depth, depth ? places[depth - 1] : 0, false };
	for (uint32_t i = 0; i < depth; i++) {
		if (places[i] & jp_ruby_mark) {
			part.has_ruby |= jp_ruby_is_stack(ruby, places[i]);
			continue;
		}
		part.outermost = places[i];
		part.depth++;
	}
	return part;
}

/* The depths at which stacks may be cut. */
struct cut_limits {
	uint32_t deepest;
	bool ruby;
};

/* Near jemalloc's limit no depth is the limit of all: stacks that were taken before the agent had its hook have the
 * frames that it needs later. */
static bool may_be_cut(const struct native_part *part, const struct cut_limits *limits)
{
	return part->depth && !part->has_ruby &&
	       (part->depth == limits->deepest || part->depth >= sure_limit ||
	        (limits->ruby && part->depth == ruby_limit));
}

/* Of stacks that do not go on in Ruby. */
static struct cut_limits limits_of(const struct jprof_dump *dump, const uint32_t *places,
                                   const struct jp_ruby_load *ruby)
{
	struct cut_limits limits = { 0 };
	for (size_t i = 0, first = 0; i < dump->info.stacks; first += dump->depths[i++]) {
		struct native_part part = native_part_of(places + first, dump->depths[i], ruby);
		limits.ruby |= part.has_ruby;
		if (!part.has_ruby && part.depth > limits.deepest)
			limits.deepest = part.depth;
	}
	return limits;
}

/* Marks what may be cut, if its outermost frame is no end of a stack that is whole. */
static void mark_cut(const struct jprof_dump *dump, const uint32_t *places, const struct jp_ruby_load *ruby, bool *ends,
                     bool *cut)
{
	struct cut_limits limits = limits_of(dump, places, ruby);
	size_t deepest = 0, whole = 0;
	for (size_t i = 0, first = 0; i < dump->info.stacks; first += dump->depths[i++]) {
		struct native_part part = native_part_of(places + first, dump->depths[i], ruby);
		if (!part.depth || part.has_ruby || may_be_cut(&part, &limits))
			continue;
		ends[part.outermost] = true;
		whole++;
	}
	for (size_t i = 0, first = 0; i < dump->info.stacks; first += dump->depths[i++]) {
		struct native_part part = native_part_of(places + first, dump->depths[i], ruby);
		cut[i] = may_be_cut(&part, &limits) && !ends[part.outermost];
		deepest += cut[i] && part.depth == limits.deepest;
	}
	if (limits.deepest >= sure_limit || (limits.deepest >= least_limit && deepest >= several && whole >= several))
		return;
	for (size_t i = 0, first = 0; i < dump->info.stacks; first += dump->depths[i++])
		cut[i] = cut[i] && native_part_of(places + first, dump->depths[i], ruby).depth != limits.deepest;
}

bool *jp_cut_stacks(const struct jprof_dump *dump, const uint32_t *places, const struct jp_ruby_load *ruby,
                    size_t location_count)
{
	bool *cut = calloc(dump->info.stacks + 1, sizeof *cut), *ends = calloc(location_count + 1, sizeof *ends);
	if (cut && ends) {
		mark_cut(dump, places, ruby, ends, cut);
	} else {
		free(cut);
		cut = NULL;
	}
	free(ends);
	return cut;
}

void jp_cut_count(struct jp_cut_sums *sums, const struct jp_samples *samples, const uint64_t count[JPROF_COUNTERS],
                  bool cut)
{
	double value[JPROF_COUNTERS];
	jp_scale_record(samples->scaling, samples->rate, count, value);
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		sums->all[c] += value[c];
		sums->cut[c] += cut ? value[c] : 0;
	}
}
