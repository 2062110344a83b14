/* The table as CSV: RFC 4180, UTF-8, a header row. Numbers are whole bytes or objects, as in the text report
 * with show_bytes. Text that a spreadsheet would take for a formula begins with an apostrophe. */
#include <math.h>

#include "base/csvtext.h"
#include "base/jsonout.h"
#include "render/agecells.h"
#include "render/render.h"

static const char head[] = "flat,flat_percent,sum_percent,cum,cum_percent,name,"
			   "flat_error,flat_low,flat_high,flat_samples,flat_few_samples,flat_within_error,"
			   "cum_error,cum_low,cum_high,cum_samples,cum_few_samples,cum_within_error,"
			   "object,file,line,source";
static const char age_heads[] = ",last_hour,older,startup,before_fork,shape,shape_samples";

static void put_csv_text(struct jp_strbuf *out, const char *s)
{
	jp_strbuf_str(out, ",");
	jp_csv_put_text(out, s);
}

/* What is no number, or infinite, is an empty field. */
static void put_csv_number(struct jp_strbuf *out, double value, unsigned decimals)
{
	if (isfinite(value))
		jp_put_decimal(out, value, decimals);
}

static void put_csv_percent(struct jp_strbuf *out, double value, double whole)
{
	jp_strbuf_str(out, ",");
	put_csv_number(out, whole != 0 ? value * 100 / whole : NAN, 4);
}

static void put_csv_range(struct jp_strbuf *out, const struct jprof_range *range)
{
	const double numbers[] = { range->error, floor(range->low), ceil(range->high), round(range->samples) };
	for (size_t i = 0; i < jp_count(numbers); i++) {
		jp_strbuf_str(out, ",");
		put_csv_number(out, numbers[i], i ? 0 : 1);
	}
	jp_strbuf_str(out, range->few_samples ? ",true" : ",false");
	jp_strbuf_str(out, range->within_error ? ",true" : ",false");
}

static void put_csv_row(struct jp_strbuf *out, const struct jprof_row *row, double sum, double whole)
{
	put_csv_number(out, trunc(row->flat), 0);
	put_csv_percent(out, row->flat, whole);
	put_csv_percent(out, sum, whole);
	jp_strbuf_str(out, ",");
	put_csv_number(out, trunc(row->cum), 0);
	put_csv_percent(out, row->cum, whole);
	put_csv_text(out, row->name);
	put_csv_range(out, &row->flat_range);
	put_csv_range(out, &row->cum_range);
	put_csv_text(out, row->object);
	put_csv_text(out, row->file);
	jp_strbuf_str(out, ",");
	if (row->line)
		jp_strbuf_printf(out, "%u", row->line);
	put_csv_text(out, jp_source_names[row->source]);
}

static void put_csv_ages(struct jp_strbuf *out, const struct jprof_row *row)
{
	for (enum jp_age_part part = 0; part < JP_AGE_PARTS; part++) {
		jp_strbuf_str(out, ",");
		put_csv_number(out, trunc(jp_age_part(row, part)), 0);
	}
	put_csv_text(out, jp_shape_keys[row->shape]);
	jp_strbuf_str(out, ",");
	put_csv_number(out, round(row->shape_samples), 0);
}

static int put_csv_view(struct jp_strbuf *out, const struct jprof_view *view, const struct jprof_report_opts *opts,
                        struct jprof_error *err)
{
	const struct jprof_table_opts order = {
		.size = sizeof order, .cum = opts->cum, .top = opts->top, .by_change = opts->by_change
	};
	const char *thread = view->info.thread ? view->info.thread : view->info.heading;
	struct jprof_table *table;
	double sum = 0;
	int rc = jprof_table_new(view, &order, &table, err);
	for (size_t i = 0; !rc && i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		sum += row->flat;
		put_csv_row(out, row, sum, jp_whole(view));
		put_csv_text(out, thread);
		if (view->info.ages)
			put_csv_ages(out, row);
		jp_strbuf_str(out, "\r\n");
		jp_strbuf_drain(out);
	}
	if (!rc)
		jprof_table_free(table);
	return rc;
}

int jp_render_csv(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                  struct jprof_error *err)
{
	jp_strbuf_printf(out, "%s,thread%s\r\n", head, view->info.ages ? age_heads : "");
	int rc = view->thread_count ? 0 : put_csv_view(out, view, opts, err);
	for (size_t i = 0; !rc && i < view->thread_count; i++) {
		struct jprof_view *part;
		rc = jprof_view_thread(view, i, &part, err);
		if (rc)
			return rc;
		rc = put_csv_view(out, part, opts, err);
		jprof_view_free(part);
	}
	return rc;
}
