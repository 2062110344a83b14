/* The result of `jprof check`, and what is printed of it. */
#pragma once

#include "answers/diff_text.h"
#include "answers/limits.h"

enum { check_status_of_fail = 3 };

enum check_result { CHECK_PASS, CHECK_FAIL, CHECK_CANNOT_TELL };

/* In JSON: "pass". Static. */
const char *check_key(enum check_result result);

struct check {
	struct diff_report report;
	struct growth_limit growth, total;
	bool has_total;
	enum check_result result;
	char *why, *remedy;                  /* of what cannot be told; owned, or NULL; the remedy "": there is none */
	const struct jprof_grown **failed;   /* owned, as the next two; rows are the series' */
	const struct jprof_grown **accepted; /* by the baseline */
	const struct jprof_grown **stopped;  /* grew by more than they may, but have stopped */
	size_t failed_count, accepted_count, stopped_count;
	size_t judged;  /* rows that can fail */
	size_t garbage; /* rows that grew by more than they may, and may be garbage */
	bool total_failed;
	const struct jprof_grown *unsure; /* of those that may have grown by more than they may that with the highest
	                                     end of its interval; NULL: there are none */
	size_t unsure_count;
	const struct jprof_grown *counted[JPROF_PARTS]; /* what grew by more and counts in the total alone */
	size_t counted_count;
	double total_grown; /* of all memory, or of the heap where that is not known */
	struct accepted_rows baseline;
	const char *baseline_path;
};

void check_put_text(FILE *out, const struct check *check);
void check_put_json(FILE *out, const struct check *check);

/* An annotation for each row that failed, as GitHub Actions reads them. */
void check_put_annotations(FILE *out, const struct check *check);

/* The same for $GITHUB_STEP_SUMMARY. */
void check_put_summary(FILE *out, const struct check *check);
