#include "serve/metrics.h"

#include <math.h>
#include <string.h>

#include "answers/diff_text.h"
#include "answers/explain_words.h"

enum { most_grown = 10, label_size = 512 };

static void put_kind(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void put_label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (const char *c = value; *c; c++) {
		if (*c == '"' || *c == '\\')
			putc('\\', out);
		putc(*c, out);
	}
	putc('"', out);
}

static void put_gauge(FILE *out, const char *name, const char *help, double value)
{
	if (isnan(value))
		return;
	put_kind(out, name, help);
	fprintf(out, "%s %.0f\n", name, value);
}

/* ---- where the memory is ----------------------------------------------------------------------------------------- */

static void put_parts(FILE *out, const struct jprof_explanation *e)
{
	put_kind(out, "jprof_memory_bytes", "Where the memory is: the parts add up to jprof_memory_total_bytes.");
	for (size_t i = 0; i < jprof_explain_count(e); i++) {
		const struct jprof_explained *row = jprof_explain_at(e, i);
		if (!row->depth && row->part != JPROF_PART_TOTAL && !isnan(row->bytes))
			fprintf(out, "jprof_memory_bytes{part=\"%s\"} %.0f\n", words_of_part(row->part)->key,
			        row->bytes);
	}
}

/* Parts of parts, but for those that have names: these are without number. */
static void put_parts_within(FILE *out, const struct jprof_explanation *e)
{
	const char *of = "";
	put_kind(out, "jprof_memory_within_bytes", "Of a part of jprof_memory_bytes.");
	for (size_t i = 0; i < jprof_explain_count(e); i++) {
		const struct jprof_explained *row = jprof_explain_at(e, i);
		if (!row->depth)
			of = words_of_part(row->part)->key;
		else if (row->depth == 1 && !*row->name && !row->object_size && !isnan(row->bytes))
			fprintf(out, "jprof_memory_within_bytes{of=\"%s\",part=\"%s\"} %.0f\n", of,
			        words_of_part(row->part)->key, row->bytes);
	}
}

/* ---- what grew -------------------------------------------------------------------------------------------------- */

/* The labels of a row, as they are shown. */
struct grown_label {
	const struct jprof_grown *row;
	char name[label_size], library[label_size];
};

/* The first rows that grew, at most so many. */
static size_t find_grown(const struct jprof_series *series, struct grown_label labels[static most_grown])
{
	size_t count = 0;
	for (size_t i = 0; i < jprof_series_count(series) && count < most_grown; i++) {
		const struct jprof_grown *row = jprof_series_at(series, i);
		struct grown_label *label = &labels[count];
		bool other = true;
		if (row->part != JPROF_PART_LIVE || !(row->whole.growth > 0) || diff_is_quiet(row))
			continue;
		label->row = row;
		jprof_visible(row->name, label->name, sizeof label->name);
		jprof_visible(row->library ? row->library : "", label->library, sizeof label->library);
		for (size_t j = 0; j < count; j++)
			other = other && (strcmp(labels[j].name, label->name) != 0 ||
			                  strcmp(labels[j].library, label->library) != 0);
		count += other;
	}
	return count;
}

static void put_grown(FILE *out, const char *name, const struct grown_label *label, double value)
{
	fprintf(out, "%s{", name);
	put_label(out, "row", label->name);
	putc(',', out);
	put_label(out, "library", label->library);
	fprintf(out, "} %.0f\n", value);
}

static void put_growth(FILE *out, const struct jprof_series *series)
{
	struct grown_label labels[most_grown];
	size_t count = find_grown(series, labels);
	put_kind(out, "jprof_growth_bytes", "What grew most since the first snapshot, ten rows at most.");
	for (size_t i = 0; i < count; i++)
		put_grown(out, "jprof_growth_bytes", &labels[i], labels[i].row->whole.growth);
	put_kind(out, "jprof_growth_low_bytes", "The low end of its 95 % interval.");
	for (size_t i = 0; i < count; i++)
		put_grown(out, "jprof_growth_low_bytes", &labels[i], labels[i].row->whole.range.low);
	put_kind(out, "jprof_growth_high_bytes", "The high end of its 95 % interval.");
	for (size_t i = 0; i < count; i++)
		put_grown(out, "jprof_growth_high_bytes", &labels[i], labels[i].row->whole.range.high);
	put_gauge(out, "jprof_growth_seconds", "From the first snapshot to the last.",
	          jprof_series_info(series)->seconds);
}

void metrics_put(FILE *out, const struct jprof_explanation *e, const struct jprof_series *series)
{
	const struct jprof_explain_info *info = jprof_explain_info(e);
	put_parts(out, e);
	put_parts_within(out, e);
	put_gauge(out, "jprof_memory_total_bytes", "RSS of one process, Pss of several.", info->total);
	put_gauge(out, "jprof_processes", "How many processes these are.", info->processes);
	if (info->group.known) {
		put_gauge(out, "jprof_group_bytes", "What their control group has.", info->group.current);
		put_gauge(out, "jprof_group_limit_bytes", "What it may have.",
		          isinf(info->group.limit) ? NAN : info->group.limit);
	}
	if (series)
		put_growth(out, series);
}
