/* An explanation: its rows, and what would help. */
#pragma once

#include "base/arena.h"
#include "jprof.h"

struct jprof_explanation {
	struct jp_arena arena; /* has the names */
	struct jprof_explained *rows;
	size_t count, cap;
	struct jprof_help *helps;
	size_t help_count, help_cap;
	struct jprof_explain_info info;
};

/* The figure of now and how much it grew, NAN where that is not known. */
struct jp_figure_pair {
	double now, growth;
};

/* A row behind those that are there; NULL when memory is short. */
struct jprof_explained *jp_explain_row(struct jprof_explanation *explanation, enum jprof_part part, unsigned depth,
                                       struct jp_figure_pair figure);
