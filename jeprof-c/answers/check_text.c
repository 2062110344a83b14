#include "answers/check_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff_json.h"
#include "answers/measure.h"
#include "cli/jsonprint.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "cli/thrift.h"

enum { most_blocks = 5, most_titles = 3 };

static const char *const results[] = {
	[CHECK_PASS] = "pass",
	[CHECK_FAIL] = "fail",
	[CHECK_CANNOT_TELL] = "cannot_tell",
};

/* ---- text -------------------------------------------------------------------------------------------------- */

/* "warm to soak2 (20 minutes)" */
static void put_span(FILE *out, const struct check *c)
{
	const struct loaded_series *l = c->report.loaded;
	double seconds = jprof_series_info(l->series)->seconds;
	char first[snapshot_label_most], last[snapshot_label_most];
	snapshot_label(l->paths[0], first);
	snapshot_label(l->paths[l->count - 1], last);
	fprintf(out, "from %s to %s", first, last);
	if (seconds > 0)
		fprintf(out, " (%s)", time_span(seconds).text);
}

static void put_visible_name(FILE *out, const struct jprof_grown *row)
{
	terminal_put(out, name_of_grown(row));
	fputs(row->part == JPROF_PART_LIVE ? "" : " (not in the profile)", out);
}

static void put_grown_line(FILE *out, const struct check *c, const char *before, const struct jprof_grown *row)
{
	const struct measured grew = diff_growth_words(&c->report, row);
	fprintf(out, "%s%s  ", before, grew.text);
	put_visible_name(out, row);
	diff_put_source(out, &c->report, row, strlen(before) + 3 + terminal_columns(grew.text));
}

static void put_check_block(FILE *out, const struct check *c, size_t number, const struct jprof_grown *row)
{
	fprintf(out, "%zu", number);
	put_grown_line(out, c, "  ", row);
	if (number <= (c->report.thrift ? 1 : most_blocks))
		diff_put_details(out, &c->report, row);
}

/* Where all memory grew by more than it may: what makes most of that, if it is none of the rows that failed. */
static const struct jprof_grown *most_of_total(const struct check *c)
{
	const struct jprof_grown *most = c->total_failed ? diff_most_grown(c->report.loaded->series) : NULL;
	for (size_t i = 0; i < c->failed_count; i++)
		most = c->failed[i] == most ? NULL : most;
	return most;
}

static void put_failed_rows(FILE *out, const struct check *c)
{
	const struct jprof_grown *most = most_of_total(c);
	size_t shown = c->report.thrift < 2 || c->failed_count < most_titles ? c->failed_count : most_titles;
	for (size_t i = 0; i < shown; i++)
		put_check_block(out, c, i + 1, c->failed[i]);
	if (shown < c->failed_count)
		fprintf(out, "... %zu more\n", c->failed_count - shown);
	if (most)
		put_check_block(out, c, c->failed_count + 1, most);
}

static void put_limits(FILE *out, const struct check *c)
{
	fprintf(out, "limit     %s for each row%s (--max-growth); ", limit_words(&c->growth).text,
	        c->growth.share > 0 ? ", 1 MB at least" : "");
	fprintf(out, "all memory %s, ", measure_grown(c->report.measure, c->total_grown).text);
	if (c->has_total)
		fprintf(out, "limit %s%s\n", limit_words(&c->total).text, c->total_failed ? ": FAIL" : "");
	else
		fputs("no limit set\n", out);
}

/* Where no row failed: how that may be read. */
static void put_rows_passed(FILE *out, const struct check *c, size_t rows, const char *limit)
{
	size_t excused = c->accepted_count + c->stopped_count;
	if (excused)
		fprintf(out, "%zu of %zu rows grew by more than %s, which is accepted or has stopped", excused, rows,
		        limit);
	else if (c->garbage)
		fprintf(out, "%zu of %zu rows grew by more than %s and may be garbage", c->garbage, rows, limit);
	else {
		fprintf(out, "none of %zu rows grew by more than %s ", rows, limit);
		put_span(out, c);
	}
}

/* Below what all memory did. */
static void put_rows_beside(FILE *out, const struct check *c)
{
	if (c->result != CHECK_FAIL || c->failed_count)
		return;
	fputs("rows      ", out);
	put_rows_passed(out, c, c->judged, limit_words(&c->growth).text);
	fputc('\n', out);
}

static void put_growth_seen(FILE *out, const struct check *c)
{
	double seen = jprof_series_info(c->report.loaded->series)->seen;
	if (seen > 0)
		fprintf(out, "seen      growth of %s or more in a new row; others by their intervals\n",
		        measure_in(c->report.measure, seen).text);
}

/* What grew by more than a row may, and is no row that can fail. */
static void put_counted(FILE *out, const struct check *c)
{
	for (size_t i = 0; i < c->counted_count; i++) {
		fprintf(out, "%s%s  %s: %s\n", i ? "          " : "counted   ",
		        diff_growth_words(&c->report, c->counted[i]).text, name_of_grown(c->counted[i]),
		        c->has_total ? "in all memory alone" : "in all memory alone (--max-total)");
	}
}

static void put_baseline_words(FILE *out, const struct check *c)
{
	size_t unmatched = 0;
	if (c->accepted_count)
		fprintf(out, "accepted  %zu row%s, by %s\n", c->accepted_count, c->accepted_count > 1 ? "s" : "",
		        c->baseline_path);
	if (c->stopped_count)
		fprintf(out, "stopped   %zu row%s grew by more, but only once, in turnover, or in free slots:\n",
		        c->stopped_count, c->stopped_count > 1 ? "s" : "");
	for (size_t i = 0; i < c->stopped_count && c->report.thrift < 2; i++)
		put_grown_line(out, c, "          ", c->stopped[i]);
	for (size_t i = 0; i < c->baseline.count; i++)
		if (!c->baseline.items[i].matched) {
			fputs(unmatched++ ? "          " : "unused    ", out);
			terminal_put(out, c->baseline.items[i].method);
			fputc('\n', out);
		}
}

/* On a terminal what is too long goes on below its beginning. */
static void put_hanging(FILE *out, const struct check *c, void (*put)(FILE *, const struct check *))
{
	enum { before = 10 };
	char *text = NULL;
	size_t size;
	FILE *memory = c->report.lines ? shortage_note(open_memstream(&text, &size)) : NULL;
	put(memory ? memory : out, c);
	if (memory && shortage_close(memory, &text))
		for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			bool fits = strlen(line) <= c->report.columns;
			fprintf(out, fits ? "%s\n" : "%.10s", line);
			if (!fits)
				terminal_wrap_after(out, before, line + before, c->report.columns);
		}
	free(text);
}

static void put_how_to_accept(FILE *out, const struct check *c)
{
	(void)c;
	fputs("Accept:   add --update-baseline to the same command, and commit the file\n", out);
}

static void put_check_next(FILE *out, const struct check *c)
{
	struct typed look = { 0 };
	diff_add_page(&look, &c->report);
	if (!look.failed)
		fprintf(out, "Look:     %s\n", look.text);
	if (c->failed_count)
		put_hanging(out, c, put_how_to_accept);
}

/* "FAIL: all memory grew by 108 MB from boot to steady (2 minutes), and may by 50 MB; most of it is freed, kept by
 * jemalloc, +57.0 MB (53 %)" */
static void put_failed_total(FILE *out, const struct check *c)
{
	const struct jprof_grown *most = diff_most_grown(c->report.loaded->series);
	fprintf(out, "FAIL: all memory grew by %s ", measure_in(c->report.measure, c->total_grown).text);
	put_span(out, c);
	fprintf(out, ", and may by %s", limit_words(&c->total).text);
	if (!most)
		return;
	fputs("; what grew most is ", out);
	put_visible_name(out, most);
	fprintf(out, ", %s", diff_growth_words(&c->report, most).text);
	if (most->whole.growth <= c->total_grown)
		fprintf(out, ", %.0f %% of that", most->whole.growth * 100 / c->total_grown);
}

static void put_result(FILE *out, const struct check *c)
{
	size_t rows = c->judged;
	const struct measured limit = limit_words(&c->growth);
	if (c->result == CHECK_CANNOT_TELL) {
		fprintf(out, "CANNOT TELL: %s", c->why);
	} else if (c->failed_count) {
		fprintf(out, "FAIL: %zu of %zu rows grew by more than %s ", c->failed_count, rows, limit.text);
		put_span(out, c);
	} else if (c->total_failed) {
		put_failed_total(out, c);
	} else {
		fputs("PASS: ", out);
		put_rows_passed(out, c, rows, limit.text);
	}
}

static void put_wrapped_result(FILE *out, const struct check *c)
{
	char *text = NULL;
	size_t len;
	FILE *plain = shortage_note(open_memstream(&text, &len));
	if (!plain)
		return;
	put_result(plain, c);
	if (shortage_close(plain, &text))
		terminal_wrap(out, text, c->report.columns);
	free(text);
}

/* Words and what they are about, from the limits on. */
static void put_what_was_judged(FILE *out, const struct check *c)
{
	if (c->result != CHECK_CANNOT_TELL)
		put_limits(out, c);
	put_rows_beside(out, c);
	put_growth_seen(out, c);
	if (c->report.thrift < 2)
		put_counted(out, c);
	put_baseline_words(out, c);
}

static void put_check_text(FILE *out, const void *check, unsigned thrift)
{
	struct check thrifty = *(const struct check *)check;
	const struct check *c = &thrifty;
	thrifty.report.thrift = thrift;
	diff_put_wrapped_head(out, &c->report);
	put_wrapped_result(out, c);
	if (c->result == CHECK_CANNOT_TELL && c->remedy && *c->remedy)
		fprintf(out, "Do:       %s\n", c->remedy);
	const struct loaded_series *l = c->report.loaded;
	for (size_t i = 0; i < l->about; i++)
		if (!c->why || strcmp(c->why, l->notes[i]))
			terminal_wrap(out, l->notes[i], c->report.columns);
	if (c->result != CHECK_CANNOT_TELL && (c->failed_count || most_of_total(c))) {
		fputc('\n', out);
		put_failed_rows(out, c);
		fputc('\n', out);
	}
	put_hanging(out, c, put_what_was_judged);
	if (c->result == CHECK_FAIL)
		put_check_next(out, c);
}

void check_put_text(FILE *out, const struct check *c)
{
	thrift_put(out, c->report.lines, thrift_of_diff, put_check_text, c);
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

static void put_json_rows(FILE *out, const struct check *c, const char *key, const struct jprof_grown **rows,
                          size_t count)
{
	fprintf(out, ",\n  \"%s\": [", key);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		diff_put_json_row(out, &c->report, rows[i]);
	}
	fputs("]", out);
}

void check_put_json(FILE *out, const struct check *c)
{
	const struct jprof_series_info *info = jprof_series_info(c->report.loaded->series);
	json_print(out, "{\n  \"jprof_check\": 1, \"result\": %s, \"why\": %s, \"judged\": %zu,\n  ",
	           results[c->result], c->why, c->judged);
	json_print(out,
	           "\"limit\": %f, \"limit_percent\": %g, \"seen\": %f, \"total_growth\": %f, \"total_failed\": %i",
	           c->growth.share > 0 ? NAN : c->growth.bytes, c->growth.share * 100, info->seen, c->total_grown,
	           c->total_failed);
	put_json_rows(out, c, "failed", c->failed, c->failed_count);
	put_json_rows(out, c, "accepted", c->accepted, c->accepted_count);
	put_json_rows(out, c, "stopped", c->stopped, c->stopped_count);
	diff_put_json_notes(out, c->report.loaded);
	fputs(",\n  \"unused\": [", out);
	for (size_t i = 0, count = 0; i < c->baseline.count; i++)
		if (!c->baseline.items[i].matched)
			json_print_at(out, count++, "%s", c->baseline.items[i].method);
	fputs("]\n}\n", out);
}

/* ---- GitHub ------------------------------------------------------------------------------------------------- */

/* As the runner's toolkit escapes: "%", line ends, and in properties ":" and ",". */
static void put_workflow_text(FILE *out, const char *text, bool property)
{
	for (; *text; text++)
		if (strchr("%\r\n", *text) || (property && strchr(":,", *text)))
			fprintf(out, "%%%02X", (unsigned char)*text);
		else
			fputc(*text, out);
}

/* "file=app/a.rb,line=7,": as the row shows it, below the application's directory. */
static void put_annotated_place(FILE *out, const struct jprof_grown *row, const char *name)
{
	struct jp_strbuf shown = { 0 };
	size_t end = row->line ? strcspn(name, ":") : 0;
	jp_strbuf_visible(&shown, row->file);
	const char *path = shortage_text(&shown);
	bool below = end && name[end] == ':' && end < shown.len && !strncmp(path + shown.len - end, name, end);
	fputs("file=", out);
	put_workflow_text(out, below ? path + shown.len - end : path, true);
	if (row->line)
		fprintf(out, ",line=%u", row->line);
	fputc(',', out);
	jp_strbuf_release(&shown);
}

static void put_annotation(FILE *out, const struct check *c, const struct jprof_grown *row)
{
	struct jp_strbuf name = { 0 }, title = { 0 };
	jp_strbuf_visible(&name, name_of_grown(row));
	jp_strbuf_printf(&title, "jprof: %s", measure_grown(c->report.measure, row->whole.growth).text);
	fputs("::error ", out);
	if (row->file)
		put_annotated_place(out, row, shortage_text(&name));
	fputs("title=", out);
	put_workflow_text(out, shortage_text(&title), true);
	fputs("::", out);
	put_workflow_text(out, shortage_text(&name), false);
	fprintf(out, " (%s)\n", jprof_verdict_words(row->verdict)->shown);
	jp_strbuf_release(&name);
	jp_strbuf_release(&title);
}

void check_put_annotations(FILE *out, const struct check *c)
{
	const struct jprof_grown *most = most_of_total(c);
	if (c->total_failed) {
		fputs("::error title=jprof::all memory grew by more than it may", out);
		if (most) {
			fputs("; most of that is ", out);
			put_workflow_text(out, name_of_grown(most), false);
		}
		fputc('\n', out);
	}
	for (size_t i = 0; i < c->failed_count; i++)
		put_annotation(out, c, c->failed[i]);
}

void check_put_summary(FILE *out, const struct check *c)
{
	char *text = NULL;
	size_t len;
	FILE *plain = shortage_note(open_memstream(&text, &len));
	if (!plain)
		return;
	check_put_text(plain, c);
	if (shortage_close(plain, &text)) {
		for (char *p = text; *p; p++)
			if (*p == '`')
				*p = '\'';
		fprintf(out, "### jprof check\n\n```\n%s```\n\n", text);
	}
	free(text);
	diff_put_markdown(out, &c->report);
}
