/* The head of a diff, and the answer in one or two sentences. */
#include <math.h>
#include <string.h>

#include "answers/diff_text.h"
#include "answers/explain_words.h"
#include "cli/terminal.h"
#include "cli/thrift.h"
#include "report/servicename.h"

const char *name_of_grown(const struct jprof_grown *row)
{
	return row->part == JPROF_PART_LIVE ? row->name : words_of_part(row->part)->words;
}

/* ---- the head ---------------------------------------------------------------------------------------------- */

void diff_add_head(struct jp_strbuf *to, const struct diff_report *r)
{
	const struct jprof_series_info *info = jprof_series_info(r->loaded->series);
	whose_add(to,
	          &(const struct jprof_service){ .title = info->title,
	                                         .program = info->program,
	                                         .started = info->started,
	                                         .processes = info->processes[1],
	                                         .workers = info->workers },
	          NULL);
	if (info->processes[1] > 1 && info->processes[0] && info->processes[0] != info->processes[1])
		jp_strbuf_printf(to, " (%zu in the first)", info->processes[0]);
	if (info->reversed)
		jp_strbuf_printf(to, ", %zu snapshots, of which a later one stands before an earlier one",
		                 info->snapshots);
	else if (isnan(info->seconds))
		jp_strbuf_printf(to, ", %zu %s; no times, so no pace", info->snapshots,
		                 info->processes[1] ? "snapshots" : "dumps");
	else if (info->snapshots > 2)
		jp_strbuf_printf(to, ", %zu snapshots in %s", info->snapshots, time_span(info->seconds).text);
	else
		jp_strbuf_printf(to, ", %s between the snapshots", time_span(info->seconds).text);
	jp_strbuf_str(to, info->ruby && !info->collected ? "; without GC" : "");
}

void diff_put_head(FILE *out, const struct diff_report *r)
{
	struct jp_strbuf head = { 0 };
	diff_add_head(&head, r);
	answer_put_paragraph(out, &head, r->lines ? r->columns : UINT_MAX);
}

/* ---- the answer --------------------------------------------------------------------------------------------- */

/* The i-th row from `first` on, if it has the verdict of that. */
static const struct jprof_grown *behind(const struct jprof_series *series, size_t first, size_t i)
{
	const struct jprof_grown *row = jprof_series_at(series, first + i);
	return row && row->verdict == jprof_series_at(series, first)->verdict ? row : NULL;
}

const struct jprof_grown *diff_suspect(const struct jprof_series *series, size_t i)
{
	const struct jprof_grown *first = jprof_series_at(series, 0), *row = first;
	static const struct {
		enum jprof_verdict verdict;
		size_t most;
	} worth[] = { { JPROF_LEAK_SUSPECT, diff_blocks },
		      { JPROF_GROWING, 1 },
		      { JPROF_ONE_JUMP, 1 },
		      { JPROF_MAYBE_GARBAGE, 1 } };
	for (size_t w = 0; first && w < sizeof worth / sizeof *worth; w++) {
		size_t at = 0;
		while (row && row->verdict != worth[w].verdict)
			row = jprof_series_at(series, ++at);
		if (row)
			return i < worth[w].most ? behind(series, at, i) : NULL;
		row = first;
	}
	return NULL;
}

void diff_find_workers(struct diff_report *r, const struct inputs *inputs)
{
	const struct jprof_grown *rows[diff_blocks], *row;
	size_t count = 0;
	for (; count < diff_blocks && (row = diff_suspect(r->loaded->series, count)); count++)
		rows[count] = row;
	workers_find(r->loaded, inputs, r->options, rows, count, r->shares);
}

static size_t count_verdict(const struct jprof_series *series, enum jprof_verdict verdict, double *growth)
{
	size_t count = 0;
	*growth = 0;
	for (size_t i = 0; i < jprof_series_count(series); i++)
		if (jprof_series_at(series, i)->verdict == verdict) {
			*growth += jprof_series_at(series, i)->whole.growth;
			count++;
		}
	return count;
}

/* All memory at the first and the last snapshot; of dumps what malloc gave. */
static bool all_memory(const struct jprof_series *series, double total[2])
{
	const struct jprof_series_info *info = jprof_series_info(series);
	bool known = !isnan(info->total[0]) && !isnan(info->total[1]);
	for (int i = 0; i < 2; i++)
		total[i] = known ? info->total[i] : jprof_series_malloc(series)->values[i ? info->snapshots - 1 : 0];
	return known;
}

struct measure diff_measure(const struct jprof_series *series)
{
	double total[2];
	all_memory(series, total);
	return measure_for(fmax(total[0], total[1]));
}

void diff_report_open(struct diff_report *r, const struct loaded_series *loaded, const struct diff_options *o,
                      const struct inputs *inputs)
{
	enum { usual_lines = 24 };
	*r = (struct diff_report){
		.loaded = loaded, .options = o, .columns = 80, .measure = diff_measure(loaded->series)
	};
	if (options_screen(&o->common) && o->output != AS_HTML) {
		struct terminal_size size = terminal_size();
		r->columns = size.columns;
		r->lines = thrift_lines(size.lines ? size.lines : usual_lines);
	}
	if (o->output != AS_CSV)
		line_keepers_find(&r->keepers, inputs->dumps[inputs->dump_count - 1], o->common.member);
}

void diff_report_close(struct diff_report *r)
{
	line_keepers_release(&r->keepers);
}

static void add_growth_of_all(struct jp_strbuf *to, const struct diff_report *r)
{
	double total[2];
	bool known = all_memory(r->loaded->series, total);
	struct measure m = r->measure;
	const char *what = known ? "Memory" : "The heap";
	if (total[0] == total[1])
		jp_strbuf_printf(to, "%s did not change: %s %s.", what, measure_number(m, total[1]).text, m.name);
	else
		jp_strbuf_printf(to, "%s %s from %s to %s %s (%s %s).", what, total[1] < total[0] ? "shrank" : "grew",
		                 measure_number(m, total[0]).text, measure_number(m, total[1]).text, m.name,
		                 measure_change(m, total[1] - total[0]).text, m.name);
}

static void add_time_until_limit(struct jp_strbuf *to, const struct jprof_series_info *info)
{
	double left = info->group.limit - info->group.current, pace = info->group_growth / info->seconds;
	enum { month = 30 * 86400 };
	if (!measure_has_pace(info->seconds) || !info->group.known || !isfinite(left) || !(pace > 0) || left <= 0 ||
	    left / pace > month)
		return;
	struct measure m = measure_for(info->group.limit);
	jp_strbuf_printf(to, " At this pace the container's limit of %s %s is reached in %s.",
	                 measure_number(m, info->group.limit).text, m.name, time_left(left / pace).text);
}

/* " makes 64 % of the growth", " grew by 12 MB". */
static void add_share(struct jp_strbuf *to, const struct diff_report *r, double growth, double all, bool several)
{
	if (all > 0 && growth <= all)
		jp_strbuf_printf(to, " make%s %.0f %% of the growth", several ? "" : "s", growth * 100 / all);
	else
		jp_strbuf_printf(to, " grew by %s", measure_in(r->measure, growth).text);
}

/* The growth that each row of the profile would have shown, and a new one: where old objects go as new ones come more
 * is needed. */
static void add_seen(struct jp_strbuf *to, const struct diff_report *r)
{
	const struct jprof_series_info *info = jprof_series_info(r->loaded->series);
	const struct jprof_grown *row;
	double most = info->seen;
	for (size_t i = 0; (row = jprof_series_at(r->loaded->series, i)); i++)
		most = fmax(most, row->seen); /* NAN: counted */
	struct measure m = measure_fit(r->measure, info->seen);
	if (!(info->seen > 0))
		return;
	if (measure_has_pace(info->seconds))
		jp_strbuf_printf(to, " A steady growth of %s", measure_pace(most, info->seconds).text);
	else
		jp_strbuf_printf(to, " A growth of %s %s", measure_number(m, most).text, m.name);
	jp_strbuf_str(to, " or more in any row would have been seen");
	if (strcmp(measure_number(m, most).text, measure_number(m, info->seen).text) != 0)
		jp_strbuf_printf(to, ", and one of %s %s in a new row", measure_number(m, info->seen).text, m.name);
	jp_strbuf_str(to, ".");
}

bool diff_grew_for_sure(const struct jprof_grown *row)
{
	static const double daily = 0.02, least = 1 << 20;
	static const double of_reports = 0.0025; /* accuse a row by chance: docs/internals/statistics.md, "Many rows" */
	const struct jprof_change *c = &row->whole;
	if (isnan(row->chance))
		return c->growth >= fmax(daily * row->values[0], least);
	return c->growth > 0 && row->chance <= of_reports && !c->range.few_samples;
}

const struct jprof_grown *diff_most_grown(const struct jprof_series *series)
{
	const struct jprof_grown *most = NULL, *row;
	for (size_t i = 0; (row = jprof_series_at(series, i)); i++)
		if (diff_grew_for_sure(row) && (!most || row->whole.growth > most->whole.growth))
			most = row;
	return most;
}

static bool has_block(const struct jprof_series *series, const struct jprof_grown *of)
{
	const struct jprof_grown *row;
	for (size_t i = 0; (row = diff_suspect(series, i)); i++)
		if (row == of)
			return true;
	return false;
}

static bool another_grew_more(const struct jprof_series *series, const struct jprof_grown *than)
{
	const struct jprof_grown *row;
	for (size_t i = 0; (row = jprof_series_at(series, i)); i++)
		if (row->whole.growth > than->whole.growth)
			return true;
	return false;
}

/* " What grew most: PriceList#load +316 MB (64 %), levelled off." */
static void add_most_grown(struct jp_strbuf *to, const struct diff_report *r, const struct jprof_grown *most,
                           double all)
{
	bool for_sure = another_grew_more(r->loaded->series, most);
	jp_strbuf_printf(to, " What grew most%s: ", for_sure ? " beyond chance" : "");
	jp_strbuf_visible(to, name_of_grown(most));
	jp_strbuf_printf(to, " %s", measure_grown(r->measure, most->whole.growth).text);
	if (all > 0 && most->whole.growth <= all)
		jp_strbuf_printf(to, " (%.0f %%)", most->whole.growth * 100 / all);
	jp_strbuf_printf(to, ", %s.", jprof_verdict_words(most->verdict)->shown);
}

/* "No row alone grew by more than chance, but all of malloc did: by 20.5 MB (+-6.8)." */
static void add_spread_growth(struct jp_strbuf *to, const struct diff_report *r)
{
	const struct jprof_change *all = &jprof_series_malloc(r->loaded->series)->whole;
	struct measure m = measure_fit(r->measure, all->growth);
	jp_strbuf_printf(to, " No row alone grew by more than chance, but all of malloc did: by %s %s",
	                 measure_number(m, all->growth).text, m.name);
	if (!isnan(all->range.error))
		jp_strbuf_printf(to, " (%s%s)", terminal_plus_minus(),
		                 measure_number(m, (all->range.high - all->range.low) / 2).text);
	jp_strbuf_str(to, ".");
}

/* "No leak suspect. What grew most: PriceList#load +316 MB, levelled off." */
static void add_no_suspect(struct jp_strbuf *to, const struct diff_report *r, double all)
{
	const struct jprof_grown *most = diff_most_grown(r->loaded->series);
	if (!most && series_all_grew(r->loaded->series)) {
		add_spread_growth(to, r);
	} else if (!most) {
		jp_strbuf_str(to, " Nothing grew by more than chance.");
	} else {
		jp_strbuf_str(to, " No leak suspect.");
		add_most_grown(to, r, most, all);
	}
}

/* " One row makes 64 % of the growth:", where no row is a leak suspect; `growers` are growing. */
static void add_first_grown(struct jp_strbuf *to, const struct diff_report *r, const struct jprof_grown *first,
                            size_t growers, double all)
{
	const struct jprof_series *series = r->loaded->series;
	bool leak =
	    first->verdict == JPROF_GROWING && (first->part == JPROF_PART_LIVE || first->part == JPROF_PART_GC_HEAP);
	if (growers < 2)
		jp_strbuf_str(to, first->verdict == JPROF_ONE_JUMP ? " One jump" : " One row");
	else if (diff_most_grown(series) == first)
		jp_strbuf_str(to, " What grew most");
	else
		jp_strbuf_printf(to, " The first of %zu growing rows", growers);
	add_share(to, r, first->whole.growth, all, false);
	jp_strbuf_str(to, first->verdict == JPROF_MAYBE_GARBAGE ? ", and may be garbage:"
	                  : jprof_series_info(series)->snapshots < 3 && leak
	                      ? "; a third snapshot tells if it is a leak:"
	                      : ":");
}

void diff_add_answer(struct jp_strbuf *to, const struct diff_report *r)
{
	static const char *const few[] = {
		"No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"
	};
	const struct jprof_series *series = r->loaded->series;
	const struct jprof_series_info *info = jprof_series_info(series);
	const struct jprof_grown *first = diff_suspect(series, 0);
	double total[2], suspected, growing;
	all_memory(series, total);
	size_t suspects = count_verdict(series, JPROF_LEAK_SUSPECT, &suspected),
	       growers = count_verdict(series, JPROF_GROWING, &growing);
	const struct jprof_grown *most = diff_most_grown(series);
	add_growth_of_all(to, r);
	if (first && most && !has_block(series, most))
		add_most_grown(to, r, most, total[1] - total[0]);
	if ((suspects || growers) && total[1] > total[0])
		add_time_until_limit(to, info);
	if (suspects) {
		if (suspects < sizeof few / sizeof *few)
			jp_strbuf_printf(to, " %s leak suspect%s", few[suspects], suspects > 1 ? "s" : "");
		else
			jp_strbuf_printf(to, " %zu leak suspects", suspects);
		add_share(to, r, suspected, total[1] - total[0], suspects > 1);
		jp_strbuf_str(to, ":");
	} else if (first) {
		add_first_grown(to, r, first, growers, total[1] - total[0]);
	} else {
		add_no_suspect(to, r, total[1] - total[0]);
		add_seen(to, r);
	}
}

void diff_add_short(struct jp_strbuf *to, const struct diff_report *r)
{
	const struct jprof_grown *first = diff_suspect(r->loaded->series, 0);
	diff_add_answer(to, r);
	if (!first)
		return;
	jp_strbuf_str(to, " ");
	jp_strbuf_visible(to, name_of_grown(first));
	jp_strbuf_printf(to, " %s.", measure_grown(r->measure, first->whole.growth).text);
}
