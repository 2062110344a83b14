#include "answers/check_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff_json.h"
#include "answers/measure.h"
#include "cli/jsonprint.h"
#include "cli/names.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "cli/thrift.h"

enum { most_blocks = 5, most_titles = 3 };

const char *check_key(enum check_result result)
{
	static const char *const keys[] = {
		[CHECK_PASS] = "pass",
		[CHECK_FAIL] = "fail",
		[CHECK_CANNOT_TELL] = "cannot_tell",
	};
	return keys[result];
}

/* ---- text -------------------------------------------------------------------------------------------------- */

/* "warm to soak2 (20 minutes)" */
static void add_span(struct jp_strbuf *to, const struct check *c)
{
	const struct loaded_series *l = c->report.loaded;
	double seconds = jprof_series_info(l->series)->seconds;
	char first[snapshot_label_most], last[snapshot_label_most];
	snapshot_label(l->paths[0], first);
	snapshot_label(l->paths[l->count - 1], last);
	jp_strbuf_printf(to, "from %s to %s", first, last);
	if (seconds > 0)
		jp_strbuf_printf(to, " (%s)", time_span(seconds).text);
}

static void add_grown_name(struct jp_strbuf *to, const struct jprof_grown *row)
{
	jp_strbuf_visible(to, name_of_grown(row));
	jp_strbuf_str(to, row->part == JPROF_PART_LIVE ? "" : " (not in the profile)");
}

static void put_check_block(FILE *out, const struct check *c, size_t number, const struct jprof_grown *row)
{
	const struct measured grew = diff_growth_words(&c->report, row);
	struct jp_strbuf name = { 0 };
	add_grown_name(&name, row);
	const char *words = shortage_text(&name);
	size_t used = 5 + terminal_columns(grew.text), columns = c->report.lines ? c->report.columns : SIZE_MAX;
	bool below = terminal_columns(words) > columns - used;
	used = below ? 3 : used;
	fprintf(out, "%zu  %s%s", number, grew.text, below ? "\n   " : "  ");
	terminal_put_place(out, words, columns - used);
	diff_put_source(out, &c->report, row, used);
	if (number <= (c->report.thrift ? 1 : most_blocks))
		diff_put_details(out, &c->report, row);
	jp_strbuf_release(&name);
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

/* Where no row failed: how that may be read. */
static void add_rows_passed(struct jp_strbuf *to, const struct check *c, size_t rows, const char *limit)
{
	size_t excused = c->accepted_count + c->stopped_count;
	if (excused)
		jp_strbuf_printf(to, "%zu of %zu rows grew by more than %s, which is accepted or has stopped", excused,
		                 rows, limit);
	else if (c->garbage)
		jp_strbuf_printf(to, "%zu of %zu rows grew by more than %s and may be garbage", c->garbage, rows,
		                 limit);
	else {
		jp_strbuf_printf(to, "none of %zu rows grew by more than %s ", rows, limit);
		add_span(to, c);
	}
}

/* "FAIL: all memory grew by 108 MB from boot to steady (2 minutes), and may by 50 MB; most of it is freed, kept by
 * jemalloc, +57.0 MB (53 %)" */
static void add_failed_total(struct jp_strbuf *to, const struct check *c)
{
	const struct jprof_grown *most = diff_most_grown(c->report.loaded->series);
	jp_strbuf_printf(to, "FAIL: all memory grew by %s ", measure_in(c->report.measure, c->total_grown).text);
	add_span(to, c);
	jp_strbuf_printf(to, ", and may by %s", limit_words(&c->total).text);
	if (!most)
		return;
	jp_strbuf_str(to, "; what grew most is ");
	add_grown_name(to, most);
	jp_strbuf_printf(to, ", %s", diff_growth_words(&c->report, most).text);
	if (most->whole.growth <= c->total_grown)
		jp_strbuf_printf(to, ", %.0f %% of that", most->whole.growth * 100 / c->total_grown);
}

static void add_result(struct jp_strbuf *to, const struct check *c)
{
	size_t rows = c->judged;
	const struct measured limit = limit_words(&c->growth);
	if (c->result == CHECK_CANNOT_TELL) {
		jp_strbuf_printf(to, "CANNOT TELL: %s", c->why);
	} else if (c->failed_count) {
		jp_strbuf_printf(to, "FAIL: %zu of %zu rows grew by more than %s ", c->failed_count, rows, limit.text);
		add_span(to, c);
	} else if (c->total_failed) {
		add_failed_total(to, c);
	} else {
		jp_strbuf_str(to, "PASS: ");
		add_rows_passed(to, c, rows, limit.text);
	}
}

static struct jp_strbuf *add_aside(struct answer *a, const char *label)
{
	return answer_add_labelled(a, ANSWER_ASIDE, label);
}

static void add_limits(struct answer *a, const struct check *c)
{
	struct jp_strbuf *text = add_aside(a, "limit");
	jp_strbuf_printf(text, "%s for each row%s (--max-growth); ", limit_words(&c->growth).text,
	                 c->growth.share > 0 ? ", 1 MB at least" : "");
	jp_strbuf_printf(text, "all memory %s, ", measure_grown(c->report.measure, c->total_grown).text);
	if (c->has_total)
		jp_strbuf_printf(text, "limit %s%s", limit_words(&c->total).text, c->total_failed ? ": FAIL" : "");
	else
		jp_strbuf_str(text, "no limit set");
}

/* What grew by more than a row may, and is no row that can fail. */
static void add_counted(struct answer *a, const struct check *c)
{
	for (size_t i = 0; i < c->counted_count; i++)
		jp_strbuf_printf(add_aside(a, i ? "" : "counted"), "%s  %s: in all memory alone%s",
		                 diff_growth_words(&c->report, c->counted[i]).text, name_of_grown(c->counted[i]),
		                 c->has_total ? "" : " (--max-total)");
}

static void add_stopped(struct jp_strbuf *to, const struct check *c, const struct jprof_grown *row)
{
	const struct source_place place = source_place(row->name, row->file, row->line);
	jp_strbuf_printf(to, "%s  ", diff_growth_words(&c->report, row).text);
	add_grown_name(to, row);
	jp_strbuf_str(to, *place.text ? "  " : "");
	jp_strbuf_visible(to, place.text);
}

static void add_baseline(struct answer *a, const struct check *c)
{
	const char *label = "unused";
	if (c->accepted_count)
		jp_strbuf_printf(add_aside(a, "accepted"), "%zu row%s, by %s", c->accepted_count,
		                 c->accepted_count > 1 ? "s" : "", c->baseline_path);
	if (c->stopped_count)
		jp_strbuf_printf(add_aside(a, "stopped"),
		                 "%zu row%s grew by more, but only once, in turnover, or in free slots:",
		                 c->stopped_count, c->stopped_count > 1 ? "s" : "");
	for (size_t i = 0; i < c->stopped_count && c->report.thrift < 2; i++)
		add_stopped(add_aside(a, ""), c, c->stopped[i]);
	for (size_t i = 0; i < c->baseline.count; i++)
		if (!c->baseline.items[i].matched) {
			jp_strbuf_visible(add_aside(a, label), c->baseline.items[i].method);
			label = "";
		}
}

/* Words and what they are about, from the limits on. */
static void add_what_was_judged(struct answer *a, const struct check *c)
{
	double seen = jprof_series_info(c->report.loaded->series)->seen;
	if (c->result != CHECK_CANNOT_TELL)
		add_limits(a, c);
	if (c->result == CHECK_FAIL && !c->failed_count) /* below what all memory did */
		add_rows_passed(add_aside(a, "rows"), c, c->judged, limit_words(&c->growth).text);
	if (seen > 0)
		jp_strbuf_printf(add_aside(a, "seen"), "growth of %s or more in a new row; others by their intervals",
		                 measure_in(c->report.measure, seen).text);
	if (c->report.thrift < 2)
		add_counted(a, c);
	add_baseline(a, c);
}

/* On a terminal what is too long goes on below its beginning. */
static void put_asides(FILE *out, const struct check *c, struct answer *asides)
{
	answer_put_text(out, asides, c->report.lines ? c->report.columns : UINT_MAX);
	answer_release(asides);
}

static void put_check_next(FILE *out, const struct check *c)
{
	struct typed look = { 0 };
	diff_add_page(&look, &c->report);
	if (!look.failed)
		fprintf(out, "Look:     %s\n", look.text);
	if (!c->failed_count)
		return;
	struct answer accept = { 0 };
	jp_strbuf_str(add_aside(&accept, "Accept:"), "add --update-baseline to the same command, and commit the file");
	put_asides(out, c, &accept);
}

static void put_check_text(FILE *out, const void *check, unsigned thrift)
{
	struct check thrifty = *(const struct check *)check;
	const struct check *c = &thrifty;
	thrifty.report.thrift = thrift;
	struct jp_strbuf result = { 0 };
	struct answer judged = { 0 };
	diff_put_head(out, &c->report);
	add_result(&result, c);
	answer_put_paragraph(out, &result, c->report.columns);
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
	add_what_was_judged(&judged, c);
	put_asides(out, c, &judged);
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
	           check_key(c->result), c->why, c->judged);
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
	FILE *plain = shortage_note(textstream_open(&text, &len));
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
