/* jeprof's text: a line "Total: VALUE UNIT", then for each row
 * flat, flat%, running sum of flat%, cum, cum%, name. In a view with errors both end in how far the
 * numbers may be off. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "render/errors.h"
#include "render/render.h"
#include "render/values.h"
#include "view/callers.h"

/* What all rows of a report have in common. */
struct report {
	const struct jprof_table *table;
	const struct jp_error_column *errors; /* NULL: not asked for */
	const struct jprof_view *view;
	const uint32_t *callers; /* NULL: not asked for */
	enum jp_unit unit;
	struct jp_scale scale;
	struct jp_strbuf *out;
};

static void put_text_row(const struct report *r, size_t i, double sum)
{
	const struct jprof_row *row = jprof_table_at(r->table, i);
	jp_put_columns(row->flat, sum, row->cum, r->scale, r->unit, r->out);
	size_t start = r->out->len;
	jp_strbuf_visible(r->out, row->name);
	const char *caller = r->callers ? jp_sole_caller(r->view, r->callers, row) : NULL;
	if (caller) {
		jp_strbuf_str(r->out, "  called by ");
		jp_strbuf_visible(r->out, caller);
	}
	if (row->from) {
		jp_strbuf_str(r->out, " (from ");
		jp_strbuf_visible(r->out, row->from);
		jp_strbuf_printf(r->out, ", %.0f %%)", fmin(100, row->from_value * 100 / row->flat));
	}
	if (r->errors)
		jp_error_column_put(r->errors, i, r->out->len - start, r->out);
	jp_strbuf_str(r->out, "\n");
	jp_strbuf_drain(r->out);
}

int jp_render_text(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	const struct jprof_table_opts order = {
		.size = sizeof order, .cum = opts->cum, .top = opts->top, .by_change = opts->by_change
	};
	enum jp_unit unit = jp_unit_of(view, opts);
	struct jprof_table *table;
	struct jp_error_column *errors = NULL;
	double sum = 0;
	int rc = jprof_table_new(view, &order, &table, err);
	if (rc)
		return rc;
	uint32_t *callers = opts->called_by ? jp_sole_callers(view) : NULL;
	if ((opts->called_by && !callers) || (view->info.errors && !(errors = jp_error_column_new(table, unit)))) {
		jprof_table_free(table);
		free(callers);
		return jp_error_nomem(err);
	}
	const struct report report = { table, errors, view, callers, unit, jp_scale_of(view), out };
	jp_put_total(view, opts, unit, out);
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		sum += jprof_table_at(table, i)->flat;
		put_text_row(&report, i, sum);
	}
	jp_error_column_free(errors);
	jprof_table_free(table);
	free(callers);
	return 0;
}
