/* Differences of dumps whose stacks carry their epochs, and what splitting stacks by epoch does to jemalloc's rounding.
 * Processes whose truth is known are sampled many times over, with fixed seeds; what jprof says of their dumps is held
 * against it. docs/internals/statistics.md lists the figures that this prints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sampler.h"

enum { old_epochs = 6, new_epochs = 3, draws = 1000 };

/* A row of so many live samples; a part of them, in all epochs, is replaced between two dumps, and a leak adds more. */
struct growth {
	uint64_t rate, size;
	double n, replaced, leak; /* samples; share of them; samples */
	double least, most; /* share of draws whose interval holds the truth: 0.95, but for chance and whole numbers */
};

static void give_up(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

static uint64_t objects_of(const struct growth *g, double samples)
{
	return (uint64_t)round(samples / -expm1(-(double)g->size / (double)g->rate));
}

static uint64_t allocate(struct process *p, struct rng *rng, size_t at, uint64_t size, uint64_t count)
{
	uint64_t n = sample_objects(rng, p->rate, size, count);
	process_malloc(p, at, size, n);
	return n;
}

static struct jprof_profile *profile_or_die(const struct process *p)
{
	struct jprof_profile *profile = process_profile(p);
	if (!profile)
		give_up("a dump was refused");
	return profile;
}

static struct jprof_profile *difference(const struct process *late, const struct process *early)
{
	struct jprof_profile *profile = profile_or_die(late), *base = profile_or_die(early);
	if (jprof_profile_difference(profile, base, NULL))
		give_up("a difference was refused");
	jprof_profile_free(base);
	return profile;
}

/* Two dumps of one process: the sampled objects are the same with and without epochs. */
struct pair {
	struct process early, late;
};

/* All is allocated at one site; `epochs` tells whether the dumps have them. */
static double draw_growth(const struct growth *g, struct rng *rng, struct pair *with, struct pair *without)
{
	uint64_t stays = objects_of(g, g->n * (1 - g->replaced) / old_epochs),
		 goes = objects_of(g, g->n * g->replaced / old_epochs);
	uint64_t comes = objects_of(g, (g->n * g->replaced + g->leak) / new_epochs), gone[old_epochs], all_gone = 0;
	struct process p = { .rate = g->rate, .unbias = true, .base = 0x7f0000000000, .pid = 1 }, q = p;
	p.sites = 1;
	p.over = old_epochs;
	for (size_t e = 0; e < old_epochs; e++) {
		gone[e] = allocate(&p, rng, e, g->size, goes);
		process_malloc(&q, 0, g->size, gone[e] + allocate(&p, rng, e, g->size, stays));
	}
	with->early = p;
	without->early = q;
	for (size_t e = 0; e < old_epochs; e++, all_gone += gone[e - 1])
		process_free(&p, e, g->size, gone[e]);
	process_free(&q, 0, g->size, all_gone);
	p.over += new_epochs;
	for (size_t e = old_epochs; e < old_epochs + new_epochs; e++)
		process_malloc(&q, 0, g->size, allocate(&p, rng, e, g->size, comes));
	with->late = p;
	without->late = q;
	return (double)comes * new_epochs - (double)goes * old_epochs;
}

/* Whether the intervals hold the true change, and whether it is seen to have grown. */
static void look(const struct pair *pair, double truth, uint64_t size, int holds[2], int *found)
{
	struct jprof_profile *profile = difference(&pair->late, &pair->early);
	for (int c = JPROF_INUSE_SPACE; c <= JPROF_INUSE_OBJECTS; c++) {
		struct jprof_range r;
		double value = c == JPROF_INUSE_SPACE ? truth * (double)size : truth;
		jprof_profile_range(profile, (enum jprof_counter)c, &r);
		holds[c] += r.low <= value && value <= r.high;
		*found += c == JPROF_INUSE_SPACE && r.low > 0;
	}
	jprof_profile_free(profile);
}

static bool run_growth(const struct growth *g, uint64_t seed, double found_least)
{
	struct rng rng = { seed * 0x9e3779b97f4a7c15 + 1 };
	int holds[2] = { 0 }, old_holds[2] = { 0 }, found = 0, old_found = 0;
	for (int i = 0; i < draws; i++) {
		static struct pair with, without;
		double truth = draw_growth(g, &rng, &with, &without);
		look(&with, truth, g->size, holds, &found);
		look(&without, truth, g->size, old_holds, &old_found);
	}
	double bytes = (double)holds[0] / draws, objects = (double)holds[1] / draws, share = (double)found / draws;
	bool good =
	    bytes >= g->least && bytes <= g->most && objects >= g->least && objects <= g->most && share >= found_least;
	printf("rate 2^%-2.0f size %-7llu n %-5g replaced %-4g leak %-3g bytes %.3f objects %.3f seen to grow %.3f  "
	       "without epochs %.3f %.3f %.3f%s\n",
	       log2((double)g->rate), (unsigned long long)g->size, g->n, g->replaced, g->leak, bytes, objects, share,
	       (double)old_holds[0] / draws, (double)old_holds[1] / draws, (double)old_found / draws,
	       good ? "" : " WRONG");
	return good;
}

/* ---- splitting ----------------------------------------------------------------------------------------------- */

/* Objects of several sizes at one site, split evenly among epochs. */
struct blend {
	const char *name;
	uint64_t rate;
	struct {
		uint64_t size, count;
	} kinds[4];
};

static double blend_bytes(const struct blend *b)
{
	double sum = 0;
	for (size_t k = 0; k < 4; k++)
		sum += (double)b->kinds[k].size * (double)b->kinds[k].count;
	return sum;
}

static void draw_blend(const struct blend *b, struct rng *rng, size_t parts, struct process *whole,
                       struct process *split)
{
	*whole = (struct process){ .rate = b->rate, .unbias = true, .base = 0x7f0000000000, .pid = 1 };
	*split = *whole;
	split->sites = 1;
	split->over = (unsigned)parts;
	for (size_t k = 0; k < 4 && b->kinds[k].size; k++) {
		uint64_t n = allocate(whole, rng, 0, b->kinds[k].size, b->kinds[k].count);
		for (; n; n--)
			process_malloc(split, (size_t)(rng_uniform(rng) * (double)parts), b->kinds[k].size, 1);
	}
}

/* The range of a dump's bytes in use, and its total. */
static double bytes_of(const struct process *p, struct jprof_range *range)
{
	struct jprof_profile *profile = profile_or_die(p);
	double total = jprof_profile_total(profile, JPROF_INUSE_SPACE);
	jprof_profile_range(profile, JPROF_INUSE_SPACE, range);
	jprof_profile_free(profile);
	return total;
}

static bool run_blend(const struct blend *b, size_t parts, uint64_t seed)
{
	enum { blend_draws = 300 };
	struct rng rng = { seed * 0x9e3779b97f4a7c15 + 1 };
	int agree = 0, holds = 0;
	double shift = 0, truth = blend_bytes(b);
	for (int i = 0; i < blend_draws; i++) {
		static struct process whole, split;
		struct jprof_range one, other;
		draw_blend(b, &rng, parts, &whole, &split);
		double w = bytes_of(&whole, &one), s = bytes_of(&split, &other);
		shift += (s - w) / truth / blend_draws;
		agree += other.low <= w && w <= other.high && one.low <= s && s <= one.high;
		holds += other.low <= truth && truth <= other.high;
	}
	bool good = agree == blend_draws && holds >= 0.93 * blend_draws;
	printf("%-16s %3zu parts: bytes %+.2f %%, within the errors in %.3f, truth held in %.3f%s\n", b->name, parts,
	       100 * shift, (double)agree / blend_draws, (double)holds / blend_draws, good ? "" : " WRONG");
	return good;
}

int main(void)
{
	static const struct growth growths[] = {
		{ 1 << 19, 256, 300, 0.05, 20, 0.93, 0.985 }, { 1 << 19, 256, 300, 0.2, 30, 0.93, 0.98 },
		{ 1 << 19, 256, 1000, 0.5, 80, 0.93, 0.98 },  { 1 << 19, 256, 1000, 0, 10, 0.93, 1 },
		{ 1 << 19, 256, 30, 1, 0, 0.93, 0.98 },       { 1 << 17, 65536, 600, 0.1, 30, 0.93, 0.985 },
		{ 1 << 12, 4096, 600, 0.3, 0, 0.93, 0.98 },   { 1 << 19, 1 << 20, 300, 0.1, 20, 0.93, 1 },
		{ 1 << 19, 256, 10, 0.5, 5, 0.93, 1 },
	};
	static const struct growth planted = { 1 << 19, 256, 1000, 0.05, 40, 0.93, 0.98 };
	static const struct blend blends[] = {
		{ "as in Ruby", 1 << 19, { { 16, 4000000 }, { 64, 2000000 }, { 640, 50000 }, { 4096, 50000 } } },
		{ "64 B, 64 KB", 1 << 19, { { 64, 1600000 }, { 65536, 1600 } } },
		{ "64 B, 512 KB", 1 << 19, { { 64, 1600000 }, { 524288, 200 } } },
		{ "40 KB to 2 MB", 1 << 19, { { 40960, 2500 }, { 131072, 800 }, { 524288, 200 }, { 2097152, 50 } } },
	};
	static const size_t parts[] = { 3, 30, 100, 300 };
	uint64_t seed = 0;
	bool good = run_growth(&planted, ++seed, 0.9);
	for (size_t i = 0; i < sizeof growths / sizeof *growths; i++)
		good &= run_growth(&growths[i], ++seed, 0);
	for (size_t i = 0; i < sizeof blends / sizeof *blends; i++)
		for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
			good &= run_blend(&blends[i], parts[k], ++seed);
	return good ? 0 : 1;
}
