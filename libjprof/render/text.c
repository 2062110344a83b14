/* jeprof's text: a line "Total: VALUE UNIT", then for each row
 * flat, flat%, running sum of flat%, cum, cum%, name. With opts->errors both end in how far the
 * numbers may be off. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "ops/errors.h"
#include "render/errors.h"
#include "render/render.h"

enum { cell = 64 };

static bool is_bytes(const struct jprof_view_opts *opts)
{
	return opts->counter == JPROF_INUSE_SPACE || opts->counter == JPROF_ALLOC_SPACE;
}

static const char *unit_of(const struct jprof_view_opts *opts)
{
	return !is_bytes(opts) ? "objects" : opts->show_bytes ? "B" : "MB";
}

/* Objects and bytes are cut to whole numbers, as jeprof does; MB means 2^20 bytes. */
static void put_value(char text[cell], double value, const struct jprof_view_opts *opts)
{
	if (is_bytes(opts) && !opts->show_bytes)
		snprintf(text, cell, "%.1f", value / 1048576);
	else
		snprintf(text, cell, "%.0f", trunc(value) + 0.0);
}

static void put_percent(char text[cell], double value, double whole)
{
	if (whole != 0)
		snprintf(text, cell, "%.1f%%", value * 100 / whole);
	else
		snprintf(text, cell, "%s", value == 0 ? "nan" : value > 0 ? "+inf" : "-inf");
}

/* What all rows of a report have in common. */
struct report {
	const struct jprof_view_opts *opts;
	const struct jprof_table *table;
	const struct jp_error_column *errors; /* NULL: not asked for */
	double whole;                         /* what is 100 % */
	struct jp_strbuf *out;
};

static void put_row(const struct report *r, size_t i, double sum)
{
	const struct jprof_row *row = jprof_table_at(r->table, i);
	char flat[cell], flat_percent[cell], sum_percent[cell], cum[cell], cum_percent[cell];
	put_value(flat, row->flat, r->opts);
	put_percent(flat_percent, row->flat, r->whole);
	put_percent(sum_percent, sum, r->whole);
	put_value(cum, row->cum, r->opts);
	put_percent(cum_percent, row->cum, r->whole);
	jp_strbuf_printf(r->out, "%8s %6s %6s %8s %6s ", flat, flat_percent, sum_percent, cum, cum_percent);
	size_t start = r->out->len;
	jp_strbuf_visible(r->out, row->name);
	if (r->errors)
		jp_error_column_put(r->errors, i, r->out->len - start, r->out);
	jp_strbuf_str(r->out, "\n");
}

static void put_total(const struct report *r, const struct jprof_profile *profile)
{
	const struct jprof_view_opts *opts = r->opts;
	double total = opts->thread ? jprof_profile_thread_total(profile, opts->counter, opts->thread)
	                            : jprof_profile_total(profile, opts->counter);
	struct jprof_range range;
	char text[cell];
	if (total == 0)
		return;
	put_value(text, total, opts);
	jp_strbuf_str(r->out, opts->label ? "Total (" : "Total");
	jp_strbuf_visible(r->out, opts->label ? opts->label : "");
	jp_strbuf_printf(r->out, "%s: %s %s", opts->label ? ")" : "", text, unit_of(opts));
	if (r->errors) {
		jp_profile_range(profile, opts->counter, opts->thread, &range);
		jp_error_total_put(&range, unit_of(opts), opts, r->out);
	}
	jp_strbuf_str(r->out, "\n");
}

static void put_rows(const struct report *r)
{
	double sum = 0;
	for (size_t i = 0; i < jprof_table_count(r->table); i++) {
		sum += jprof_table_at(r->table, i)->flat;
		put_row(r, i, sum);
	}
}

int jp_render_text(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	struct jprof_table *table;
	struct jp_error_column *errors = NULL;
	int rc = jprof_table_new(profile, opts, &table, err);
	if (rc)
		return rc;
	if (opts->errors && !(errors = jp_error_column_new(table, opts))) {
		jprof_table_free(table);
		return jp_error_nomem(err);
	}
	double whole = opts->percent_of != 0 ? opts->percent_of : jprof_table_flat(table);
	struct report report = { .opts = opts, .table = table, .errors = errors, .whole = whole, .out = out };
	put_total(&report, profile);
	put_rows(&report);
	jp_error_column_free(errors);
	jprof_table_free(table);
	return 0;
}
