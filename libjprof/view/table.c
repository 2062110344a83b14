/* The rows of a view in order. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "view/view.h"

struct jprof_table {
	const struct jprof_row **rows;
	size_t count;
};

static int by_flat(const void *a, const void *b)
{
	const struct jprof_row *x = *(const struct jprof_row *const *)a, *y = *(const struct jprof_row *const *)b;
	if (x->flat != y->flat)
		return x->flat > y->flat ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_cum(const void *a, const void *b)
{
	const struct jprof_row *x = *(const struct jprof_row *const *)a, *y = *(const struct jprof_row *const *)b;
	if (x->cum != y->cum)
		return x->cum > y->cum ? -1 : 1;
	return strcmp(x->name, y->name);
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
	qsort(t->rows, t->count, sizeof(struct jprof_row *), opts.cum ? by_cum : by_flat);
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
