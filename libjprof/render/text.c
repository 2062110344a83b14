/* jeprof's text: a line "Total: VALUE UNIT", then for each row
 * flat, flat%, running sum of flat%, cum, cum%, name. With opts->errors both end in how far the
 * numbers may be off. */
#include "base/error.h"
#include "render/errors.h"
#include "render/render.h"
#include "render/values.h"

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
	jp_put_columns(row->flat, sum, row->cum, r->whole, r->opts, r->out);
	size_t start = r->out->len;
	jp_strbuf_visible(r->out, row->name);
	if (r->errors)
		jp_error_column_put(r->errors, i, r->out->len - start, r->out);
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
	jp_put_total(profile, opts, out);
	put_rows(&report);
	jp_error_column_free(errors);
	jprof_table_free(table);
	return 0;
}
