/* --sizes: a histogram of object sizes. A row for each of jemalloc's size classes (docs of mallctl, "size classes": 8,
 * then multiples of 16 up to 128, then four to each doubling): bytes, their share, objects, the class, a bar. A dump
 * has bytes and objects of each stack, so a stack that allocates several sizes counts at their mean. */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "render/errors.h"
#include "render/render.h"
#include "render/values.h"

/* More than there are up to 2^60 bytes; the last is for what has no size: a difference in which objects came and bytes
 * went. */
enum { classes = 240, no_size = classes, bar_most = 30 };

struct size_row {
	double bytes, objects, limit;
	bool used;
	struct jp_evidence evidence;
};

/* The smallest class that is not below the size, and its number. */
static unsigned size_class(double size, double *limit)
{
	static const double exact = 0.5; /* of a byte: a mean is the result of a division */
	double step = 16;
	unsigned number = 1;
	for (*limit = 8; *limit + exact < size && number < classes - 1; number++) {
		if (*limit >= 8 * step)
			step *= 2;
		*limit = *limit < 16 ? 16 : *limit + step;
	}
	return number;
}

static void count_sizes(const struct jprof_view *v, struct size_row rows[classes + 1])
{
	bool ever = v->info.counter == JPROF_ALLOC_SPACE || v->info.counter == JPROF_ALLOC_OBJECTS;
	for (uint32_t i = 0; i < v->stack_count; i++) {
		double bytes = jp_stack_number(v, i, ever ? JPROF_ALLOC_SPACE : JPROF_INUSE_SPACE);
		double objects = jp_stack_number(v, i, ever ? JPROF_ALLOC_OBJECTS : JPROF_INUSE_OBJECTS), limit = 0;
		if (!v->stacks[i].depth || (bytes == 0 && objects == 0))
			continue;
		bool sized = objects != 0 && bytes / objects > 0;
		struct size_row *row = &rows[sized ? size_class(bytes / objects, &limit) : no_size];
		row->limit = limit;
		row->used = true;
		row->bytes += bytes;
		row->objects += objects;
		if (v->evidence)
			jp_evidence_add(&row->evidence, &v->evidence[i]);
	}
}

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

static void put_size_row(const struct jprof_view *v, const struct size_row *row, const struct jprof_report_opts *opts,
                         struct jp_strbuf *out)
{
	enum jp_unit unit = jp_unit_of(v, opts), space = opts->show_bytes ? JP_BYTES : JP_MB;
	double value = unit == JP_OBJECTS ? row->objects : row->bytes, whole = jp_whole(v);
	char bytes[jp_cell], objects[jp_cell], share[jp_cell];
	jp_put_value(bytes, row->bytes, space);
	jp_put_value(objects, row->objects, JP_OBJECTS);
	jp_put_percent(share, value, jp_scale_of(v));
	jp_strbuf_printf(out, "%8s %6s %10s ", bytes, share, objects);
	put_class(out, row->limit);
	double bar = whole != 0 ? fmin(fabs(value / whole), 1) * bar_most : 0;
	jp_strbuf_printf(out, "  %-*.*s", v->info.errors ? bar_most : 0, (int)round(bar),
	                 "##############################");
	if (v->info.errors) {
		struct jprof_range range = jp_evidence_range(&v->lineage, &row->evidence, v->info.counter);
		jp_strbuf_str(out, "  ");
		jp_error_put(&range, value, unit, out);
	}
	while (out->len && out->text[out->len - 1] == ' ')
		jp_strbuf_cut(out, out->len - 1);
	jp_strbuf_str(out, "\n");
	jp_strbuf_drain(out);
}

int jp_render_sizes(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                    struct jprof_error *err)
{
	struct size_row rows[classes + 1] = { 0 };
	(void)err;
	count_sizes(view, rows);
	jp_put_total(view, opts, jp_unit_of(view, opts), out);
	if (view->info.rows)
		jp_strbuf_printf(out, "%8s %6s %10s %12s\n", opts->show_bytes ? "B" : "MB", "share", "objects",
		                 "size up to");
	for (unsigned i = 0; i <= classes; i++)
		if (rows[i].used)
			put_size_row(view, &rows[i], opts, out);
	return 0;
}
