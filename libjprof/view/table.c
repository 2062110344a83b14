/* The rows of a view in order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "view/view.h"

struct jprof_table {
	const struct jprof_row **rows;
	size_t count;
};

/* What a row is ordered by. */
static double sort_value(const struct jprof_row *row, const struct jprof_table_opts *order)
{
	double value = order->cum ? row->cum : row->flat;
	return order->by_change ? fabs(value) : value;
}

/* Of equal flat changes, most of which are 0, the larger cumulative one comes first. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct jprof_table_opts *order = context;
	const struct jprof_row *x = *(const struct jprof_row *const *)a, *y = *(const struct jprof_row *const *)b;
	double m = sort_value(x, order), n = sort_value(y, order);
	if (m == n && order->by_change) {
		m = fabs(x->cum);
		n = fabs(y->cum);
	}
	return m != n ? (m > n ? -1 : 1) : strcmp(x->name, y->name);
}

int jprof_table_new(const struct jprof_view *view, const struct jprof_table_opts *given, struct jprof_table **out,
                    struct jprof_error *err)
{
	if (jp_null(err, view, out))
		return JPROF_E_ARGUMENT;
	struct jprof_table_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	struct jprof_table *t = calloc(1, sizeof *t);
	if (t)
		t->rows = calloc(view->info.rows + 1, sizeof(struct jprof_row *));
	if (!t || !t->rows) {
		jprof_table_free(t);
		return jp_error_nomem(err);
	}
	for (uint32_t i = 0; i < view->row_count; i++)
		if (view->rows[i].flat != 0 || view->rows[i].cum != 0)
			t->rows[t->count++] = &view->rows[i];
	qsort_r(t->rows, t->count, sizeof(struct jprof_row *), compare_rows, &opts);
	if (opts.top && opts.top < t->count)
		t->count = opts.top;
	*out = t;
	return 0;
}

size_t jprof_table_count(const struct jprof_table *table)
{
	return table ? table->count : 0;
}

const struct jprof_row *jprof_table_at(const struct jprof_table *table, size_t i)
{
	return table && i < table->count ? table->rows[i] : NULL;
}

void jprof_table_free(struct jprof_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table);
}
