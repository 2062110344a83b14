/* A series of snapshots: its rows, and what they rest on while it is made. */
#pragma once

#include "base/arena.h"
#include "base/intern.h"
#include "jprof.h"
#include "statistics/evidence.h"

struct jprof_series {
	struct jp_arena arena; /* texts, values and steps */
	struct jprof_grown *rows;
	size_t count, cap;
	struct jprof_grown all; /* all that malloc gave */
	struct jprof_object_change *objects;
	size_t object_count, object_cap;
	struct jprof_series_info info;
};

/* What is known of a row of the profile in one of the differences, while these are added up. */
struct jp_row_course {
	struct jp_evidence evidence;
	double base;    /* bytes that were subtracted */
	double objects; /* how many more there are */
	double managed; /* the part of the change that Ruby's garbage collector looks after */
};

/* Methods of Ruby by path, and how the rows of each are called; NULL: no lines moved, and in it: not those of that
 * method. */
struct jp_moved_lines {
	struct jp_intern methods;
	const char **names;
};

struct jp_series_rows {
	const struct jprof_series_opts *opts;
	struct jprof_view_opts view; /* with errors, in bytes */
	struct jprof_series *series; /* whose rows have the ids of names */
	struct jp_intern names;
	double base;                   /* all that the first difference subtracted, whatever a filter keeps */
	size_t columns;                /* differences */
	struct jp_row_course *courses; /* by row, then by difference */
	size_t course_cap;
	struct jp_lineage *lineages; /* by difference */
	struct jp_moved_lines moved;
	bool restarted; /* no process is on both sides: lines may have moved */
	bool untagged;  /* rows are tags, and the difference at hand has none */
};
