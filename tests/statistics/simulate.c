/* Do 95 % intervals hold the truth in 95 % of draws? Processes whose truth is known are sampled many
 * times over; what jprof says of their dumps is held against it. docs/internals/statistics.md lists the figures
 * that this prints.
 * usage: simulate [PART]    with PART only that part of the draws, and room for what chance does in them */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sampler.h"

/* What is claimed of an interval. EXACT: the truth in 93 to 98 % of draws. SMALL: counts are so small that
 * an interval which jumps from one whole number to the next must hold it more often. BOUND: wide. NONE: most
 * depends on objects that may well not be sampled at all, or on a change that may look like none. */
enum claim { EXACT, SMALL, BOUND, NONE };

static const struct {
	const char *word;
	double low, high;
} claims[] = {
	{ "exact", 0.93, 0.98 },
	{ "small", 0.93, 1 },
	{ "bound", 0.95, 1 }, /* but for what chance does in so many draws */
	{ "none", 0, 1 },
};

/* One experiment: `draw` samples a process once, and gives its profile and the truth for objects and
 * bytes (of the in-use counters, or with `allocated` of the others). */
struct experiment {
	const char *name;
	uint64_t rate, size;
	double n; /* samples expected in the early dump, and that many times `growth` in the late one; objects
	             allocated where they are of mixed sizes */
	double growth;
	bool unbias, accum, allocated;
	enum claim bytes, objects;
	int draws;
	struct jprof_profile *(*draw)(const struct experiment *, struct rng *, double truth[2]);
};

static void die(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

static uint64_t objects_for(const struct experiment *e, double n)
{
	double count = round(n / -expm1(-(double)e->size / (double)e->rate));
	return count < 1 && n > 0 ? 1 : (uint64_t)count;
}

static struct process process_of(const struct experiment *e)
{
	return (struct process){ .rate = e->rate, .unbias = e->unbias, .accum = e->accum, .base = 0x7f0000000000 };
}

static void settle(double truth[2], double objects, double size)
{
	truth[JPROF_INUSE_OBJECTS] += objects;
	truth[JPROF_INUSE_SPACE] += objects * size;
}

/* Allocates and returns how many of them were sampled. */
static uint64_t grow(struct process *p, struct rng *rng, size_t at, uint64_t size, uint64_t count)
{
	uint64_t n = sample_objects(rng, p->rate, size, count);
	process_malloc(p, at, size, n);
	return n;
}

/* late - early, or late + early. */
static struct jprof_profile *merged(const struct process *late, const struct process *early, int sign)
{
	struct jprof_profile *profile = process_profile(late), *other = process_profile(early);
	if (!profile || !other || (sign < 0 ? jprof_profile_difference : jprof_profile_add)(profile, other, NULL))
		die("a dump was refused");
	jprof_profile_free(other);
	return profile;
}

/* ---- one dump ----------------------------------------------------------------------------------- */

static struct jprof_profile *draw_snapshot(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process p = process_of(e);
	uint64_t count = objects_for(e, e->n);
	grow(&p, rng, 0, e->size, count);
	settle(truth, (double)count, (double)e->size);
	return process_profile(&p);
}

static const uint64_t sizes[] = { 16, 96, 1024, 20480, 131072, 524288, 2097152, 8388608 };
enum { size_count = sizeof sizes / sizeof *sizes };

/* Sizes from far below the rate to far above, each at a stack of its own. */
static struct jprof_profile *draw_sizes(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process p = process_of(e);
	for (int i = 0; i < size_count; i++) {
		struct experiment one = *e;
		one.size = sizes[i];
		uint64_t count = objects_for(&one, e->n / size_count);
		grow(&p, rng, (size_t)i, sizes[i], count);
		settle(truth, (double)count, (double)sizes[i]);
	}
	return process_profile(&p);
}

/* Objects of sizes drawn at random, at stacks drawn at random, one after the other. */
static void allocate_mixed(struct process *p, const struct experiment *e, struct rng *rng, double truth[2])
{
	static const uint64_t mixed[] = { 4096, 32768, 262144, 2097152 };
	double left = -log(rng_uniform(rng)) * (double)p->rate;
	for (double n = 0; n < e->n; n++) {
		uint64_t size = mixed[(int)(rng_uniform(rng) * 4)];
		settle(truth, 1, (double)size);
		left -= (double)size;
		if (left > 0)
			continue;
		process_malloc(p, (size_t)(rng_uniform(rng) * 4), size, 1);
		left = -log(rng_uniform(rng)) * (double)p->rate;
	}
}

static struct jprof_profile *draw_mixture(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process p = process_of(e);
	allocate_mixed(&p, e, rng, truth);
	return process_profile(&p);
}

/* Few objects of sizes drawn at random at one stack, seen at least once: a row that is shown. A growth below 0: what
 * has come since an early dump that had as much. */
static struct jprof_profile *draw_few_mixed(const struct experiment *e, struct rng *rng, double truth[2])
{
	static const uint64_t mixed[] = { 4096, 32768, 262144, 2097152 };
	struct process p, early = process_of(e);
	uint64_t seen = 0;
	for (int i = 0; i < 2 * (int)e->n && e->growth < 0; i++)
		grow(&early, rng, 0, mixed[(int)(rng_uniform(rng) * 4)], 1);
	do {
		p = early;
		truth[0] = truth[1] = 0;
		for (double n = 0; n < e->n; n++) {
			uint64_t size = mixed[(int)(rng_uniform(rng) * 4)];
			settle(truth, 1, (double)size);
			seen += grow(&p, rng, 0, size, 1);
		}
	} while (!seen);
	return e->growth < 0 ? merged(&p, &early, -1) : process_profile(&p);
}

static struct jprof_profile *draw_mixed_growth(const struct experiment *e, struct rng *rng, double truth[2])
{
	double before[2] = { 0 };
	struct process early = process_of(e);
	allocate_mixed(&early, e, rng, before);
	struct process late = early;
	allocate_mixed(&late, e, rng, truth);
	return merged(&late, &early, -1);
}

/* A hundred stacks that share the samples. */
static struct jprof_profile *draw_many(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process p = process_of(e);
	for (size_t i = 0; i < 100; i++) {
		uint64_t count = objects_for(e, e->n / 100);
		grow(&p, rng, i, e->size, count);
		settle(truth, (double)count, (double)e->size);
	}
	return process_profile(&p);
}

/* ---- differences of two dumps of one process ---------------------------------------------------------- */

/* What the early dump shows is there in the late one too; more has come. */
static struct jprof_profile *draw_survivors(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process early = process_of(e);
	uint64_t count = objects_for(e, e->n), more = objects_for(e, e->n * (e->growth - 1));
	grow(&early, rng, 0, e->size, count);
	struct process late = early;
	grow(&late, rng, 0, e->size, more);
	settle(truth, (double)more, (double)e->size);
	return merged(&late, &early, -1);
}

/* All of it is freed and allocated anew, and more. */
static void redraw(struct process *late, const struct experiment *e, struct rng *rng, size_t at, uint64_t old,
                   uint64_t count)
{
	process_free(late, at, e->size, old);
	grow(late, rng, at, e->size, count);
}

static struct jprof_profile *draw_redrawn(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process early = process_of(e);
	uint64_t before = objects_for(e, e->n), after = objects_for(e, e->n * e->growth);
	uint64_t n = grow(&early, rng, 0, e->size, before);
	struct process late = early;
	redraw(&late, e, rng, 0, n, after);
	settle(truth, (double)after - (double)before, (double)e->size);
	if (e->allocated)
		settle(truth, (double)before, (double)e->size);
	return merged(&late, &early, -1);
}

/* Half of the early objects are freed; the rest stays. Twice as many as stay come and go in between. */
static struct jprof_profile *draw_churn(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process early = process_of(e);
	uint64_t half = objects_for(e, e->n / 2), more = objects_for(e, e->n * (e->growth - 0.5));
	uint64_t gone = grow(&early, rng, 0, e->size, half);
	grow(&early, rng, 0, e->size, half);
	struct process late = early;
	process_free(&late, 0, e->size, gone);
	process_free(&late, 0, e->size, grow(&late, rng, 0, e->size, 2 * half));
	grow(&late, rng, 0, e->size, more);
	settle(truth, (double)more - (double)half, (double)e->size);
	return merged(&late, &early, -1);
}

/* As redrawn, over 200 stacks. */
static struct jprof_profile *draw_many_redrawn(const struct experiment *e, struct rng *rng, double truth[2])
{
	enum { stacks = 200 };
	struct process early = process_of(e);
	uint64_t n[stacks], before = objects_for(e, e->n / stacks), after = objects_for(e, e->n * e->growth / stacks);
	for (size_t i = 0; i < stacks; i++)
		n[i] = grow(&early, rng, i, e->size, before);
	struct process late = early;
	for (size_t i = 0; i < stacks; i++)
		redraw(&late, e, rng, i, n[i], after);
	settle(truth, stacks * ((double)after - (double)before), (double)e->size);
	return merged(&late, &early, -1);
}

/* A hundred stacks stay as they are, one grows from nothing. */
static struct jprof_profile *draw_leak(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process early = process_of(e);
	for (size_t i = 1; i <= 100; i++)
		grow(&early, rng, i, e->size, objects_for(e, 5));
	struct process late = early;
	uint64_t more = objects_for(e, e->n);
	grow(&late, rng, 0, e->size, more);
	settle(truth, (double)more, (double)e->size);
	return merged(&late, &early, -1);
}

/* All of it is freed; nothing comes. */
static struct jprof_profile *draw_vanished(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process early = process_of(e);
	uint64_t count = objects_for(e, e->n);
	uint64_t n = grow(&early, rng, 0, e->size, count);
	struct process late = early;
	process_free(&late, 0, e->size, n);
	settle(truth, -(double)count, (double)e->size);
	return merged(&late, &early, -1);
}

/* ---- two processes ------------------------------------------------------------------------------------- */

/* Two runs, mapped at different addresses; the sign of the second is in `growth`. */
static struct jprof_profile *draw_runs(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process a = process_of(e), b = process_of(e);
	b.base = 0x7f1234560000;
	uint64_t one = objects_for(e, e->n), two = objects_for(e, e->n * fabs(e->growth));
	grow(&a, rng, 0, e->size, one);
	grow(&b, rng, 0, e->size, two);
	double sign = e->growth < 0 ? -1 : 1;
	settle(truth, (double)one + sign * (double)two, (double)e->size);
	return merged(&a, &b, sign);
}

/* A worker and the one that took its place, by the side-cars: both at the addresses of their master, and what each was
 * ever given is its own. */
static struct jprof_profile *draw_replaced(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process early = process_of(e), late = process_of(e);
	uint64_t before = objects_for(e, e->n), after = objects_for(e, e->n * e->growth);
	early.pid = 17;
	late.pid = 45;
	grow(&early, rng, 0, e->size, before);
	grow(&late, rng, 0, e->size, after);
	settle(truth, (double)after - (double)before, (double)e->size);
	return merged(&late, &early, -1);
}

/* Two workers that inherit `n` samples of their master and add as many of their own. */
static struct jprof_profile *draw_workers(const struct experiment *e, struct rng *rng, double truth[2])
{
	struct process a = process_of(e);
	uint64_t count = objects_for(e, e->n);
	grow(&a, rng, 0, e->size, count);
	struct process b = a;
	grow(&a, rng, 0, e->size, count);
	grow(&b, rng, 0, e->size, count);
	settle(truth, 4 * (double)count, (double)e->size);
	return merged(&a, &b, 1);
}

/* ---- the experiments --------------------------------------------------------------------------------------- */

static bool holds(const struct jprof_profile *profile, enum jprof_counter counter, double truth)
{
	struct jprof_range r;
	jprof_profile_range(profile, counter, &r);
	double slack = 1e-9 * fabs(truth);
	return r.low <= truth + slack && truth - slack <= r.high;
}

/* How many standard deviations of chance are allowed for. */
static double allowance(enum claim claim, bool part)
{
	return part ? 3 : claim == BOUND ? 2 : 0;
}

static const char *judge(double share, enum claim claim, int draws, bool part)
{
	double room = allowance(claim, part) * sqrt(0.95 * 0.05 / draws);
	return share < claims[claim].low - room || share > claims[claim].high + room ? " WRONG" : "";
}

static bool run(const struct experiment *e, uint64_t seed, int part)
{
	int draws = e->draws / part;
	struct rng rng = { seed * 0x9e3779b97f4a7c15 + 1 };
	int hits[2] = { 0 };
	for (int i = 0; i < draws; i++) {
		double truth[2] = { 0 };
		struct jprof_profile *profile = e->draw(e, &rng, truth);
		if (!profile)
			die("a dump was refused");
		for (int c = 0; c < 2; c++)
			hits[c] += holds(profile, (enum jprof_counter)(c + (e->allocated ? 2 : 0)), truth[c]);
		jprof_profile_free(profile);
	}
	double objects = (double)hits[JPROF_INUSE_OBJECTS] / draws, bytes = (double)hits[JPROF_INUSE_SPACE] / draws;
	const char *wrong_bytes = judge(bytes, e->bytes, draws, part > 1),
		   *wrong_objects = judge(objects, e->objects, draws, part > 1);
	printf("%-14s %-5s rate 2^%-2.0f size %-8llu n %-7g x %-5g bytes %.3f %s%s  objects %.3f %s%s\n", e->name,
	       e->accum    ? "accum"
	       : e->unbias ? "5.3"
	                   : "4.x",
	       log2((double)e->rate), (unsigned long long)e->size, e->n, e->growth, bytes, claims[e->bytes].word,
	       wrong_bytes, objects, claims[e->objects].word, wrong_objects);
	return !*wrong_bytes && !*wrong_objects;
}

/* One size at one stack, from no samples to ten thousand, from sizes that are hardly ever sampled to
 * such as always are. */
static bool run_snapshots(uint64_t *seed, int part)
{
	static const double counts[] = { 0.1, 1, 3, 10, 30, 100, 1000 };
	static const struct {
		uint64_t rate, size;
	} kinds[] = {
		{ 1 << 19, 16 },      { 1 << 19, 4096 }, { 1 << 19, 131072 }, { 1 << 19, 458752 },
		{ 1 << 19, 1 << 21 }, { 1 << 12, 1024 }, { 1 << 12, 20480 },  { 1 << 17, 98304 },
	};
	bool good = true;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
		for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
			struct experiment e = { "snapshot",
				                kinds[k].rate,
				                kinds[k].size,
				                counts[i],
				                1,
				                (k + i) % 2,
				                false,
				                false,
				                SMALL,
				                SMALL,
				                counts[i] < 1000 ? 2000 : 1000,
				                draw_snapshot };
			if (counts[i] * exp(-(double)e.size / (double)e.rate) >= 10)
				e.bytes = e.objects = EXACT;
			good &= run(&e, ++*seed, part);
		}
	return good;
}

static const struct experiment experiments[] = {
	{ "snapshot", 1 << 19, 64, 10000, 1, true, false, false, EXACT, EXACT, 1000, draw_snapshot },
	{ "snapshot", 1 << 17, 81920, 10000, 1, true, false, false, EXACT, EXACT, 1000, draw_snapshot },
	{ "sizes", 1 << 19, 0, 16, 1, true, false, false, EXACT, NONE, 2000, draw_sizes },
	{ "sizes", 1 << 19, 0, 80, 1, true, false, false, EXACT, EXACT, 2000, draw_sizes },
	{ "sizes", 1 << 19, 0, 800, 1, false, false, false, EXACT, EXACT, 2000, draw_sizes },
	{ "sizes", 1 << 14, 0, 800, 1, true, false, false, EXACT, EXACT, 2000, draw_sizes },
	{ "few mixed", 1 << 19, 0, 1, 1, true, false, false, BOUND, BOUND, 2000, draw_few_mixed },
	{ "few mixed", 1 << 19, 0, 2, 1, true, false, false, BOUND, BOUND, 2000, draw_few_mixed },
	{ "few mixed", 1 << 19, 0, 4, 1, false, false, false, BOUND, BOUND, 2000, draw_few_mixed },
	{ "few mixed", 1 << 21, 0, 3, 1, true, false, false, BOUND, BOUND, 2000, draw_few_mixed },
	{ "few mixed", 1 << 21, 0, 8, 1, true, false, false, BOUND, BOUND, 2000, draw_few_mixed },
	{ "few mixed", 1 << 14, 0, 2, 1, true, false, false, BOUND, BOUND, 2000, draw_few_mixed },
	{ "few mixed", 1 << 19, 0, 2, -1, true, true, false, BOUND, BOUND, 2000, draw_few_mixed },
	{ "mixture", 1 << 19, 0, 10, 1, true, false, false, BOUND, NONE, 2000, draw_mixture },
	{ "mixture", 1 << 19, 0, 100, 1, true, false, false, BOUND, BOUND, 2000, draw_mixture },
	{ "mixture", 1 << 19, 0, 3000, 1, true, false, false, BOUND, BOUND, 1000, draw_mixture },
	{ "mixture", 1 << 14, 0, 300, 1, true, false, false, BOUND, BOUND, 2000, draw_mixture },
	{ "mixture", 1 << 12, 0, 30, 1, true, false, false, BOUND, BOUND, 2000, draw_mixture },
	{ "mixed growth", 1 << 14, 0, 300, 2, true, true, false, BOUND, BOUND, 2000, draw_mixed_growth },
	{ "mixed growth", 1 << 19, 0, 300, 2, true, false, false, BOUND, BOUND, 2000, draw_mixed_growth },
	{ "many", 1 << 19, 256, 30, 1, true, false, false, EXACT, EXACT, 1000, draw_many },
	{ "many", 1 << 19, 256, 1000, 1, true, false, false, EXACT, EXACT, 1000, draw_many },
	{ "survivors", 1 << 19, 256, 10, 2, true, true, false, SMALL, SMALL, 2000, draw_survivors },
	{ "survivors", 1 << 19, 256, 100, 1.3, true, true, false, EXACT, EXACT, 2000, draw_survivors },
	{ "survivors", 1 << 19, 256, 1000, 1.1, true, true, false, EXACT, EXACT, 1000, draw_survivors },
	{ "survivors", 1 << 12, 1024, 4000, 2, true, true, false, EXACT, EXACT, 1000, draw_survivors },
	{ "survivors", 1 << 19, 256, 10, 2, true, false, false, BOUND, BOUND, 2000, draw_survivors },
	{ "survivors", 1 << 19, 256, 1000, 1.1, true, false, false, BOUND, BOUND, 1000, draw_survivors },
	{ "survivors", 1 << 12, 1024, 4000, 2, true, false, false, BOUND, BOUND, 1000, draw_survivors },
	{ "redrawn", 1 << 19, 256, 1, 3, true, true, false, SMALL, SMALL, 2000, draw_redrawn },
	{ "redrawn", 1 << 19, 256, 10, 1.5, true, true, false, SMALL, SMALL, 2000, draw_redrawn },
	{ "redrawn", 1 << 19, 256, 100, 1, true, true, false, EXACT, EXACT, 2000, draw_redrawn },
	{ "redrawn", 1 << 12, 1024, 1000, 1.2, true, true, false, EXACT, EXACT, 1000, draw_redrawn },
	{ "redrawn", 1 << 12, 1024, 1000, 1.2, true, false, false, BOUND, BOUND, 1000, draw_redrawn },
	{ "redrawn", 1 << 19, 256, 1, 10, true, false, false, BOUND, BOUND, 2000, draw_redrawn },
	{ "redrawn", 1 << 19, 256, 10, 1.5, true, false, false, NONE, NONE, 2000, draw_redrawn },
	{ "redrawn", 1 << 19, 256, 10, 2, true, false, false, BOUND, BOUND, 2000, draw_redrawn },
	{ "redrawn", 1 << 19, 256, 100, 1.5, true, false, false, BOUND, BOUND, 2000, draw_redrawn },
	{ "redrawn", 1 << 19, 256, 100, 1, true, false, false, BOUND, BOUND, 2000, draw_redrawn },
	{ "allocated", 1 << 19, 256, 30, 2, true, true, true, EXACT, EXACT, 2000, draw_redrawn },
	{ "allocated", 1 << 17, 65536, 300, 2, true, true, true, EXACT, EXACT, 2000, draw_redrawn },
	{ "churn", 1 << 19, 256, 40, 1.5, true, true, false, BOUND, BOUND, 2000, draw_churn },
	{ "churn", 1 << 19, 256, 1000, 1, true, true, false, BOUND, BOUND, 1000, draw_churn },
	{ "churn", 1 << 19, 256, 1000, 1, true, false, false, BOUND, BOUND, 1000, draw_churn },
	{ "many redrawn", 1 << 19, 256, 20, 1.5, true, false, false, BOUND, BOUND, 400, draw_many_redrawn },
	{ "many redrawn", 1 << 19, 256, 200, 1, true, false, false, BOUND, BOUND, 400, draw_many_redrawn },
	{ "many redrawn", 1 << 19, 256, 200, 1.2, true, false, false, BOUND, BOUND, 400, draw_many_redrawn },
	{ "many redrawn", 1 << 19, 256, 2000, 1, true, false, false, BOUND, BOUND, 400, draw_many_redrawn },
	{ "many redrawn", 1 << 19, 256, 200, 1.2, true, true, false, EXACT, EXACT, 400, draw_many_redrawn },
	{ "leak", 1 << 17, 1024, 10, 1, true, false, false, SMALL, SMALL, 400, draw_leak },
	{ "leak", 1 << 17, 1024, 200, 1, true, false, false, EXACT, EXACT, 400, draw_leak },
	{ "vanished", 1 << 19, 256, 1, 0, true, false, false, SMALL, SMALL, 2000, draw_vanished },
	{ "vanished", 1 << 19, 256, 30, 0, true, false, false, EXACT, EXACT, 2000, draw_vanished },
	{ "two runs +", 1 << 19, 256, 30, 1, true, false, false, EXACT, EXACT, 2000, draw_runs },
	{ "two runs -", 1 << 19, 256, 30, -1, true, false, false, EXACT, EXACT, 2000, draw_runs },
	{ "two runs -", 1 << 12, 4096, 300, -2, true, false, false, EXACT, EXACT, 2000, draw_runs },
	{ "replaced", 1 << 19, 256, 100, 1, true, true, false, EXACT, EXACT, 2000, draw_replaced },
	{ "replaced", 1 << 12, 1024, 1000, 0.8, true, true, false, EXACT, EXACT, 1000, draw_replaced },
	{ "replaced", 1 << 19, 256, 100, 1, true, false, false, EXACT, EXACT, 2000, draw_replaced },
	{ "workers", 1 << 19, 256, 10, 1, true, false, false, BOUND, BOUND, 2000, draw_workers },
	{ "workers", 1 << 19, 256, 1000, 1, true, false, false, BOUND, BOUND, 1000, draw_workers },
};

int main(int argc, char **argv)
{
	uint64_t seed = 0;
	int part = argc > 1 ? atoi(argv[1]) : 1;
	if (part < 1)
		die("usage: simulate [PART]");
	bool good = run_snapshots(&seed, part);
	for (size_t i = 0; i < sizeof experiments / sizeof *experiments; i++)
		good &= run(&experiments[i], ++seed, part);
	return good ? 0 : 1;
}
