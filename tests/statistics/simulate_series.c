/* Reports of a thousand rows whose truth is known, by the code path of `jprof diff`: how often a row in which nothing
 * grew is accused, and how often a leak is found. Samples are drawn with fixed seeds; three dumps with prof_accum say
 * which of them came and went. docs/internals/statistics.md lists the figures that this prints.
 *
 * A leak beside a row of equal objects that loses as much is found as it is without that row.
 *
 * usage: simulate_series [REPORTS [KIND | courses]]   KIND: of the table in main(), from 0; by default all */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampler.h"

enum { rows = 1000, dumps = 3, most_dumps = 8, object_bytes = 64, rate = 131072, line_most = 64 };

/* What a report is like. */
struct report_kind {
	const char *what;
	double largest;   /* samples of the largest row; row i has largest/(i + 1), one at least. Below 0: all have as
	                     many */
	double churn;     /* share of each row that is replaced between two dumps */
	size_t leaks;     /* which row, from 0; rows: none */
	double errors;    /* its leak in standard errors */
	double own_churn; /* of the leaking row */
	double least_found, most_false; /* shares of reports; 0 of the second: 1 % */

	/* Of a row whose course over so many dumps is given in samples. 0: three dumps, of 1000 rows */
	size_t dumps, rows;
	double first, fill, step; /* what it has, what comes at once in the first step, and in each */
	bool plain;               /* dumps do not say what came and went: no prof_accum */
	bool drains;              /* one row more, behind them, loses in each step what the leak gets */
};

static size_t dumps_of(const struct report_kind *k)
{
	return k->dumps ? k->dumps : dumps;
}

static size_t rows_of(const struct report_kind *k)
{
	return k->rows ? k->rows : rows;
}

static double mean_samples(const struct report_kind *k, size_t row)
{
	if (k->dumps && row == k->leaks)
		return k->first;
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

static void step_rows(struct row_state state[rows], const struct report_kind *k, size_t step, struct rng *rng)
{
	for (size_t i = 0; i < rows_of(k); i++) {
		double held = k->dumps ? (double)state[i].live : mean_samples(k, i);
		double moved = (i == k->leaks ? k->own_churn : k->churn) * held;
		uint64_t gone = rng_poisson(rng, moved), came = rng_poisson(rng, moved);
		if (i == k->leaks && k->dumps)
			came += rng_poisson(rng, k->step + (step == 1 ? k->fill : 0));
		else if (i == k->leaks)
			came += rng_poisson(rng, leaked_samples(k) / (dumps - 1));
		state[i].live += came;
		state[i].live -= gone < state[i].live ? gone : state[i].live;
		state[i].ever += came;
	}
}

static struct jprof_profile *profile_of(const struct row_state state[rows], bool plain)
{
	static char text[(rows + 8) * 2 * line_most];
	struct jprof_profile *profile;
	struct jprof_error err;
	int len = snprintf(text, sizeof text, "heap_v2/%d\n  t*: 0: 0 [0: 0]\n", rate);
	for (size_t i = 0; i < rows; i++)
		if (state[i].ever)
			len +=
			    snprintf(text + len, sizeof text - (size_t)len, "@ 0x%zx\n  t*: %llu: %llu [%llu: %llu]\n",
			             0x10000 + 16 * i, (unsigned long long)state[i].live,
			             (unsigned long long)state[i].live * object_bytes,
			             (unsigned long long)(plain ? 0 : state[i].ever),
			             (unsigned long long)(plain ? 0 : state[i].ever * object_bytes));
	len += snprintf(text + len, sizeof text - (size_t)len,
	                "\nMAPPED_LIBRARIES:\n00010000-00020000 r-xp 00000000 08:01 11 /usr/bin/server\n");
	if (jprof_profile_parse(text, (size_t)len, "simulated", NULL, &profile, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	return profile;
}

static struct jprof_profile *difference_of(const struct row_state late[rows], const struct row_state early[rows],
                                           bool plain)
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .no_lookup = true };
	struct jprof_profile *profile = profile_of(late, plain), *base = profile_of(early, plain);
	if (jprof_profile_difference(profile, base, NULL) || jprof_profile_symbolize(profile, &opts, NULL))
		exit(1);
	jprof_profile_free(base);
	return profile;
}

/* What a report says. */
struct said {
	bool shrank;         /* the row that drains has */
	bool accused, found; /* a row that does not grow any more; the leak, as a suspect or as growing, and of a course
	                        that is given as a suspect */
};

static struct said read_series(const struct jprof_series *series, const struct report_kind *k)
{
	struct said said = { false, false, false };
	char leak[line_most], drained[line_most];
	snprintf(leak, sizeof leak, "server+0x%zx", 16 * k->leaks);
	snprintf(drained, sizeof drained, "server+0x%zx", 16 * rows_of(k));
	for (size_t i = 0; i < jprof_series_count(series); i++) {
		const struct jprof_grown *row = jprof_series_at(series, i);
		bool leaks = k->leaks < rows && !strcmp(row->name, leak);
		bool suspect = row->verdict == JPROF_LEAK_SUSPECT || row->verdict == JPROF_GROWING;
		bool flat = leaks && k->dumps && !(k->step > 0);
		said.shrank |= k->drains && row->verdict == JPROF_SHRANK && !strcmp(row->name, drained);
		said.found |= leaks && suspect && (!k->dumps || row->verdict == JPROF_LEAK_SUSPECT);
		said.accused |= (k->dumps ? flat : !leaks) && suspect;
	}
	return said;
}

/* Its chance is its own, so that the other rows are as they are without it. */
static void drain(struct row_state state[rows], const struct report_kind *k, size_t step, struct rng *rng)
{
	struct row_state *row = &state[rows_of(k)];
	uint64_t gone = rng_poisson(rng, k->step);
	if (!step)
		row->live = row->ever = rng_poisson(rng, k->first + (double)dumps_of(k) * k->step);
	else
		row->live -= gone < row->live ? gone : row->live;
}

static struct said draw_report(const struct report_kind *k, struct rng *rng)
{
	static struct row_state state[most_dumps][rows];
	struct jprof_profile *steps[most_dumps - 1];
	size_t last = dumps_of(k) - 1;
	struct jprof_series *series;
	struct jprof_error err;
	memset(state, 0, sizeof state);
	for (size_t i = 0; i < rows_of(k); i++)
		state[0][i].live = state[0][i].ever = rng_poisson(rng, mean_samples(k, i));
	struct rng chance = { rng->state + 1 };
	if (k->drains)
		drain(state[0], k, 0, &chance);
	for (size_t d = 1; d <= last; d++) {
		memcpy(state[d], state[d - 1], sizeof state[d]);
		step_rows(state[d], k, d, rng);
		if (k->drains)
			drain(state[d], k, d, &chance);
		steps[d - 1] = difference_of(state[d], state[d - 1], k->plain);
	}
	struct jprof_profile *whole = difference_of(state[last], state[0], k->plain);
	if (jprof_series_new((const struct jprof_profile *const *)steps, last, whole, NULL, &series, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	struct said said = read_series(series, k);
	jprof_series_free(series);
	jprof_profile_free(whole);
	for (size_t d = 0; d < last; d++)
		jprof_profile_free(steps[d]);
	return said;
}

/* Draws so many reports of a kind, and says what came of them; 1: not what was promised. */
static int draw_reports(const struct report_kind *kind, size_t number, double reports)
{
	static const double doubt = 5; /* standard errors of a share that chance may make of few reports */
	struct rng rng = { 20260000 + number };
	double found = 0, accused = 0, least = kind->least_found, most = kind->most_false > 0 ? kind->most_false : 0.01;
	for (int i = 0; i < reports; i++) {
		struct said said = draw_report(kind, &rng);
		found += said.found;
		accused += said.accused;
	}
	bool good = found / reports >= least - doubt * sqrt(least * (1 - least) / reports) &&
	            accused / reports <= most + doubt * sqrt(most * (1 - most) / reports);
	printf("%-45s accused %5.2f %%  found %6.2f %%%s\n", kind->what, accused * 100 / reports, found * 100 / reports,
	       good ? "" : "  BAD");
	return !good;
}

/* A row of 20 MB (a sample for 128 KB) among 300 of 1 MB, over three to eight dumps: one that takes 20 MB more in the
 * first step and stays as it is, and one that leaks 5 MB in each. */
static int draw_courses(double reports)
{
	enum { others = 300, sampled = 8 };
	static const struct {
		const char *what;
		double fill, step, churn, three,
		    four; /* shares of leaks that are found at three dumps, and from four on */
		bool plain;
	} courses[] = {
		{ "flat cache", 20, 0, 0.3, 0, 0, false },
		{ "flat cache, plain dumps", 20, 0, 0.3, 0, 0, true },
		{ "small flat cache", 8, 0, 0.3, 0, 0, false },
		{ "flat cache, little churn", 20, 0, 0.02, 0, 0, false },
		{ "leak", 0, 5, 0.3, 0.8, 0.98, false },
		{ "leak, 80 % replaced", 0, 5, 0.8, 0.4, 0.75, false },
		{ "leak, little churn", 0, 5, 0.02, 0.8, 0.98, false },
	};
	int bad = 0;
	for (size_t c = 0; c < sizeof courses / sizeof *courses; c++)
		for (size_t n = dumps; n <= most_dumps; n++) {
			char what[line_most];
			snprintf(what, sizeof what, "%s, %zu dumps", courses[c].what, n);
			bad += draw_reports(
			    &(struct report_kind){ .what = what,
			                           .largest = -sampled,
			                           .churn = courses[c].churn,
			                           .own_churn = courses[c].churn,
			                           .least_found = n > dumps ? courses[c].four : courses[c].three,
			                           .most_false = 0.02,
			                           .dumps = n,
			                           .rows = others,
			                           .first = 20 * sampled,
			                           .fill = courses[c].fill * sampled,
			                           .step = courses[c].step * sampled,
			                           .plain = courses[c].plain },
			    1000 + 100 * c + n, reports);
		}
	return bad;
}

/* A line may fill a cache that another refreshes; that hides no leak. */
static int draw_drains(double reports)
{
	enum { others = 300, sampled = 8 };
	double found = 0, hidden = 0, shrank = 0, all = 0;
	for (size_t n = dumps; n <= most_dumps; n++)
		for (int i = 0; i < reports; i++) {
			const struct report_kind leak = { .largest = -sampled,
				                          .churn = 0.3,
				                          .own_churn = 0.3,
				                          .dumps = n,
				                          .rows = others,
				                          .first = 20 * sampled,
				                          .step = 5 * sampled,
				                          .plain = i % 2 };
			struct report_kind beside = leak;
			beside.drains = true;
			struct rng rng = { 20262000 + 1000 * n + (size_t)i }, again = rng;
			bool alone = draw_report(&leak, &rng).found;
			struct said said = draw_report(&beside, &again);
			all++;
			found += alone;
			shrank += said.shrank;
			hidden += alone && !said.found;
		}
	bool bad = hidden > 0 || found < 0.8 * all || shrank < 0.8 * all;
	printf(
	    "leak beside a row that drains: hidden %.0f of %.0f that are found alone; that row shrank in %.0f of %.0f%s\n",
	    hidden, found, shrank, all, bad ? "  BAD" : "");
	return bad;
}

int main(int argc, char **argv)
{
	static const struct report_kind kinds[] = {
		{ .what = "nothing grew, nothing is replaced", .largest = 2000, .leaks = rows },
		{ .what = "nothing grew, 20 % are replaced", .largest = 2000, .churn = 0.2, .leaks = rows },
		{ .what = "nothing grew, 20 % of rows of 100 samples", .largest = -100, .churn = 0.2, .leaks = rows },
		{ .what = "leak of 6 in one of 1000 rows",
		  .largest = 2000,
		  .leaks = 99,
		  .errors = 6,
		  .least_found = 0.95 },
		{ .what = "the same, 20 % of all others are replaced",
		  .largest = 2000,
		  .churn = 0.2,
		  .leaks = 99,
		  .errors = 6,
		  .least_found = 0.95 },
		{ .what = "the same, 20 % of all are replaced",
		  .largest = 2000,
		  .churn = 0.2,
		  .leaks = 99,
		  .errors = 6,
		  .own_churn = 0.2,
		  .least_found = 0.95 },
		{ .what = "leak of 4 in one of the ten largest",
		  .largest = 2000,
		  .leaks = 5,
		  .errors = 4,
		  .least_found = 0.95 },
		{ .what = "the same, 20 % of all others are replaced",
		  .largest = 2000,
		  .churn = 0.2,
		  .leaks = 5,
		  .errors = 4,
		  .least_found = 0.95 },
		{ .what = "the same, 20 % of all are replaced",
		  .largest = 2000,
		  .churn = 0.2,
		  .leaks = 5,
		  .errors = 4,
		  .own_churn = 0.2,
		  .least_found = 0.70 },
	};
	double reports = argc > 1 ? atof(argv[1]) : 20;
	bool courses = argc > 2 && !strcmp(argv[2], "courses");
	size_t only = argc > 2 ? strtoul(argv[2], NULL, 10) : SIZE_MAX;
	int bad = courses || argc <= 2 ? draw_courses(reports) + draw_drains(reports) : 0;
	for (size_t k = 0; !courses && k < sizeof kinds / sizeof *kinds; k++)
		if (only == SIZE_MAX || only == k)
			bad += draw_reports(&kinds[k], k, reports);
	return bad > 0;
}
