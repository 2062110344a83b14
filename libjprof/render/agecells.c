#include "render/agecells.h"

#include <math.h>
#include <stdio.h>

#include "view/rowages.h"

enum { widest_aged = 60 };

const char *const jp_shape_words[JPROF_SHAPES] = {
	[JPROF_SHAPE_NONE] = "",
	[JPROF_SHAPE_FEW] = "few samples",
	[JPROF_SHAPE_UNKNOWN] = "too early to tell",
	[JPROF_SHAPE_STARTUP] = "from startup",
	[JPROF_SHAPE_LEVELLED_OFF] = "levelled off",
	[JPROF_SHAPE_TURNOVER] = "turnover",
	[JPROF_SHAPE_GROWING] = "growing",
	[JPROF_SHAPE_ONE_JUMP] = "one jump",
};

const char *const jp_shape_keys[JPROF_SHAPES] = {
	[JPROF_SHAPE_NONE] = "",
	[JPROF_SHAPE_FEW] = "few_samples",
	[JPROF_SHAPE_UNKNOWN] = "unknown",
	[JPROF_SHAPE_STARTUP] = "startup",
	[JPROF_SHAPE_LEVELLED_OFF] = "levelled_off",
	[JPROF_SHAPE_TURNOVER] = "turnover",
	[JPROF_SHAPE_GROWING] = "growing",
	[JPROF_SHAPE_ONE_JUMP] = "one_jump",
};

const char *jprof_shape_key(enum jprof_shape shape)
{
	return (unsigned)shape < JPROF_SHAPES ? jp_shape_keys[shape] : "";
}

/* True if nothing can be older than an hour. */
static bool is_young(const struct jprof_view *view)
{
	enum { hour_ms = 3600000 };
	const struct jp_ages *ages = view->ages;
	return ages && ages->began && ages->now >= ages->began && ages->now - ages->began < hour_ms;
}

const char *jp_age_head(const struct jprof_view *view, enum jp_age_part part)
{
	static const char *const heads[JP_AGE_PARTS] = {
		[JP_AGE_HOUR] = "last hour",
		[JP_AGE_OLDER] = "older",
		[JP_AGE_STARTUP] = "startup",
		[JP_AGE_FORK] = "before the fork",
	};
	return part == JP_AGE_HOUR && is_young(view) ? "later" : heads[part];
}

double jp_age_part(const struct jprof_row *row, enum jp_age_part part)
{
	const double parts[JP_AGE_PARTS] = { [JP_AGE_HOUR] = row->last_hour,
		                             [JP_AGE_OLDER] = row->older,
		                             [JP_AGE_STARTUP] = row->startup,
		                             [JP_AGE_FORK] = row->before_fork };
	return parts[part];
}

bool jp_age_is_shown(const struct jprof_view *view, enum jp_age_part part)
{
	return view->info.ages && (part != JP_AGE_FORK || view->info.forked) &&
	       (part != JP_AGE_OLDER || !is_young(view));
}

/* ---- the picture ------------------------------------------------------------------------------------------- */

/* Spreads what an epoch has evenly over its time. */
static void spread_epoch(const struct jp_aged *e, double value, uint64_t begin, uint64_t now, double cells[jp_age_bar])
{
	double step = (double)(now - begin) / (jp_age_bar - 1), length = (double)(e->end - e->begin);
	for (int i = 1; i < jp_age_bar; i++) {
		double from = (double)begin + (i - 1) * step, to = from + step;
		double low = fmax(from, (double)e->begin), high = fmin(to, (double)e->end);
		if (length > 0 && high > low)
			cells[i] += value * (high - low) / length;
	}
}

void jp_put_age_bar(const struct jprof_view *view, const struct jprof_row *row, struct jp_strbuf *out)
{
	static const char ink[] = " .:|#";
	enum { levels = sizeof ink - 2 };
	double cells[jp_age_bar] = { 0 }, most = 0;
	size_t count;
	const struct jp_view_slice *s = jp_row_slices(view, row, &count);
	for (size_t i = 0; i < count; i++) {
		const struct jp_aged *e = s[i].epoch == JP_NONE ? NULL : &view->ages->epochs[s[i].epoch];
		if (!e || e->stage == JP_STAGE_UNKNOWN)
			continue;
		if (e->stage != JP_STAGE_SINCE)
			cells[0] += fabs(s[i].value);
		else if (view->ages->now > view->ages->settled)
			spread_epoch(e, fabs(s[i].value), view->ages->settled, view->ages->now, cells);
	}
	for (int i = 0; i < jp_age_bar; i++)
		most = fmax(most, cells[i]);
	for (int i = 0; i < jp_age_bar; i++) {
		int level = most > 0 ? (int)ceil(cells[i] / most * levels - 0.25) : 0;
		jp_strbuf_add(out, &ink[level < 0 ? 0 : level], 1);
	}
}

/* ---- the column -------------------------------------------------------------------------------------------- */

size_t jp_age_names(const struct jprof_table *table)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 };
	size_t widest = 0;
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		jp_strbuf_cut(&name, 0);
		jp_strbuf_visible(&name, jprof_table_at(table, i)->name);
		widest = name.len > widest && name.len <= widest_aged ? name.len : widest;
	}
	return widest;
}

void jp_put_age_column(const struct jprof_view *view, const struct jprof_row *row, enum jp_unit unit, size_t name_len,
                       size_t widest, struct jp_strbuf *out)
{
	jp_strbuf_printf(out, "%*s ", name_len < widest ? (int)(widest - name_len) : 0, "");
	for (enum jp_age_part part = 0; part < JP_AGE_PARTS; part++)
		if (jp_age_is_shown(view, part))
			jp_strbuf_printf(out, " %s %8s ", jp_age_head(view, part),
			                 jp_shown_value(jp_age_part(row, part), unit).text);
	jp_strbuf_str(out, " [");
	jp_put_age_bar(view, row, out);
	jp_strbuf_str(out, "]");
	if (row->shape)
		jp_strbuf_printf(out, "  %s (%.0f sample%s)", jp_shape_words[row->shape], row->shape_samples,
		                 row->shape_samples == 1 ? "" : "s");
}
