#include "answers/explanation.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

static const struct jprof_range counted_range = { .error = NAN, .low = NAN, .high = NAN, .samples = NAN };

struct jprof_explained *jp_explain_row(struct jprof_explanation *e, enum jprof_part part, unsigned depth,
                                       struct jp_figure_pair figure)
{
	if (jp_array_push(e->rows, e->count, e->cap))
		return NULL;
	struct jprof_explained *row = &e->rows[e->count++];
	*row = (struct jprof_explained){ .part = part,
		                         .depth = depth,
		                         .name = "",
		                         .tenants = "",
		                         .bytes = figure.now,
		                         .growth = figure.growth,
		                         .objects = NAN,
		                         .objects_growth = NAN,
		                         .range = counted_range,
		                         .growth_range = counted_range };
	return row;
}

const struct jprof_explain_info *jprof_explain_info(const struct jprof_explanation *e)
{
	return e ? &e->info : NULL;
}

size_t jprof_explain_count(const struct jprof_explanation *e)
{
	return e ? e->count : 0;
}

const struct jprof_explained *jprof_explain_at(const struct jprof_explanation *e, size_t i)
{
	return e && i < e->count ? &e->rows[i] : NULL;
}

const struct jprof_help *jprof_explain_help(const struct jprof_explanation *e, size_t i)
{
	return e && i < e->help_count ? &e->helps[i] : NULL;
}

void jprof_explain_free(struct jprof_explanation *e)
{
	if (!e)
		return;
	jp_arena_release(&e->arena);
	free(e->rows);
	free(e->helps);
	free(e);
}
