/* Reports of a thousand rows whose truth is known, by the code path of `jprof diff`: how often a row in which nothing
 * grew is accused, and how often a leak is found. Samples are drawn with fixed seeds; three dumps with prof_accum say
 * which of them came and went. docs/statistics.md lists the figures that this prints.
 *
 * usage: simulate_series [REPORTS [KIND]]   KIND: of the table in main(), from 0; by default all */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampler.h"

enum { rows = 1000, dumps = 3, object_bytes = 64, rate = 131072, line_most = 64 };

/* What a report is like. */
struct report_kind {
	const char *what;
	double largest;   /* samples of the largest row; row i has largest/(i + 1), one at least. Below 0: all have as
	                     many */
	double churn;     /* share of each row that is replaced between two dumps */
	size_t leaks;     /* which row, from 0; rows: none */
	double errors;    /* its leak in standard errors */
	double own_churn; /* of the leaking row */
	double least_found, most_false; /* shares of reports */
};

static double mean_samples(const struct report_kind *k, size_t row)
{
	return k->largest < 0 ? -k->largest : fmax(k->largest / (double)(row + 1), 1);
}

/* The samples that a leak of so many standard errors has over all dumps: they, and what comes and goes beside them,
 * make that error. */
static double leaked_samples(const struct report_kind *k)
{
	double turnover = 2 * (dumps - 1) * k->own_churn * mean_samples(k, k->leaks), square = k->errors * k->errors;
	return (square + sqrt(square * square + 4 * square * turnover)) / 2;
}

/* The samples of a row in use, and those that it ever had. */
struct row_state {
	uint64_t live, ever;
};

static void step_rows(struct row_state state[rows], const struct report_kind *k, struct rng *rng)
{
	for (size_t i = 0; i < rows; i++) {
		double moved = (i == k->leaks ? k->own_churn : k->churn) * mean_samples(k, i);
		uint64_t gone = rng_poisson(rng, moved), came = rng_poisson(rng, moved);
		if (i == k->leaks)
			came += rng_poisson(rng, leaked_samples(k) / (dumps - 1));
		state[i].live += came;
		state[i].live -= gone < state[i].live ? gone : state[i].live;
		state[i].ever += came;
	}
}

static struct jprof_profile *profile_of(const struct row_state state[rows])
{
	static char text[(rows + 8) * 2 * line_most];
	struct jprof_profile *profile;
	struct jprof_error err;
	int len = snprintf(text, sizeof text, "heap_v2/%d\n  t*: 0: 0 [0: 0]\n", rate);
	for (size_t i = 0; i < rows; i++)
		if (state[i].ever)
			len += snprintf(
			    text + len, sizeof text - (size_t)len, "@ 0x%zx\n  t*: %llu: %llu [%llu: %llu]\n",
			    0x10000 + 16 * i, (unsigned long long)state[i].live,
			    (unsigned long long)state[i].live * object_bytes, (unsigned long long)state[i].ever,
			    (unsigned long long)state[i].ever * object_bytes);
	len += snprintf(text + len, sizeof text - (size_t)len,
	                "\nMAPPED_LIBRARIES:\n00010000-00020000 r-xp 00000000 08:01 11 /usr/bin/server\n");
	if (jprof_profile_parse(text, (size_t)len, "simulated", NULL, &profile, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	return profile;
}

static struct jprof_profile *difference_of(const struct row_state late[rows], const struct row_state early[rows])
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .no_lookup = true };
	struct jprof_profile *profile = profile_of(late), *base = profile_of(early);
	if (jprof_profile_difference(profile, base, NULL) || jprof_profile_symbolize(profile, &opts, NULL))
		exit(1);
	jprof_profile_free(base);
	return profile;
}

/* What a report says. */
struct said {
	bool accused, found; /* a row in which nothing grew; the leak, as a suspect or as growing */
};

static struct said read_series(const struct jprof_series *series, const struct report_kind *k)
{
	struct said said = { false, false };
	char leak[line_most];
	snprintf(leak, sizeof leak, "server+0x%zx", 16 * k->leaks);
	for (size_t i = 0; i < jprof_series_count(series); i++) {
		const struct jprof_grown *row = jprof_series_at(series, i);
		bool leaks = k->leaks < rows && !strcmp(row->name, leak);
		bool suspect = row->verdict == JPROF_LEAK_SUSPECT || row->verdict == JPROF_GROWING;
		said.found |= leaks && suspect;
		said.accused |= !leaks && suspect;
	}
	return said;
}

static struct said draw_report(const struct report_kind *k, struct rng *rng)
{
	static struct row_state state[dumps][rows];
	struct jprof_profile *steps[dumps - 1];
	struct jprof_series *series;
	struct jprof_error err;
	for (size_t i = 0; i < rows; i++)
		state[0][i].live = state[0][i].ever = rng_poisson(rng, mean_samples(k, i));
	for (size_t d = 1; d < dumps; d++) {
		memcpy(state[d], state[d - 1], sizeof state[d]);
		step_rows(state[d], k, rng);
		steps[d - 1] = difference_of(state[d], state[d - 1]);
	}
	struct jprof_profile *whole = difference_of(state[dumps - 1], state[0]);
	if (jprof_series_new((const struct jprof_profile *const *)steps, dumps - 1, whole, NULL, &series, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	struct said said = read_series(series, k);
	jprof_series_free(series);
	jprof_profile_free(whole);
	for (size_t d = 0; d < dumps - 1; d++)
		jprof_profile_free(steps[d]);
	return said;
}

int main(int argc, char **argv)
{
	static const struct report_kind kinds[] = {
		{ "nothing grew, nothing is replaced", 2000, 0, rows, 0, 0, 0, 0.01 },
		{ "nothing grew, 20 % are replaced", 2000, 0.2, rows, 0, 0, 0, 0.01 },
		{ "nothing grew, 20 % of rows of 100 samples", -100, 0.2, rows, 0, 0, 0, 0.01 },
		{ "leak of 6 in one of 1000 rows", 2000, 0, 99, 6, 0, 0.95, 0.01 },
		{ "the same, 20 % of all others are replaced", 2000, 0.2, 99, 6, 0, 0.95, 0.01 },
		{ "the same, 20 % of all are replaced", 2000, 0.2, 99, 6, 0.2, 0.95, 0.01 },
		{ "leak of 4 in one of the ten largest", 2000, 0, 5, 4, 0, 0.95, 0.01 },
		{ "the same, 20 % of all others are replaced", 2000, 0.2, 5, 4, 0, 0.95, 0.01 },
		{ "the same, 20 % of all are replaced", 2000, 0.2, 5, 4, 0.2, 0.70, 0.01 },
	};
	static const double doubt = 3; /* standard errors of a share that chance may make of few reports */
	double reports = argc > 1 ? atof(argv[1]) : 20;
	size_t only = argc > 2 ? strtoul(argv[2], NULL, 10) : SIZE_MAX;
	int bad = 0;
	for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
		if (only != SIZE_MAX && only != k)
			continue;
		struct rng rng = { 20260000 + k };
		double found = 0, accused = 0;
		for (int i = 0; i < reports; i++) {
			struct said said = draw_report(&kinds[k], &rng);
			found += said.found;
			accused += said.accused;
		}
		double least = kinds[k].least_found, most = kinds[k].most_false;
		bool good = found / reports >= least - doubt * sqrt(least * (1 - least) / reports) &&
		            accused / reports <= most + doubt * sqrt(most * (1 - most) / reports);
		bad += !good;
		printf("%-45s accused %5.2f %%  found %6.2f %%%s\n", kinds[k].what, accused * 100 / reports,
		       found * 100 / reports, good ? "" : "  BAD");
	}
	return bad > 0;
}
