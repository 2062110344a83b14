/* jeprof's text: a line "Total: VALUE UNIT", then for each row
 * flat, flat%, running sum of flat%, cum, cum%, name. In a view with errors both end in how far the
 * numbers may be off. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "render/agecells.h"
#include "render/errors.h"
#include "render/render.h"
#include "render/screen.h"
#include "render/values.h"
#include "view/callers.h"

static void put_freed_column(const struct jp_text_report *r, const struct jprof_row *row, size_t name_len)
{
	jp_strbuf_printf(r->out, "%*s  freed %8s  live %8s",
	                 name_len < r->widest && !r->errors ? (int)(r->widest - name_len) : 0, "",
	                 jp_shown_value(row->freed, r->unit).text, jp_shown_value(row->live, r->unit).text);
}

static void put_text_row(const struct jp_text_report *r, size_t i, double sum, bool colour)
{
	const struct jprof_row *row = jprof_table_at(r->table, i);
	const char *begin = colour ? jp_row_colour(r->view, row) : "";
	jp_strbuf_str(r->out, begin);
	jp_put_columns(row->flat, sum, row->cum, r->scale, r->unit, r->out);
	if (r->means)
		jp_strbuf_printf(r->out, "%7s ", jp_shown_mean(row->mean, r->bytes).text);
	size_t start = r->out->len;
	jp_strbuf_visible(r->out, row->name);
	const struct jp_note note = jp_note_of(r->view, r->callers, row);
	if (note.name) {
		jp_strbuf_str(r->out, note.before);
		jp_strbuf_visible(r->out, note.name);
		jp_strbuf_str(r->out, note.after);
	}
	if (r->errors)
		jp_error_column_put(r->errors, i, r->out->len - start, r->out);
	if (r->freed)
		put_freed_column(r, row, r->out->len - start);
	if (r->view->info.ages)
		jp_put_age_column(r->view, row, r->unit, r->out->len - start, r->errors ? 0 : r->widest, r->out);
	jp_strbuf_str(r->out, *begin ? JP_COLOUR_END "\n" : "\n");
	jp_strbuf_drain(r->out);
}

int jp_render_text(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	const struct jprof_table_opts order = {
		.size = sizeof order, .cum = opts->cum, .top = opts->top, .by_change = opts->by_change
	};
	enum jp_unit unit = opts->columns ? jp_screen_unit(view, opts) : jp_unit_of(view, opts);
	bool freed = opts->freed && jp_counts_ever(view->info.counter);
	struct jprof_table *table;
	struct jp_error_column *errors = NULL;
	int rc = jprof_table_new(view, &order, &table, err);
	if (rc)
		return rc;
	const char **callers = opts->called_by ? jp_sole_callers(view) : NULL;
	if ((opts->called_by && !callers) || (view->info.errors && !(errors = jp_error_column_new(table, unit)))) {
		jprof_table_free(table);
		free(callers);
		return jp_error_nomem(err);
	}
	const struct jp_text_report report = {
		.table = table,
		.errors = errors,
		.view = view,
		.callers = callers,
		.unit = unit,
		.means = opts->mean,
		.bytes = opts->show_bytes,
		.freed = freed,
		.scale = jp_scale_of(view),
		.widest = freed || view->info.ages ? jp_age_names(table) : 0,
		.out = out,
	};
	if (opts->columns)
		jp_put_screen(&report, opts);
	else
		jp_put_total(view, opts, unit, out);
	double sum = 0;
	for (size_t i = 0; !opts->columns && i < jprof_table_count(table); i++) {
		sum += jprof_table_at(table, i)->flat;
		put_text_row(&report, i, sum, opts->colour);
	}
	jp_error_column_free(errors);
	jprof_table_free(table);
	free(callers);
	return 0;
}
