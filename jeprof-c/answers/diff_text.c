#include "answers/diff_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "cli/thrift.h"

enum {
	value_wide = 9,
	verdict_wide = 15, /* with two blanks behind it; some are longer */
	name_least = 16,
	most_columns = 3,
	bar_most = 8,
	narrow = 60 /* columns of a terminal; below, a row has its growth and its verdict alone */
};

/* ---- columns ----------------------------------------------------------------------------------------------- */

/* How the table is laid out. */
struct diff_columns {
	struct measure measure;
	size_t values; /* snapshots that have a column: all, or the first and the last; 0: there is no room for any */
	int verdict;   /* columns of the verdict */
	size_t bar;    /* columns of the course of all of them; 0: none */
	unsigned room; /* for names */
};

static struct diff_columns lay_out_diff(const struct diff_report *r)
{
	const struct jprof_series_info *info = jprof_series_info(r->loaded->series);
	struct diff_columns c = { .values = info->snapshots <= most_columns ? info->snapshots : 2,
		                  .measure = r->measure,
		                  .verdict = verdict_wide };
	for (size_t i = 0; i < jprof_series_count(r->loaded->series); i++) {
		int wide = (int)strlen(jprof_verdict_words(jprof_series_at(r->loaded->series, i)->verdict)->shown) + 2;
		c.verdict = wide > c.verdict ? wide : c.verdict;
	}
	if (r->lines && r->columns < narrow)
		c.values = 0;
	c.bar = info->snapshots <= most_columns || !c.values ? 0
	        : info->snapshots < bar_most                 ? info->snapshots
	                                                     : bar_most;
	unsigned taken = 8 + (c.values ? 7 : 0) + (unsigned)c.values * value_wide + 2 + (unsigned)c.verdict +
	                 (c.bar ? (unsigned)c.bar + 2 : 0);
	c.room = r->columns > taken + name_least ? r->columns - taken : name_least;
	return c;
}

void snapshot_label(const char *path, char label[snapshot_label_most])
{
	static const char *const ends[] = { ".gz", ".zst", ".xz", ".jprof", ".heap" };
	jprof_visible(jp_basename(path), label, snapshot_label_most);
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		size_t len = strlen(label), end = strlen(ends[i]);
		if (len > end && !strcmp(label + len - end, ends[i]))
			label[len - end] = '\0';
	}
}

/* How much of their beginning all snapshots' names share, up to a separator; 0 where each of them fits. */
static size_t shared_beginning(const struct loaded_series *l)
{
	char first[snapshot_label_most], other[snapshot_label_most];
	snapshot_label(l->paths[0], first);
	size_t same = strlen(first), shared = 0;
	bool too_long = terminal_columns(first) >= value_wide;
	for (size_t i = 1; i < l->count; i++) {
		size_t n = 0;
		snapshot_label(l->paths[i], other);
		too_long = too_long || terminal_columns(other) >= value_wide;
		while (n < same && other[n] == first[n])
			n++;
		same = n;
	}
	for (size_t n = 0; too_long && n < same; n++)
		if (strchr("-_. ", first[n]))
			shared = n + 1;
	return shared;
}

/* In eight columns: what does not fit is taken off the front. */
static void put_snapshot_label(FILE *out, const char *path, size_t shared)
{
	char label[snapshot_label_most];
	snapshot_label(path, label);
	const char *shown = strlen(label) > shared ? label + shared : label;
	while (terminal_columns(shown) >= value_wide)
		do
			shown++;
		while (((unsigned char)*shown & 0xc0) == 0x80);
	fprintf(out, "%*s%s", value_wide - (int)terminal_columns(shown), "", shown);
}

/* A number of the table: one digit after the point. */
static void put_cell(FILE *out, const struct diff_columns *c, double bytes)
{
	if (isnan(bytes))
		fprintf(out, "%*s", value_wide, "");
	else
		fprintf(out, "%*.1f", value_wide, bytes / c->measure.bytes + 0.0);
}

static void put_snapshot_values(FILE *out, const struct diff_columns *c, const double *values, size_t snapshots)
{
	for (size_t i = 0; i < c->values; i++)
		put_cell(out, c, values[i + 1 == c->values ? snapshots - 1 : i]);
}

/* The first and the last of them. */
static void put_end_values(FILE *out, const struct diff_columns *c, double first, double last)
{
	for (size_t i = 0; i < c->values; i++)
		put_cell(out, c, i == 0 ? first : i + 1 == c->values ? last : NAN);
	fprintf(out, "%*s", c->bar ? (int)c->bar + 2 : 0, "");
}

/* The course of a row: a sign for each snapshot, from nothing to the most that it had. */
static void put_bar(FILE *out, const struct diff_columns *c, const double *values, size_t snapshots)
{
	static const char signs[] = "_.-=^";
	double most = 0;
	for (size_t i = 0; i < snapshots; i++)
		most = fmax(most, values[i]);
	fputs(c->bar ? "  " : "", out);
	for (size_t i = 0; i < c->bar; i++) {
		double value = values[c->bar > 1 ? i * (snapshots - 1) / (c->bar - 1) : 0];
		fputc(signs[most > 0 && value > 0 ? (int)ceil(value / most * 4) : 0], out);
	}
}

static void put_growth(FILE *out, const struct diff_columns *c, double growth, double half)
{
	double shown = growth / c->measure.bytes;
	fprintf(out, "%+8.1f", fabs(shown) < 0.05 ? 0.0 : shown);
	if (c->values && isnan(half))
		fprintf(out, "%7s", "");
	else if (c->values)
		fprintf(out, "%7.*f", half / c->measure.bytes < 9.95 ? 1 : 0, half / c->measure.bytes);
}

double diff_half_interval(const struct jprof_range *range)
{
	return isnan(range->error) ? NAN : (range->high - range->low) / 2;
}

struct measured diff_growth_words(const struct diff_report *r, const struct jprof_grown *row)
{
	struct measure m = measure_fit(r->measure, row->whole.growth);
	double half = diff_half_interval(&row->whole.range);
	struct measured words = measure_grown(m, row->whole.growth);
	size_t len = strlen(words.text);
	if (!isnan(half))
		snprintf(words.text + len, sizeof words.text - len, " (%s%.24s)", terminal_plus_minus(),
		         measure_number(m, half).text);
	return words;
}

/* On a terminal in so many columns, else whole. */
static void put_short(FILE *out, const struct diff_report *r, const char *name, unsigned room)
{
	if (r->lines)
		terminal_put_place(out, name, room);
	else
		terminal_put(out, name);
}

/* The name of a row, of a stack that of its innermost function. */
static void put_grown_name(FILE *out, const struct diff_report *r, const struct jprof_grown *row, unsigned room)
{
	const char *name = name_of_grown(row), *end = strstr(name, diff_caller_mark);
	char *inner = diff_has_stack_lines(r) && end ? shortage_note(strndup(name, (size_t)(end - name))) : NULL;
	put_short(out, r, inner ? inner : name, room);
	free(inner);
}

void diff_put_source(FILE *out, const struct diff_report *r, const struct jprof_grown *row, size_t used)
{
	const struct source_place place = source_place(row->name, row->file, row->line);
	size_t wide = used + terminal_columns(row->name) + 2 + terminal_columns(place.text);
	if (*place.text)
		fputs(r->lines && wide > r->columns ? "\n   at       " : "  ", out);
	terminal_put(out, place.text);
	fputc('\n', out);
}

static const char colour_end[] = "\033[0m";

static const char *colour_of(enum jprof_verdict verdict)
{
	switch (verdict) {
	case JPROF_LEAK_SUSPECT: return "\033[1;31m";
	case JPROF_GROWING: return "\033[31m";
	case JPROF_MAYBE_GARBAGE: return "\033[33m";
	default: return "";
	}
}

/* ---- the table --------------------------------------------------------------------------------------------- */

/* What Ruby's GC heap holds more of, below its row, types and then classes: "+112.0 ... String (+200,000)". Where no GC
 * ran it may be garbage. */
static void put_heap_objects(FILE *out, const struct diff_report *r, const struct diff_columns *c)
{
	const size_t most_of_each = r->thrift > 1 ? 0 : r->thrift ? 1 : 3;
	const struct jprof_object_change *o;
	const double least = 0.05 * c->measure.bytes;
	const bool collected = jprof_series_info(r->loaded->series)->collected;
	const char *garbage = collected ? "" : jprof_verdict_words(JPROF_MAYBE_GARBAGE)->shown;
	size_t put[2] = { 0 };
	for (size_t i = 0; (o = jprof_series_object(r->loaded->series, i)); i++) {
		double more = o->bytes[1] - o->bytes[0], objects = o->count[1] - o->count[0];
		if (more < least || put[o->is_class]++ >= most_of_each)
			continue;
		put_growth(out, c, more, NAN);
		put_end_values(out, c, o->bytes[0], o->bytes[1]);
		fprintf(out, "  %-*s  ", c->verdict, garbage);
		terminal_put(out, o->name);
		fprintf(out, " (%s%s)\n", objects < 0 ? "-" : "+", about_count(fabs(objects)).text);
	}
}

/* A row's numbers, and what stands in the column of verdicts. */
static void put_row_numbers(FILE *out, const struct diff_report *r, const struct diff_columns *c,
                            const struct jprof_grown *row, const char *verdict)
{
	size_t snapshots = jprof_series_info(r->loaded->series)->snapshots;
	const char *colour = r->colour && *verdict ? colour_of(row->verdict) : "";
	put_growth(out, c, row->whole.growth, diff_half_interval(&row->whole.range));
	put_snapshot_values(out, c, row->values, snapshots);
	put_bar(out, c, row->values, snapshots);
	fprintf(out, "  %s%-*s%s", colour, c->verdict, verdict, *colour ? colour_end : "");
}

static const char gc_tables[] = "GC bookkeeping";

/* The GC's tables, below its heap; those that changed by less than is worth a line have none. */
static void put_heap_tables(FILE *out, const struct diff_report *r, const struct diff_columns *c)
{
	const struct jprof_grown *row;
	for (size_t i = 0; (row = jprof_series_at(r->loaded->series, i)); i++) {
		if (!row->of_gc_heap || fabs(row->whole.growth) < 0.05 * c->measure.bytes)
			continue;
		put_row_numbers(out, r, c, row, "");
		const char *group = strstr(row->name, gc_tables);
		fprintf(out, "  %s", group ? gc_tables : "its tables: ");
		if (!group)
			put_grown_name(out, r, row, c->room > sizeof "its tables: " ? c->room - 12 : 1);
		fputc('\n', out);
	}
}

static void put_table_row(FILE *out, const struct diff_report *r, const struct diff_columns *c,
                          const struct jprof_grown *row)
{
	put_row_numbers(out, r, c, row, jprof_verdict_words(row->verdict)->shown);
	put_grown_name(out, r, row, c->room);
	fputc('\n', out);
	if (diff_has_stack_lines(r) && row->part == JPROF_PART_LIVE)
		diff_put_callers(out, r, row);
	if (row->part == JPROF_PART_GC_HEAP) {
		put_heap_objects(out, r, c);
		if (!r->thrift)
			put_heap_tables(out, r, c);
	}
}

static void put_diff_heads(FILE *out, const struct diff_report *r, const struct diff_columns *c)
{
	const struct loaded_series *l = r->loaded;
	static const char *const words[] = {
		[BY_FILE] = "allocated in", [BY_GROUP] = "what it is",           [BY_TAG] = "allocated for",
		[BY_SIZE] = "what it is",   [BY_REFERRER] = "what points to it",
	};
	int by = l->by;
	bool lines = by == BY_USUAL || by == BY_LINE;
	bool other = by >= 0 && (size_t)by < sizeof words / sizeof *words && words[by];
	const struct jprof_series_info *info = jprof_series_info(l->series);
	if (info->counted)
		by = info->referrers ? BY_REFERRER : BY_SIZE, other = true;
	const char *where = other ? words[by] : lines ? "allocated at" : "allocated by";
	fprintf(out, "%8s", "growth");
	if (c->values)
		fprintf(out, "%*s%s95%%", 7 - 3 - (int)terminal_columns(terminal_plus_minus()), "",
		        terminal_plus_minus());
	for (size_t i = 0; i < c->values; i++)
		put_snapshot_label(out, l->paths[i + 1 == c->values ? l->count - 1 : i], shared_beginning(l));
	if (c->bar)
		fprintf(out, "  %-*s", (int)c->bar, "time");
	fprintf(out, "  %-*s%s", c->verdict, "verdict", where);
	unsigned room = c->room > strlen(where) + 4 ? c->room - (unsigned)strlen(where) : 6;
	fprintf(out, "%*s%s)\n", (int)room - 3, "(", c->measure.name);
}

/* What all rows that are not shown have together. */
struct rest_of_rows {
	double growth, square, values[2];
	size_t count;
};

static void add_to_rest(struct rest_of_rows *rest, const struct jprof_grown *row, size_t snapshots)
{
	double half = diff_half_interval(&row->whole.range);
	rest->growth += row->whole.growth;
	rest->square += isnan(half) ? 0 : half * half;
	rest->values[0] += row->values[0];
	rest->values[1] += row->values[snapshots - 1];
	rest->count++;
}

const double diff_least_outside = 1 << 20; /* bytes: what lies outside and changed by less has no line */

/* Rows without a change worth a line of their own, where not all are wanted. */
bool diff_is_quiet(const struct jprof_grown *row)
{
	if (row->part != JPROF_PART_LIVE)
		return row->verdict != JPROF_LEAK_SUSPECT && row->verdict != JPROF_GROWING &&
		       fabs(row->whole.growth) < diff_least_outside;
	bool unchanged = row->whole.growth == 0 || row->whole.range.within_error;
	switch (row->verdict) {
	case JPROF_WITHIN_ERROR:
	case JPROF_MINOR_CHANGE: return true;
	case JPROF_FROM_STARTUP:
	case JPROF_LEVELLED_OFF:
	case JPROF_ONE_JUMP:
	case JPROF_TURNOVER: return unchanged;
	default: return false;
	}
}

/* `word`: what can be said of all of them. */
static void put_quiet_rest(FILE *out, const struct diff_columns *c, const struct rest_of_rows *rest, const char *word,
                           const char *hint)
{
	if (!rest->count)
		return;
	put_growth(out, c, rest->growth, sqrt(rest->square));
	put_end_values(out, c, rest->values[0], rest->values[1]);
	fprintf(out, "  %-*s%zu more%s\n", c->verdict, word, rest->count, hint);
}

/* At most `top` rows; 0: all, and quiet ones, too. */
static void put_diff_rows(FILE *out, const struct diff_report *r, const struct diff_columns *c, size_t top, bool quiet)
{
	const struct jprof_series *series = r->loaded->series;
	struct rest_of_rows rest = { .square = jprof_series_info(series)->counted ? NAN : 0 };
	size_t shown = 0, snapshots = jprof_series_info(series)->snapshots;
	bool all_quiet = true, sampled = false, heap_is_shown = false;
	for (size_t i = 0; i < jprof_series_count(series) && (!top || i < top); i++)
		heap_is_shown = heap_is_shown || (jprof_series_at(series, i)->part == JPROF_PART_GC_HEAP &&
		                                  (quiet || !diff_is_quiet(jprof_series_at(series, i))));
	for (size_t i = 0; i < jprof_series_count(series); i++) {
		const struct jprof_grown *row = jprof_series_at(series, i);
		if (row->of_gc_heap && heap_is_shown)
			continue;
		if ((quiet || !diff_is_quiet(row)) && (!top || shown < top)) {
			put_table_row(out, r, c, row);
			shown++;
		} else if (row->part == JPROF_PART_LIVE) {
			add_to_rest(&rest, row, snapshots);
			all_quiet = all_quiet && diff_is_quiet(row);
			sampled = sampled || row->verdict != JPROF_MINOR_CHANGE;
		}
	}
	const enum jprof_verdict word = sampled ? JPROF_WITHIN_ERROR : JPROF_MINOR_CHANGE;
	put_quiet_rest(out, c, &rest, all_quiet ? jprof_verdict_words(word)->shown : "", r->live ? "" : " (--top=0)");
}

/* ---- the end ----------------------------------------------------------------------------------------------- */

static void put_all_of_malloc(FILE *out, const struct diff_report *r, const struct diff_columns *c, bool outside)
{
	const struct jprof_grown *all = jprof_series_malloc(r->loaded->series);
	size_t snapshots = jprof_series_info(r->loaded->series)->snapshots;
	if (isnan(all->whole.growth)) /* of a malloc that is not jemalloc */
		return;
	put_growth(out, c, all->whole.growth, diff_half_interval(&all->whole.range));
	put_snapshot_values(out, c, all->values, snapshots);
	put_bar(out, c, all->values, snapshots);
	fprintf(out, "  all of malloc%s%s\n", jprof_series_info(r->loaded->series)->slots ? " and Ruby's objects" : "",
	        outside ? "" : "; RSS is not in a dump");
}

/* The part outside that grew most; NULL: none did. */
static const struct jprof_grown *most_outside(const struct jprof_series *series)
{
	const struct jprof_grown *most = NULL;
	for (size_t i = 0; i < jprof_series_count(series); i++) {
		const struct jprof_grown *row = jprof_series_at(series, i);
		if (row->part != JPROF_PART_LIVE && row->whole.growth > (most ? most->whole.growth : 0))
			most = row;
	}
	return most;
}

static void put_outside(FILE *out, const struct diff_report *r, const struct diff_columns *c)
{
	const struct jprof_series *series = r->loaded->series;
	const struct jprof_series_info *info = jprof_series_info(series);
	const struct jprof_grown *all = jprof_series_malloc(series), *most = most_outside(series);
	double first = info->total[0] - all->values[0], last = info->total[1] - all->values[info->snapshots - 1];
	const char *where = info->counted ? "  past live memory" : "  not in the profile";
	if (isnan(first) || isnan(last))
		return;
	put_growth(out, c, last - first, NAN);
	put_end_values(out, c, first > 0 ? first : NAN, last > 0 ? last : NAN);
	fputs(where, out);
	if (most && most->whole.growth >= 0.05 * c->measure.bytes) {
		struct jp_strbuf text = { 0 };
		const char *words = name_of_grown(most);
		jp_strbuf_printf(&text, " (%.*s: %+.1f)", (int)strcspn(words, ":,"), words,
		                 most->whole.growth / c->measure.bytes);
		if (text.len + strlen(where) <= c->verdict + c->room + 2)
			fputs(shortage_text(&text), out);
		jp_strbuf_release(&text);
	}
	fputc('\n', out);
}

/* ---- the whole --------------------------------------------------------------------------------------------- */

static const char *title_of(enum jprof_verdict verdict)
{
	return verdict == JPROF_LEAK_SUSPECT    ? "LEAK SUSPECT"
	       : verdict == JPROF_MAYBE_GARBAGE ? "MAYBE GARBAGE"
	       : verdict == JPROF_ONE_JUMP      ? "ONE JUMP"
	                                        : "GROWING";
}

/* "1  LEAK SUSPECT  +318 MB (+-17)  app/services/price_list.rb:42 PriceList#load" */
static void put_block_title(FILE *out, const struct diff_report *r, const struct jprof_grown *row, size_t number)
{
	enum { least = 40 };
	const char *colour = r->colour ? colour_of(row->verdict) : "", *title = title_of(row->verdict);
	const struct measured grew = diff_growth_words(r, row);
	bool counted = isnan(row->whole.range.error);
	unsigned used =
	    (unsigned)(snprintf(NULL, 0, "%zu  ", number) + (int)strlen(title) + 4 + (int)strlen(grew.text));
	bool below = r->lines && r->columns < narrow;
	fprintf(out, "%zu  %s%s%s  %s%s", number, colour, title, *colour ? colour_end : "", grew.text,
	        below ? "\n   " : "  ");
	used = below ? 3 : used;
	put_grown_name(out, r, row, r->columns > used + least ? r->columns - used : least);
	fputs(counted && !jprof_series_info(r->loaded->series)->counted ? " (not in the profile)" : "", out);
	diff_put_source(out, r, row, used);
}

static void put_blocks(FILE *out, const struct diff_report *r, bool details)
{
	const struct jprof_grown *row;
	for (size_t i = 0; (row = diff_suspect(r->loaded->series, i)); i++) {
		fputs(i ? "" : "\n", out);
		put_block_title(out, r, row, i + 1);
		if (details || i == 0)
			diff_put_details(out, r, row);
	}
}

static void put_series_notes(FILE *out, const struct loaded_series *l, size_t from, size_t to, unsigned columns)
{
	for (size_t i = from; i < to; i++)
		terminal_wrap(out, l->notes[i], columns);
}

/* What is to be known of the snapshots before the answer. */
static void put_what_differs(FILE *out, const struct diff_report *r)
{
	put_series_notes(out, r->loaded, 0, r->loaded->about, r->columns);
	if (jprof_series_info(r->loaded->series)->moved)
		terminal_wrap(
		    out,
		    "Lines may have moved between two builds: where all lines of a method are other ones, its "
		    "rows are matched by path and method.",
		    r->columns);
}

static void put_outlier(FILE *out, const struct diff_report *r)
{
	const struct jprof_series_info *info = jprof_series_info(r->loaded->series);
	struct jp_strbuf text = { 0 };
	if (!*info->outlier)
		return;
	struct measure m = measure_fit(r->measure, info->outlier_growth);
	jp_strbuf_printf(&text, "%s grew by %s %s, no other of its kind by more than %s %s.", info->outlier,
	                 measure_number(m, info->outlier_growth).text, m.name,
	                 measure_number(m, fmax(info->others_growth, 0)).text, m.name);
	answer_put_paragraph(out, &text, r->columns);
}

static void put_upper_part(FILE *out, const struct diff_report *r)
{
	diff_put_head(out, r);
	put_what_differs(out, r);
	if (!jprof_series_info(r->loaded->series)->same_program) { /* there is no growth from one program to another */
		fputc('\n', out);
		return;
	}
	struct jp_strbuf answer = { 0 };
	diff_add_answer(&answer, r);
	answer_put_paragraph(out, &answer, r->columns);
	put_blocks(out, r, !r->lines);
	put_outlier(out, r); /* below what has to stand in the first five lines */
	fputc('\n', out);
}

static void put_lower_part(FILE *out, const struct diff_report *r, const struct diff_columns *c)
{
	const struct jprof_series_info *info = jprof_series_info(r->loaded->series);
	put_all_of_malloc(out, r, c, !isnan(info->total[1]));
	put_outside(out, r, c);
	if (r->thrift < thrift_of_diff)
		diff_put_fragmentation(out, r);
	if (r->loaded->by != r->options->by && r->thrift < thrift_of_diff)
		terminal_wrap(
		    out,
		    "No function with a name grew by more than chance: rows are groups of functions (--by=function).",
		    r->columns);
	if (!r->lines)
		put_series_notes(out, r->loaded, r->loaded->about, r->loaded->note_count, r->columns);
	if (info->ruby && !info->collected && !r->lines)
		diff_put_uncollected(out, r);
	if (info->bound && !r->lines)
		terminal_wrap(out,
		              "Errors are upper bounds: only epochs (jprof run) or prof_accum:true say how much of "
		              "what two snapshots have is the same.",
		              r->columns);
	if (!r->live)
		diff_put_next(out, r);
}

static void put_diff_text(FILE *out, const void *report, unsigned thrift)
{
	struct diff_report thrifty = *(const struct diff_report *)report;
	const struct diff_report *r = &thrifty;
	thrifty.thrift = thrift;
	struct diff_columns c = lay_out_diff(r);
	const struct options *o = &r->options->common;
	char *upper = NULL, *lower = NULL;
	size_t upper_len, lower_len;
	FILE *above = shortage_note(textstream_open(&upper, &upper_len));
	FILE *below = shortage_note(textstream_open(&lower, &lower_len));
	if (above)
		put_upper_part(above, r);
	if (below)
		put_lower_part(below, r, &c);
	bool good = above && below;
	good = (!above || shortage_close(above, &upper)) && good;
	good = (!below || shortage_close(below, &lower)) && good;
	if (good) {
		enum { heads_and_rest = 2, least_rows = 2 };
		size_t taken = thrift_count(upper) + thrift_count(lower) + heads_and_rest;
		size_t fit = r->lines > taken + least_rows ? r->lines - taken : least_rows;
		if (diff_has_stack_lines(r))
			fit = fit / (1 + diff_stack_lines) ? fit / (1 + diff_stack_lines) : 1;
		fwrite(upper, 1, upper_len, out);
		put_diff_heads(out, r, &c);
		put_diff_rows(out, r, &c, o->top != TOP_FITS ? o->top : r->lines ? fit : 0, o->top == 0);
		fwrite(lower, 1, lower_len, out);
	}
	free(upper);
	free(lower);
}

void diff_put_text(FILE *out, const struct diff_report *r)
{
	thrift_put(out, r->options->common.top == TOP_FITS ? r->lines : 0, thrift_of_diff, put_diff_text, r);
}
