#include "report/missing.h"

#include <math.h>
#include <stdio.h>

/* Above this share of nameless bytes the user is told. */
static const double many_nameless = 0.2;

static double nameless_share(const struct jprof_view *view, const struct options *o, size_t top)
{
	const struct jprof_report_opts report = options_report(o);
	const struct jprof_table_opts order = {
		.size = sizeof order, .cum = report.cum, .top = top, .by_change = report.by_change
	};
	struct jprof_table *table;
	double all = 0, nameless = 0;
	if (jprof_table_new(view, &order, &table, NULL))
		return 0;
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		all += fabs(row->flat);
		if (row->source == JPROF_SOURCE_NONE || row->source == JPROF_SOURCE_FDE)
			nameless += fabs(row->flat);
	}
	jprof_table_free(table);
	return all > 0 ? nameless / all : 0;
}

/* Without maps no address lies in a file; the dump's own warning has said that. */
static bool has_files(const struct jprof_view *view)
{
	struct jprof_coverage *coverage;
	bool any = false;
	if (jprof_coverage_new(view, &coverage, NULL))
		return false;
	for (size_t i = 0; i < jprof_coverage_count(coverage); i++)
		any = any || *jprof_coverage_at(coverage, i)->path;
	jprof_coverage_free(coverage);
	return any;
}

bool missing_names(const struct jprof_view *view, const struct options *o, const struct inputs *inputs, size_t top,
                   char text[missing_most])
{
	if (jprof_view_info(view)->granularity == JPROF_BY_LIBRARY) /* libraries need no names */
		return false;
	double share = nameless_share(view, o, top);
	if (share <= many_nameless || !has_files(view))
		return false;
	snprintf(text, missing_most,
	         "%.0f %% of the bytes shown have no function's name; what would bring them: jprof info %s",
	         share * 100, inputs->dumps[0]);
	return true;
}
