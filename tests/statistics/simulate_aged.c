/* Reports of a thousand rows from two dumps whose samples have ages, by the code path of `jprof diff`: how often a row
 * in which nothing grew is accused, how often a leak is found, and how often it is called a leak suspect. Samples are
 * drawn with fixed seeds. docs/internals/statistics.md lists the figures that this prints.
 *
 * usage: simulate_aged [REPORTS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampler.h"

enum { rows = 1000, old_epochs = 8, epochs = 16, object_bytes = 64, rate = 131072, line_most = 96 };

/* What a report is like. */
struct report_kind {
	const char *what;
	double churn;                                  /* share of each row that is replaced between the dumps */
	size_t leaks;                                  /* which row, from 0; rows: none */
	double leaked;                                 /* samples between the dumps, and as many before the first */
	double own_churn;                              /* of the leaking row */
	double least_found, least_suspect, most_false; /* shares of reports */
};

/* The largest row has 2000. */
static double mean_samples(size_t row)
{
	return fmax(2000 / (double)(row + 1), 1);
}

/* Samples in use, by the epoch in which they were allocated, from 1 on. */
typedef uint64_t row_epochs[epochs + 1];

static void spread_evenly(row_epochs to, struct rng *rng, uint64_t count, size_t first, size_t last)
{
	for (; count; count--)
		to[first + (size_t)(rng_uniform(rng) * (double)(last + 1 - first))]++;
}

static void free_some(row_epochs from, struct rng *rng, uint64_t count)
{
	uint64_t live = 0;
	for (size_t e = 1; e <= old_epochs; e++)
		live += from[e];
	for (count = count < live ? count : live; count; count--, live--) {
		uint64_t at = (uint64_t)(rng_uniform(rng) * (double)live);
		size_t e = 1;
		while (at >= from[e])
			at -= from[e++];
		from[e]--;
	}
}

/* Half of each row is from the startup. */
static void draw_first(row_epochs state[rows], const struct report_kind *k, struct rng *rng)
{
	memset(state, 0, rows * sizeof *state);
	for (size_t i = 0; i < rows; i++) {
		state[i][1] = rng_poisson(rng, mean_samples(i) / 2);
		spread_evenly(state[i], rng, rng_poisson(rng, mean_samples(i) / 2), 1, old_epochs);
		if (i == k->leaks)
			spread_evenly(state[i], rng, rng_poisson(rng, k->leaked), 2, old_epochs);
	}
}

static void draw_second(row_epochs state[rows], const struct report_kind *k, struct rng *rng)
{
	for (size_t i = 0; i < rows; i++) {
		double moved = (i == k->leaks ? k->own_churn : k->churn) * mean_samples(i);
		free_some(state[i], rng, rng_poisson(rng, moved));
		spread_evenly(state[i], rng, rng_poisson(rng, moved), old_epochs + 1, epochs);
		if (i == k->leaks)
			spread_evenly(state[i], rng, rng_poisson(rng, k->leaked), old_epochs + 1, epochs);
	}
}

static struct jprof_profile *profile_of(row_epochs state[rows], unsigned over)
{
	enum { room = (size_t)rows * epochs * line_most };
	static char text[room], table[4096];
	struct jprof_profile *profile;
	struct jprof_error err;
	size_t len = (size_t)snprintf(text, room, "heap_v2/%d\n  t*: 0: 0 [0: 0]\n", rate);
	for (size_t i = 0; i < rows; i++)
		for (size_t e = 1; e <= epochs; e++)
			if (state[i][e])
				len += (size_t)snprintf(
				    text + len, room - len, "@ 0x%zx 0x%llx\n  t*: %llu: %llu [0: 0]\n",
				    0x10000 + 16 * i, (unsigned long long)epoch_address(e),
				    (unsigned long long)state[i][e], (unsigned long long)state[i][e] * object_bytes);
	len += (size_t)snprintf(text + len, room - len,
	                        "\nMAPPED_LIBRARIES:\n00010000-00020000 r-xp 00000000 08:01 11 /usr/bin/server\n");
	len += epoch_maps_print(text + len, room - len);
	struct jprof_profile_opts opts = { .size = sizeof opts, .table = table };
	opts.table_len = epoch_table_print(1, over, over, text, len, table, sizeof table);
	if (jprof_profile_parse(text, len, "simulated", &opts, &profile, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	return profile;
}

/* What a report says. */
struct said {
	bool accused, found,
	    suspect; /* a row in which nothing grew; the leak, as a suspect or as growing; as a suspect */
};

static struct said read_series(const struct jprof_series *series, const struct report_kind *k)
{
	struct said said = { false, false, false };
	char leak[line_most];
	snprintf(leak, sizeof leak, "server+0x%zx", 16 * k->leaks);
	for (size_t i = 0; i < jprof_series_count(series); i++) {
		const struct jprof_grown *row = jprof_series_at(series, i);
		bool leaks = k->leaks < rows && !strcmp(row->name, leak), suspect = row->verdict == JPROF_LEAK_SUSPECT;
		bool accused = suspect || row->verdict == JPROF_GROWING;
		said.found |= leaks && accused;
		said.suspect |= leaks && suspect;
		said.accused |= !leaks && accused;
	}
	return said;
}

static struct said draw_report(const struct report_kind *k, struct rng *rng)
{
	static row_epochs state[rows];
	const struct jprof_symbolize_opts names = { .size = sizeof names, .no_lookup = true };
	struct jprof_series *series;
	struct jprof_error err = { 0 };
	draw_first(state, k, rng);
	struct jprof_profile *early = profile_of(state, old_epochs);
	draw_second(state, k, rng);
	struct jprof_profile *late = profile_of(state, epochs);
	if (jprof_profile_difference(late, early, &err) || jprof_profile_symbolize(late, &names, &err) ||
	    jprof_series_new((const struct jprof_profile *const *)&late, 1, NULL, NULL, &series, &err) ||
	    !jprof_series_info(series)->ages) {
		printf("no series with ages: %s\n", err.text);
		exit(1);
	}
	struct said said = read_series(series, k);
	jprof_series_free(series);
	jprof_profile_free(late);
	jprof_profile_free(early);
	return said;
}

/* Whether a share of reports is what it has to be, but for chance: once in 10,000 runs it is not. */
static bool is_share(double count, double reports, double least, double most)
{
	static const double doubt = 4;
	double share = count / reports;
	return share >= least - doubt * sqrt(least * (1 - least) / reports) &&
	       share <= most + doubt * sqrt(most * (1 - most) / reports);
}

int main(int argc, char **argv)
{
	static const struct report_kind kinds[] = {
		{ "nothing grew, nothing is replaced", 0, rows, 0, 0, 0, 0, 0.01 },
		{ "nothing grew, 20 % are replaced", 0.2, rows, 0, 0, 0, 0, 0.01 },
		{ "leak of 6 in one of 1000 rows", 0.2, 99, 36, 0, 0.95, 0.5, 0.01 },
		{ "the same, 20 % of it are replaced", 0.2, 99, 42, 0.2, 0.95, 0.5, 0.01 },
		{ "leak of 10 in one of 1000 rows", 0.2, 99, 100, 0.2, 0.99, 0.95, 0.01 },
	};
	double reports = argc > 1 ? atof(argv[1]) : 10;
	int bad = 0;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		struct rng rng = { 20261100 + k };
		double found = 0, accused = 0, suspect = 0;
		for (int i = 0; i < reports; i++) {
			struct said said = draw_report(&kinds[k], &rng);
			found += said.found;
			accused += said.accused;
			suspect += said.suspect;
		}
		bool good = is_share(found, reports, kinds[k].least_found, 1) &&
		            is_share(suspect, reports, kinds[k].least_suspect, 1) &&
		            is_share(accused, reports, 0, kinds[k].most_false);
		bad += !good;
		printf("%-40s accused %5.2f %%  found %6.2f %%  leak suspect %6.2f %%%s\n", kinds[k].what,
		       accused * 100 / reports, found * 100 / reports, suspect * 100 / reports, good ? "" : "  BAD");
	}
	return bad > 0;
}
