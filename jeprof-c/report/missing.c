#include "report/missing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/names.h"
#include "report/remedies.h"

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

static double nameless_bytes(const struct jprof_coverage_file *f)
{
	return fabs(f->bytes[JPROF_SOURCE_NONE] + f->bytes[JPROF_SOURCE_FDE]);
}

/* The file that lacks names for most bytes; NULL: there are no files, for there are no maps. The dump's own warning has
 * said that. */
static const struct jprof_coverage_file *most_nameless(const struct jprof_coverage *coverage)
{
	const struct jprof_coverage_file *most = NULL;
	for (size_t i = 0; i < jprof_coverage_count(coverage); i++) {
		const struct jprof_coverage_file *f = jprof_coverage_at(coverage, i);
		if (*f->path && (!most || nameless_bytes(f) > nameless_bytes(most)))
			most = f;
	}
	return most;
}

/* The names of a Ruby are in one file: without it none is known. */
static bool is_absent_ruby(const struct jprof_coverage_file *file)
{
	static const char libruby[] = "libruby";
	bool absent = file->proof == JPROF_PROOF_NO_FILE || file->proof == JPROF_PROOF_CONTRADICTED;
	return absent && !strncmp(jp_basename(file->path), libruby, sizeof libruby - 1);
}

bool missing_names(const struct jprof_view *view, const struct options *o, const struct inputs *inputs, size_t top,
                   char text[missing_most])
{
	enum jprof_granularity by = jprof_view_info(view)->granularity;
	bool by_owner = by == JPROF_BY_LIBRARY || by == JPROF_BY_KIND || by == JPROF_BY_GROUP;
	if (by_owner || by == JPROF_BY_TAG || !strcmp(o->output, "sizes")) /* need no names */
		return false;
	double share = nameless_share(view, o, top);
	struct jprof_coverage *coverage;
	char command[256];
	if (share <= many_nameless || jprof_coverage_new(view, &coverage, NULL))
		return false;
	const struct jprof_coverage_file *file = most_nameless(coverage);
	if (file && remedy_for_file(file, o, command, sizeof command))
		snprintf(text, missing_most,
		         "%.0f %% of the bytes shown have no function's name; %.512s is stripped: %s", share * 100,
		         jp_basename(file->path), command);
	else if (file && is_absent_ruby(file))
		snprintf(text, missing_most,
		         "%.0f %% of the bytes shown have no function's name, for %.512s of the dump is not here: give "
		         "--sysroot=DIR (an unpacked image), or install that version",
		         share * 100, jp_basename(file->path));
	else if (file)
		snprintf(text, missing_most,
		         "%.0f %% of the bytes shown have no function's name; what would bring them: jprof info %s",
		         share * 100, inputs->dumps[0]);
	jprof_coverage_free(coverage);
	return file;
}
