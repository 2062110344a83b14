/* What a diff says of a leak suspect. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff_text.h"
#include "cli/terminal.h"

static const double most_of_it = 0.9;
static const double one_object = 1.05; /* below it: a large object is sampled nearly for sure */
enum { label_wide = 12, detail_most = 1024 };

/* "   pace     27 MB an hour ...", on as many lines as it takes. */
static void put_detail(FILE *out, const struct diff_report *r, const char *label, const char *text)
{
	char *lines = NULL;
	size_t len;
	FILE *wrapped = open_memstream(&lines, &len);
	if (!wrapped)
		return;
	terminal_wrap(wrapped, text, r->columns > label_wide ? r->columns - label_wide : 1);
	if (!fclose(wrapped))
		for (char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1)
			fprintf(out, "   %-8s %.*s\n", line == lines ? label : "", (int)(end - line), line);
	free(lines);
}

/* "Ruby data: String; 3.0 KB on average, about 108,000 more of them". */
static void put_what(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	char text[detail_most] = "", size[measure_most], count[measure_most];
	size_t len = 0;
	if (row->kind)
		len = (size_t)snprintf(text, sizeof text, "%.200s", row->kind);
	if (row->kind && row->kind_share < most_of_it)
		len += (size_t)snprintf(text + len, sizeof text - len, " (%.0f %%)", row->kind_share * 100);
	if (row->objects >= 1 && row->whole.growth > 0) {
		double mean = row->whole.growth / row->objects;
		if (mean < 1024)
			snprintf(size, sizeof size, "%.0f bytes", mean);
		else {
			struct measure m = measure_for(mean);
			char number[measure_most];
			snprintf(size, sizeof size, "%.24s %s", measure_number(m, mean, number), m.name);
		}
		if (row->objects < one_object)
			snprintf(text + len, sizeof text - len, "%sone object of %s", len ? "; " : "", size);
		else
			snprintf(text + len, sizeof text - len, "%s%s on average, about %s more of them",
			         len ? "; " : "", size, about_count(row->objects, count));
	}
	if (*text)
		put_detail(out, r, "what", text);
}

static void put_pace(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	char text[detail_most] = "", pace[measure_most];
	size_t steps = jprof_series_info(r->loaded->series)->snapshots - 1, len = 0;
	struct measure m = measure_fit(r->measure, row->values[steps]);
	bool has_pace = measure_has_pace(row->whole.seconds);
	if (has_pace)
		len = (size_t)snprintf(text, sizeof text, "%s",
		                       measure_pace(row->whole.growth, row->whole.seconds, pace));
	for (size_t i = 0; steps > 1 && i <= steps && len < sizeof text / 2; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%.1f",
		                        i     ? ", "
		                        : len ? "; "
		                              : "",
		                        row->values[i] / m.bytes);
	if (steps > 1)
		snprintf(text + len, sizeof text - len, " %s%s", m.name,
		         row->verdict == JPROF_LEAK_SUSPECT ? ": it grew in each step" : "");
	if (*text)
		put_detail(out, r, has_pace ? "pace" : "steps", text);
}

static void put_sure(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	char text[detail_most], count[measure_most];
	if (isnan(row->chance) || !isfinite(row->distance))
		return;
	if (row->chance < 1e-6)
		snprintf(text, sizeof text, "%.0f standard errors, from %.0f samples that changed: not by chance",
		         row->distance, row->whole.range.samples);
	else
		snprintf(text, sizeof text, "%.1f standard errors; by chance in 1 of %s reports in which nothing grew",
		         row->distance, about_count(1 / row->chance, count));
	put_detail(out, r, "sure", text);
}

/* What to do about a part that lies outside. */
static const char *remedy_of_part(enum jprof_part part)
{
	switch (part) {
	case JPROF_PART_GC_HEAP: return "jprof explain says more; ObjectSpace.dump_all lists the objects";
	case JPROF_PART_KEPT: return "nothing leaks there: jprof explain says how to have it given back";
	case JPROF_PART_FRAGMENTATION: return "jprof explain says between which objects";
	case JPROF_PART_STACKS: return "look for threads that never end";
	default: return "jprof explain says more";
	}
}

static void put_remedy(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	size_t snapshots = jprof_series_info(r->loaded->series)->snapshots;
	if (row->verdict == JPROF_MAYBE_GARBAGE)
		put_detail(out, r, "do", "take the snapshots with jprof snap --gc: they hold no garbage");
	else if (row->part != JPROF_PART_LIVE)
		put_detail(out, r, "do", remedy_of_part(row->part));
	else if (row->verdict == JPROF_GROWING && snapshots < 3)
		put_detail(out, r, "do", "take a third snapshot: of two a filling cache looks like a leak");
	else if (row->verdict == JPROF_ONE_JUMP)
		put_detail(out, r, "do", "it came at once, and stays: look at what happened then");
	else if (row->remedy)
		put_detail(out, r, "do", row->remedy);
	else
		put_detail(out, r, "do", "Find what keeps them. A cache that still fills looks the same");
}

void diff_put_details(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	if (row->from) /* at once below a line of a gem: it is the application's */
		put_detail(out, r, "from", row->from);
	put_what(out, r, row);
	put_pace(out, r, row);
	if (!row->from && row->path)
		put_detail(out, r, "from", row->path);
	put_sure(out, r, row);
	put_remedy(out, r, row);
}
