#include "render/values.h"

#include <math.h>
#include <stdio.h>

#include "ops/ranges.h"
#include "render/errors.h"
#include "render/render.h"

const char *jp_unit(const struct jprof_view_opts *opts)
{
	return !jp_counts_bytes(opts->counter) ? "objects" : opts->show_bytes ? "B" : "MB";
}

void jp_put_value(char text[jp_cell], double value, const struct jprof_view_opts *opts)
{
	if (jp_counts_bytes(opts->counter) && !opts->show_bytes)
		snprintf(text, jp_cell, "%.1f", value / 1048576);
	else
		snprintf(text, jp_cell, "%.0f", trunc(value) + 0.0);
}

void jp_put_value_or_dot(char text[jp_cell], double value, const struct jprof_view_opts *opts)
{
	if (value == 0)
		snprintf(text, jp_cell, ".");
	else
		jp_put_value(text, value, opts);
}

void jp_put_percent(char text[jp_cell], double value, double whole)
{
	if (whole != 0)
		snprintf(text, jp_cell, "%.1f%%", value * 100 / whole);
	else
		snprintf(text, jp_cell, "%s", value == 0 ? "nan" : value > 0 ? "+inf" : "-inf");
}

void jp_put_columns(double flat, double sum, double cum, double whole, const struct jprof_view_opts *opts,
                    struct jp_strbuf *out)
{
	char value[2][jp_cell], share[3][jp_cell];
	jp_put_value(value[0], flat, opts);
	jp_put_value(value[1], cum, opts);
	jp_put_percent(share[0], flat, whole);
	jp_put_percent(share[1], sum, whole);
	jp_put_percent(share[2], cum, whole);
	jp_strbuf_printf(out, "%8s %6s %6s %8s %6s ", value[0], share[0], share[1], value[1], share[2]);
}

void jp_put_total(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out)
{
	double total = jp_view_total(profile, opts);
	struct jprof_range range;
	char text[jp_cell];
	if (total == 0)
		return;
	jp_put_value(text, total, opts);
	jp_strbuf_str(out, opts->label ? "Total (" : "Total");
	jp_strbuf_visible(out, opts->label ? opts->label : "");
	jp_strbuf_printf(out, "%s: %s %s", opts->label ? ")" : "", text, jp_unit(opts));
	if (opts->errors) {
		jp_profile_range(profile, opts->counter, opts->thread, &range);
		jp_error_total_put(&range, jp_unit(opts), opts, out);
	}
	jp_strbuf_str(out, "\n");
}
