/* --sizes: a histogram of object sizes. A row for each size class: bytes, their share, objects, the class, a bar. */
#include <math.h>
#include <stdio.h>

#include "render/errors.h"
#include "render/render.h"
#include "render/values.h"

enum { bar_most = 30 };

static void put_class(struct jp_strbuf *out, double limit)
{
	static const char *const units[] = { "B", "KB", "MB", "GB" };
	unsigned unit = 0;
	for (; limit >= 1024 && unit < 3; unit++)
		limit /= 1024;
	if (limit > 0)
		jp_strbuf_printf(out, "%9.4g %-2s", limit, units[unit]);
	else
		jp_strbuf_printf(out, "%12s", "no one size");
}

static void put_size_row(const struct jprof_view *v, const struct jprof_size *row, const struct jprof_report_opts *opts,
                         struct jp_strbuf *out)
{
	enum jp_unit unit = jp_unit_of(v, opts), space = opts->show_bytes ? JP_BYTES : JP_MB;
	double value = unit == JP_OBJECTS ? row->objects : row->bytes, whole = jp_whole(v);
	jp_strbuf_printf(out, "%8s %6s %10s ", jp_shown_value(row->bytes, space).text,
	                 jp_shown_percent(value, jp_scale_of(v)).text, jp_shown_value(row->objects, JP_OBJECTS).text);
	put_class(out, row->limit);
	double bar = whole != 0 ? fmin(fabs(value / whole), 1) * bar_most : 0;
	jp_strbuf_printf(out, "  %-*.*s", v->info.errors ? bar_most : 0, (int)round(bar),
	                 "##############################");
	if (v->info.errors) {
		jp_strbuf_str(out, "  ");
		jp_error_put(&row->range, value, unit, out);
	}
	while (out->len && out->text[out->len - 1] == ' ')
		jp_strbuf_cut(out, out->len - 1);
	jp_strbuf_str(out, "\n");
	jp_strbuf_drain(out);
}

int jp_render_sizes(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                    struct jprof_error *err)
{
	struct jprof_sizes *sizes;
	int rc = jprof_sizes_new(view, &sizes, err);
	if (rc)
		return rc;
	jp_put_total(view, opts, jp_unit_of(view, opts), out);
	if (view->info.rows)
		jp_strbuf_printf(out, "%8s %6s %10s %12s\n", opts->show_bytes ? "B" : "MB", "share", "objects",
		                 "size up to");
	for (size_t i = 0; i < jprof_sizes_count(sizes); i++)
		put_size_row(view, jprof_sizes_at(sizes, i), opts, out);
	jprof_sizes_free(sizes);
	return 0;
}
