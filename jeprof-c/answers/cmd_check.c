/* jprof check [PROGRAM] FIRST [BETWEEN...] LAST: a gate for CI. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/check_text.h"
#include "answers/check_unreachable.h"
#include "answers/measure.h"
#include "cli/budget.h"
#include "cli/filename.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/sink.h"
#include "commands.h"
#include "report/overwrite.h"

enum { least_rate = 12 };

/* ---- judging ------------------------------------------------------------------------------------------------ */

/* What a row that grew by more than it may does to the result. */
enum effect { PASSES, FAILS, HAS_STOPPED, MAY_BE_GARBAGE };

static bool is_on_heap(const struct jprof_grown *row)
{
	return row->part == JPROF_PART_LIVE || row->part == JPROF_PART_GC_HEAP;
}

/* Whether a row can fail. The GC's tables fail with its heap alone. Pages that jemalloc keeps, gaps, its own data and
 * what is not explained come and go; they count in the total alone. Stacks need three snapshots. */
static bool can_fail(const struct jprof_series_info *info, const struct jprof_grown *row)
{
	return (is_on_heap(row) && !row->of_gc_heap) || (row->part == JPROF_PART_STACKS && info->snapshots > 2);
}

static enum effect effect_of(const struct jprof_series_info *info, const struct jprof_grown *row)
{
	bool heap = is_on_heap(row);
	if (!can_fail(info, row) || row->whole.range.within_error) /* a jump of long ago has no growth */
		return PASSES;
	switch (row->verdict) {
	case JPROF_LEAK_SUSPECT: return FAILS;
	case JPROF_GROWING:
	case JPROF_ONE_JUMP: return heap ? FAILS : PASSES;
	case JPROF_UP_AND_DOWN: /* nothing says that it will fall again */
		return !heap || !diff_grew_for_sure(row) ? PASSES
		       : info->ruby && !info->collected  ? MAY_BE_GARBAGE
		                                         : FAILS;
	case JPROF_MAYBE_GARBAGE: return heap ? MAY_BE_GARBAGE : PASSES;
	case JPROF_LEVELLED_OFF:
	case JPROF_TURNOVER: return heap ? HAS_STOPPED : PASSES;
	default: return PASSES;
	}
}

static bool accepts_growth(const struct accepted_row *entry, const struct jprof_grown *row)
{
	double least = isnan(row->whole.range.low) ? row->whole.growth : row->whole.range.low;
	return entry && (row->whole.growth <= entry->bytes || least <= entry->bytes);
}

/* Whether a row that does not fail may have grown by more than the limit all the same, by its interval. What has
 * stopped, or comes and goes, passes anyway. */
static bool may_exceed(const struct jprof_grown *row, double limit)
{
	switch (row->verdict) {
	case JPROF_LEVELLED_OFF:
	case JPROF_TURNOVER:
	case JPROF_FROM_STARTUP:
	case JPROF_SHRANK: return false;
	case JPROF_ONE_JUMP: return !row->whole.range.within_error && row->whole.range.high > limit;
	default: return row->part == JPROF_PART_LIVE && row->whole.range.high > limit;
	}
}

static void note_unsure(struct check *c, const struct jprof_grown *row)
{
	c->unsure_count++;
	if (!c->unsure || row->whole.range.high > c->unsure->whole.range.high)
		c->unsure = row;
}

static void judge_growth(struct check *c, const struct jprof_grown *row)
{
	struct accepted_row *entry = baseline_find(&c->baseline, row);
	if (entry)
		entry->matched = true;
	double limit = limit_bytes(&c->growth, row->values[0]);
	enum effect effect =
	    row->whole.growth <= limit ? PASSES : effect_of(jprof_series_info(c->report.loaded->series), row);
	if (effect == PASSES && may_exceed(row, limit) && !accepts_growth(entry, row))
		note_unsure(c, row);
	if (effect == PASSES && row->part != JPROF_PART_LIVE && row->whole.growth > limit)
		c->counted[c->counted_count++] = row;
	if (effect != PASSES && accepts_growth(entry, row))
		c->accepted[c->accepted_count++] = row;
	else if (effect == FAILS)
		c->failed[c->failed_count++] = row;
	else if (effect == HAS_STOPPED)
		c->stopped[c->stopped_count++] = row;
	c->garbage += effect == MAY_BE_GARBAGE && !accepts_growth(entry, row);
}

static void __attribute__((format(printf, 3, 4))) cannot_tell(struct check *c, const char *remedy, const char *why, ...)
{
	va_list args;
	va_start(args, why);
	if (vasprintf(&c->why, why, args) < 0)
		c->why = shortage_note(NULL);
	va_end(args);
	c->result = CHECK_CANNOT_TELL;
	c->remedy = shortage_note(strdup(remedy));
}

/* What would make an interval narrow enough for its limit. */
static void add_remedy(struct jp_strbuf *to, const struct check *c, double limit)
{
	const struct jprof_change *grown = &c->unsure->whole;
	const struct jprof_series_info *info = jprof_series_info(c->report.loaded->series);
	double high = grown->range.high, room = limit - grown->growth;
	double narrower = (high - grown->growth) / room; /* the error goes with the root of the rate */
	double lg = floor(log2(info->rate / (narrower * narrower)));
	if (info->bound)
		jp_strbuf_printf(to, "run it under jprof run, which tells what stayed; or raise --max-growth");
	else if (!(room > 0) || lg < least_rate)
		jp_strbuf_printf(to, "take one more snapshot, after as much load again");
	else
		jp_strbuf_printf(to, "sample more often (jprof run --sample=%.0f); or raise --max-growth to %.0f MB",
		                 lg, ceil(high / (1 << 20)));
}

/* Whose interval ends above its limit. */
static void doubt_row(struct check *c)
{
	const struct jprof_grown *row = c->unsure;
	const struct jprof_range *range = &row->whole.range;
	double limit = limit_bytes(&c->growth, row->values[0]);
	struct jp_strbuf remedy = { 0 }, why = { 0 };
	struct measure m = measure_for(range->high);
	jp_strbuf_visible(&why, name_of_grown(row));
	jp_strbuf_printf(&why, " may have grown by more than %s: by %s to %s %s", limit_words(&c->growth).text,
	                 measure_change(m, range->low).text, measure_change(m, range->high).text, m.name);
	if (c->unsure_count > 1)
		jp_strbuf_printf(&why, ", and %zu more row%s", c->unsure_count - 1, c->unsure_count > 2 ? "s" : "");
	add_remedy(&remedy, c, limit);
	cannot_tell(c, shortage_text(&remedy), "%s", shortage_text(&why));
	jp_strbuf_release(&why);
	jp_strbuf_release(&remedy);
}

/* Why no answer can be given, if so. */
static void doubt(struct check *c)
{
	const struct loaded_series *l = c->report.loaded;
	const struct jprof_series_info *info = jprof_series_info(l->series);
	static const double unseen = 3.69;                /* samples' worth that may be there and in no sample: 95 % */
	bool failed = c->failed_count || c->total_failed; /* more samples, or a GC, would not change that */
	if (!info->same_program) {
		cannot_tell(c, "", "%s", l->about ? l->notes[0] : "the snapshots are of two programs");
	} else if (info->reversed) {
		cannot_tell(c, "give the snapshots in the order of their times",
		            "a later snapshot stands before an earlier one");
	} else if (!info->rows) {
		cannot_tell(c, "sample more often (jprof run --sample=16), or run the load longer",
		            "there are no samples");
	} else if (!failed && !(c->growth.share > 0) && unseen * info->rate > c->growth.bytes) {
		struct measure m = measure_for(info->seen);
		cannot_tell(c, "sample more often (jprof run --sample=16), or raise --max-growth",
		            "one sample for %.0f KB is too few for a limit of %s; growth of %s %s could be seen",
		            info->rate / 1024, limit_words(&c->growth).text, measure_number(m, info->seen).text,
		            m.name);
	} else if (!failed && c->garbage) {
		cannot_tell(c, "take snapshots with jprof snap --gc, or give --assume-gc if a GC ran",
		            "%zu row%s grew by more than %s and may be garbage, for no GC ran", c->garbage,
		            c->garbage > 1 ? "s" : "", limit_words(&c->growth).text);
	} else if (!failed && c->unsure) {
		doubt_row(c);
	}
}

static void judge_total(struct check *c)
{
	const struct jprof_series *series = c->report.loaded->series;
	const struct jprof_series_info *info = jprof_series_info(series);
	const struct jprof_grown *all = jprof_series_malloc(series);
	bool known = !isnan(info->total[0]) && !isnan(info->total[1]);
	c->total_grown = known ? info->total[1] - info->total[0] : all->whole.growth;
	c->total_failed =
	    c->has_total && c->total_grown > limit_bytes(&c->total, known ? info->total[0] : all->values[0]);
}

static bool judge_series(struct check *c)
{
	const struct jprof_series *series = c->report.loaded->series;
	size_t count = jprof_series_count(series);
	c->failed = calloc(count + 1, sizeof(void *));
	c->accepted = calloc(count + 1, sizeof(void *));
	c->stopped = calloc(count + 1, sizeof(void *));
	if (!c->failed || !c->accepted || !c->stopped) {
		say("memory is short");
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		c->judged += can_fail(jprof_series_info(series), jprof_series_at(series, i));
		judge_growth(c, jprof_series_at(series, i));
	}
	judge_total(c);
	c->result = c->failed_count || c->total_failed ? CHECK_FAIL : CHECK_PASS;
	doubt(c);
	return true;
}

/* ---- the baseline -------------------------------------------------------------------------------------------- */

static bool update_baseline(struct check *c)
{
	for (size_t i = 0; i < c->failed_count; i++)
		if (!baseline_accept(&c->baseline, c->failed[i]))
			return false;
	if (!baseline_write(&c->baseline, c->baseline_path))
		return false;
	for (size_t i = 0; i < c->failed_count; i++)
		c->accepted[c->accepted_count++] = c->failed[i];
	c->failed_count = 0;
	c->result = c->total_failed ? CHECK_FAIL : CHECK_PASS;
	return true;
}

/* ---- what is printed ---------------------------------------------------------------------------------------- */

static bool put_check_report(const struct check *c, const struct diff_options *o, struct sink *sink)
{
	struct sink_text text;
	sink_text_open(&text);
	if (text.file)
		(o->output == AS_JSON ? check_put_json : check_put_text)(text.file, c);
	return sink_text_write(&text, sink);
}

/* GitHub's runner names a file that Markdown is appended to. */
static bool append_summary(const struct check *c)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");
	if (!path || !*path)
		return true;
	FILE *file = fopen(path, "ae");
	if (file)
		check_put_summary(file, c);
	bool whole = file && !fflush(file) && !ferror(file);
	if (!whole)
		say("%s: cannot be written: %s", path, strerror(errno));
	if (file)
		fclose(file);
	return whole;
}

/* ---- the whole ----------------------------------------------------------------------------------------------- */

static const char *baseline_of(const struct diff_options *o)
{
	return o->baseline ? o->baseline : "jprof-baseline.json";
}

static bool prepare_check(struct check *c, const struct diff_options *o)
{
	c->has_total = o->max_total;
	c->baseline_path = baseline_of(o);
	return limit_parse("max-growth", o->max_growth ? o->max_growth : "5MB", &c->growth) &&
	       (!o->max_total || limit_parse("max-total", o->max_total, &c->total)) &&
	       baseline_read(&c->baseline, c->baseline_path, o->baseline && !o->update_baseline);
}

static bool check_series(struct check *c, const struct loaded_series *loaded, const struct diff_options *o,
                         const struct inputs *inputs, struct sink *sink)
{
	diff_report_open(&c->report, loaded, o, inputs);
	bool good = judge_series(c) && (!o->update_baseline || c->result == CHECK_CANNOT_TELL || update_baseline(c)) &&
	            put_check_report(c, o, sink);
	if (good && o->github) /* the runner reads both streams; JSON has its own to itself */
		check_put_annotations(o->output == AS_JSON || o->common.file ? stderr : stdout, c);
	good = good && (!o->github || append_summary(c));
	diff_report_close(&c->report);
	return good;
}

int cmd_check(int argc, char **argv)
{
	struct diff_options o;
	struct inputs inputs = { 0 };
	struct loaded_series loaded = { 0 };
	struct check c = { 0 };
	if (!diff_options_parse(&o, true, argc, argv) || !budget_watch(o.common.max_memory))
		return 1;
	if (o.common.help) {
		check_help();
		return 0;
	}
	if (o.max_unreachable)
		return check_unreachable(&o);
	struct sink sink = { .path = o.common.file };
	o.common.command = "check";
	bool good = inputs_find(&inputs, &o.common) && overwrites_no_input(&o.common, &inputs) &&
	            overwrites_not(o.common.file, baseline_of(&o)) && filename_fits(o.common.file, diff_format(&o)) &&
	            prepare_check(&c, &o) && series_load(&loaded, &inputs, &o) &&
	            check_series(&c, &loaded, &o, &inputs, &sink);
	sink.failed = sink.failed || !good;
	if (!sink_close(&sink)) {
		say("%s: cannot be written: %s", o.common.file, sink.why);
		good = false;
	}
	int status = !good || c.result == CHECK_CANNOT_TELL ? 1 : c.result == CHECK_FAIL ? check_status_of_fail : 0;
	baseline_release(&c.baseline);
	free(c.why);
	free(c.remedy);
	free(c.failed);
	free(c.accepted);
	free(c.stopped);
	series_release(&loaded);
	free(inputs.program);
	return status;
}
