/* The shape of a row, from the ages of its samples in one dump, against workloads whose truth is known. Each allocates
 * objects of 1 KB with lg_prof_sample:15, so one in 32.5 is sampled, in some number of epochs; the load changes by
 * up to 20 % either way from epoch to epoch. Seeds are fixed. With the argument "print" it prints the table of
 * docs/internals/statistics.md. */
#include "testing.h"

#include "sampler.h"
#include "statistics/shape.h"

enum { runs = 20, most_epochs = 144, kinds = 9, mixtures = 6, rows = 100 };

static const double sampled = 1 / 32.5;

/* A process since its startup. */
struct world {
	struct rng rng;
	double noise;
	size_t epochs;
	double startup, n[most_epochs], length[most_epochs], load[most_epochs];
};

static double between(struct world *w, double least, double most)
{
	return least + (most - least) * rng_uniform(&w->rng);
}

static void begin_world(struct world *w, uint64_t seed, size_t epochs, double noise)
{
	*w = (struct world){ .rng = { seed }, .epochs = epochs, .noise = noise };
	for (size_t i = 0; i < epochs; i++) {
		w->length[i] = i + 1 < epochs ? 600 : between(w, 60, 600);
		w->load[i] = between(w, 1 - noise, 1 + noise);
	}
}

/* Live objects of which each is sampled by itself. */
static double sample_of(struct world *w, double objects)
{
	return (double)sample_objects(&w->rng, 32768, 1024, (uint64_t)round(objects));
}

/* `objects` that came over a part of the time, as the load was, and are alive. */
static void spread(struct world *w, double objects, double from, double to)
{
	double all = 0, begin = 0, time = 0, part[most_epochs];
	for (size_t i = 0; i < w->epochs; i++)
		time += w->length[i];
	for (size_t i = 0; i < w->epochs; begin += w->length[i++]) {
		double low = fmax(begin, from * time), high = fmin(begin + w->length[i], to * time);
		part[i] = high > low ? (high - low) * w->load[i] : 0;
		all += part[i];
	}
	for (size_t i = 0; i < w->epochs; i++)
		w->n[i] += part[i] > 0 ? sample_of(w, objects * part[i] / all) : 0;
}

/* Objects of which each lives for an exponential time. */
static void replace_at_random(struct world *w, double objects, double life)
{
	double end = 0, time = 0;
	for (size_t i = 0; i < w->epochs; i++)
		time += w->length[i];
	for (size_t i = w->epochs; i-- > 0; end += w->length[i] / time)
		w->n[i] +=
		    sample_of(w, objects * w->load[i] * (exp(-end / life) - exp(-(end + w->length[i] / time) / life)));
}

static void from_startup(struct world *w, double objects)
{
	w->startup += sample_of(w, objects);
}

static void growing(struct world *w, double objects)
{
	spread(w, objects, between(w, 0, 0.4), 1);
}

static void levelled_off(struct world *w, double objects)
{
	double end = between(w, 0.3, 0.7);
	w->startup += sample_of(w, objects / 10);
	spread(w, objects, 0, end);
}

static void first_in_first_out(struct world *w, double objects)
{
	spread(w, objects, 1 - between(w, 0.02, 0.25), 1);
}

static void random_replacement(struct world *w, double objects)
{
	replace_at_random(w, objects, between(w, 0.02, 0.12));
}

static void one_jump(struct world *w, double objects)
{
	double at = between(w, 0.2, 0.8);
	spread(w, objects, at, at + 0.005);
}

static void leak_under_churn(struct world *w, double objects)
{
	spread(w, objects, 0, 1);
	spread(w, 3 * objects, 0.995, 1);
}

static void leak_over_startup(struct world *w, double objects)
{
	w->startup += sample_of(w, 3 * objects);
	spread(w, objects, 0, 1);
}

static void startup_under_churn(struct world *w, double objects)
{
	w->startup += sample_of(w, 3 * objects);
	spread(w, objects, 0.995, 1);
}

static const struct kind {
	const char *name;
	void (*work)(struct world *w, double objects);
	enum jprof_shape shape;
} all_kinds[kinds] = {
	{ "from startup", from_startup, JPROF_SHAPE_STARTUP },
	{ "growing, from the first 40 % of the time on", growing, JPROF_SHAPE_GROWING },
	{ "levelled off, at 30 to 70 %", levelled_off, JPROF_SHAPE_LEVELLED_OFF },
	{ "turnover, first in first out, 2 to 25 %", first_in_first_out, JPROF_SHAPE_TURNOVER },
	{ "turnover, at random, living 2 to 12 % on average", random_replacement, JPROF_SHAPE_TURNOVER },
	{ "one jump, at 20 to 80 %", one_jump, JPROF_SHAPE_ONE_JUMP },
	{ "growing, and three times as much in flight", leak_under_churn, JPROF_SHAPE_GROWING },
	{ "growing, and three times as much from startup", leak_over_startup, JPROF_SHAPE_GROWING },
	{ "from startup, and a third in flight", startup_under_churn, JPROF_SHAPE_STARTUP },
};

static enum jprof_shape shape_of_world(const struct world *w)
{
	return jp_shape_of(&(const struct jp_shape_time){ w->length, w->epochs }, w->startup, w->n, rows);
}

struct score {
	unsigned right, unknown;
};

static struct score run(const struct kind *k, size_t epochs, double objects, double noise, unsigned count)
{
	struct score score = { 0 };
	for (unsigned i = 0; i < count; i++) {
		struct world w;
		begin_world(&w, 1000 * (uint64_t)(k - all_kinds) + i + 1, epochs, noise);
		k->work(&w, objects);
		enum jprof_shape shape = shape_of_world(&w);
		score.right += shape == k->shape;
		score.unknown += shape == JPROF_SHAPE_UNKNOWN || shape == JPROF_SHAPE_FEW;
	}
	return score;
}

static const double amounts[] = { 1000, 3000, 30000 }; /* of 1 KB */
static const size_t lives[] = { 12, 36, 144 };

static void print_table(void)
{
	for (size_t k = 0; k < kinds; k++)
		for (size_t a = 0; a < 3; a++)
			for (size_t l = 0; l < 3; l++) {
				struct score s = run(&all_kinds[k], lives[l], amounts[a], 0.2, 1000);
				printf(
				    "%-48s %3zu epochs %5.0f samples: right %5.1f %%, not told %5.1f %%, wrong %4.1f %%\n",
				    all_kinds[k].name, lives[l], amounts[a] * sampled, s.right / 10., s.unknown / 10.,
				    (1000 - s.right - s.unknown) / 10.);
			}
}

/* Each shape alone is right in each run; one over another may once not be told. */
TEST(test_right)
{
	static const double noises[] = { 0, 0.2, 0.8 };
	for (size_t k = 0; k < kinds; k++)
		for (size_t i = 0; i < 3; i++)
			for (size_t l = 0; l < 3; l++)
				for (size_t a = 1; a < 3; a++) {
					struct score s = run(&all_kinds[k], lives[l], amounts[a], noises[i], runs);
					unsigned least = k < mixtures && noises[i] <= 0.2 ? runs : runs - 1;
					if (s.right < least)
						fail_msg("%s, %zu epochs, noise %g: %u of %d", all_kinds[k].name,
						         lives[l], noises[i], s.right, runs);
				}
}

/* Of some thirty samples it may be too early to tell, and is hardly ever told wrong. */
TEST(test_small)
{
	for (size_t k = 0; k < kinds; k++)
		for (size_t l = 0; l < 3; l++) {
			struct score s = run(&all_kinds[k], lives[l], amounts[0], 0.2, 200);
			if (200 - s.right - s.unknown > 10)
				fail_msg("%s, %zu epochs: %u of 200 are wrong", all_kinds[k].name, lives[l],
				         200 - s.right - s.unknown);
		}
}

TEST(test_too_little)
{
	const double length[] = { 1, 1, 1, 1 }, n[] = { 20, 20, 20, 20 }, few[] = { 2, 2, 2, 2 };
	const struct jp_shape_time three = { length, 3 }, four = { length, 4 }, none = { length, 0 };
	assert_int_equal(jp_shape_of(&four, 0, n, 1), JPROF_SHAPE_GROWING);
	assert_int_equal(jp_shape_of(&three, 0, n, 1), JPROF_SHAPE_UNKNOWN);
	assert_int_equal(jp_shape_of(&none, 50, n, 1), JPROF_SHAPE_UNKNOWN);
	assert_int_equal(jp_shape_of(&four, 1.5, few, 1), JPROF_SHAPE_FEW);
}

/* The more rows are judged, the more one has to show. */
TEST(test_many_rows)
{
	const double length[] = { 1, 1, 1, 1, 1, 1, 1, 1 }, n[] = { 2, 2, 2, 2, 2, 2, 2, 2 };
	const struct jp_shape_time eight = { length, 8 };
	assert_int_equal(jp_shape_of(&eight, 0, n, 1), JPROF_SHAPE_GROWING);
	assert_int_equal(jp_shape_of(&eight, 0, n, 1e6), JPROF_SHAPE_UNKNOWN);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "print")) {
		print_table();
		return 0;
	}
	return run_listed(NULL, NULL);
}
