/* jeprof's text: a line "Total: VALUE UNIT", then for each row
 * flat, flat%, running sum of flat%, cum, cum%, name. */
#include <math.h>
#include <stdio.h>

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

static void put_row(struct jp_strbuf *out, const struct jprof_row *row, double sum, double whole,
                    const struct jprof_view_opts *opts)
{
	char flat[cell], flat_percent[cell], sum_percent[cell], cum[cell], cum_percent[cell];
	put_value(flat, row->flat, opts);
	put_percent(flat_percent, row->flat, whole);
	put_percent(sum_percent, sum, whole);
	put_value(cum, row->cum, opts);
	put_percent(cum_percent, row->cum, whole);
	jp_strbuf_printf(out, "%8s %6s %6s %8s %6s ", flat, flat_percent, sum_percent, cum, cum_percent);
	jp_strbuf_visible(out, row->name);
	jp_strbuf_str(out, "\n");
}

int jp_render_text(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	struct jprof_table *table;
	int rc = jprof_table_new(profile, opts, &table, err);
	if (rc)
		return rc;
	double total = opts->thread ? jprof_profile_thread_total(profile, opts->counter, opts->thread)
	                            : jprof_profile_total(profile, opts->counter);
	double whole = opts->percent_of != 0 ? opts->percent_of : jprof_table_flat(table), sum = 0;
	if (total != 0) {
		char text[cell];
		put_value(text, total, opts);
		if (opts->label) {
			jp_strbuf_str(out, "Total (");
			jp_strbuf_visible(out, opts->label);
			jp_strbuf_printf(out, "): %s %s\n", text, unit_of(opts));
		} else {
			jp_strbuf_printf(out, "Total: %s %s\n", text, unit_of(opts));
		}
	}
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		sum += row->flat;
		put_row(out, row, sum, whole, opts);
	}
	jprof_table_free(table);
	return 0;
}
