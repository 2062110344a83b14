/* The rows of a view in order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/idsort.h"
#include "base/opts.h"
#include "base/search.h"
#include "model/nameless.h"
#include "view/view.h"

/* A row whose location has no frames is made when it is asked for. */
struct passing_row {
	struct jprof_row row;
	char name[jp_nameless_size + 20];
};

struct jprof_table {
	const struct jprof_view *view;
	uint32_t *rows; /* ids */
	size_t count;
	struct passing_row *passing;
};

static const struct jp_location *nameless_at(const struct jprof_view *v, uint32_t row)
{
	return &v->code.locations[row - v->row_count];
}

static const char *name_of_row(const struct jprof_view *v, uint32_t row, char name[jp_nameless_size + 20])
{
	size_t n = 0;
	if (row < v->row_count)
		return v->rows[row].name;
	const struct jp_location *l = nameless_at(v, row);
	if (v->info.granularity == JPROF_BY_ADDRESS)
		n = (size_t)snprintf(name, 20, "%016llx ", (unsigned long long)l->address);
	jp_nameless_name(&v->code, l, name + n);
	return name;
}

static double flat_in(const struct jprof_view *v, uint32_t row)
{
	return row < v->row_count ? v->rows[row].flat : v->nameless[row - v->row_count].flat;
}

static double cum_in(const struct jprof_view *v, uint32_t row)
{
	return row < v->row_count ? v->rows[row].cum : v->nameless[row - v->row_count].cum;
}

/* The order of numbers as hex digits without leading zeros. */
static int compare_hex(uint64_t a, uint64_t b)
{
	int x = a ? __builtin_clzll(a) & ~3 : 60, y = b ? __builtin_clzll(b) & ~3 : 60;
	uint64_t m = a << x, n = b << y;
	return m != n ? jp_order(m, n) : y - x;
}

static int compare_made_names(const struct jprof_view *v, uint32_t m, uint32_t n)
{
	char first[jp_nameless_size + 20], second[jp_nameless_size + 20];
	return strcmp(name_of_row(v, m, first), name_of_row(v, n, second));
}

static int compare_row_names(const struct jprof_view *v, uint32_t m, uint32_t n)
{
	if (m < v->row_count && n < v->row_count)
		return strcmp(v->rows[m].name, v->rows[n].name);
	if (m < v->row_count || n < v->row_count)
		return compare_made_names(v, m, n);
	const struct jp_location *x = nameless_at(v, m), *y = nameless_at(v, n);
	if (v->info.granularity == JPROF_BY_ADDRESS && x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->object == y->object ? compare_hex(x->offset, y->offset) : compare_made_names(v, m, n);
}

struct row_order {
	const struct jprof_view *view;
	const struct jprof_table_opts *opts;
};

/* What a row is ordered by. */
static double sort_value(const struct row_order *order, uint32_t row)
{
	double value = order->opts->cum ? cum_in(order->view, row) : flat_in(order->view, row);
	return order->opts->by_change ? fabs(value) : value;
}

/* Of equal flat changes, most of which are 0, the larger cumulative one comes first. */
static int compare_rows(uint32_t x, uint32_t y, const void *context)
{
	const struct row_order *order = context;
	double m = sort_value(order, x), n = sort_value(order, y);
	if (m == n && order->opts->by_change) {
		m = fabs(cum_in(order->view, x));
		n = fabs(cum_in(order->view, y));
	}
	return m != n ? (m > n ? -1 : 1) : compare_row_names(order->view, x, y);
}

/* How far a row may be off costs more than its sums, so it is worked out for the rows that somebody looks at. Each
 * table of a view finds the same. */
static void put_row_ranges(const struct jprof_table *t)
{
	const struct jprof_view *v = t->view;
	for (size_t i = 0; v->row_evidence && i < t->count; i++) {
		const struct jp_row_evidence *e = &v->row_evidence[t->rows[i]];
		struct jprof_row *row = &v->rows[t->rows[i]];
		row->flat_range = jp_evidence_range(&v->lineage, &e->flat, v->info.counter);
		row->cum_range = jp_evidence_range(&v->lineage, &e->cum, v->info.counter);
	}
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
	if (t) {
		t->view = view;
		t->rows = calloc(view->info.rows + 1, sizeof *t->rows);
		t->passing = calloc(1, sizeof *t->passing);
	}
	if (!t || !t->rows || !t->passing) {
		jprof_table_free(t);
		return jp_error_nomem(err);
	}
	uint32_t rows = view->row_count + (view->nameless ? view->code.location_count : 0);
	for (uint32_t i = 0; i < rows; i++)
		if (flat_in(view, i) != 0 || cum_in(view, i) != 0)
			t->rows[t->count++] = i;
	jp_sort_ids(t->rows, t->count, compare_rows, &(const struct row_order){ view, &opts });
	if (opts.top && opts.top < t->count)
		t->count = opts.top;
	put_row_ranges(t);
	*out = t;
	return 0;
}

size_t jprof_table_count(const struct jprof_table *table)
{
	return table ? table->count : 0;
}

const struct jprof_row *jprof_table_at(const struct jprof_table *table, size_t i)
{
	if (!table || i >= table->count)
		return NULL;
	const struct jprof_view *v = table->view;
	uint32_t row = table->rows[i];
	if (row < v->row_count)
		return &v->rows[row];
	const struct jp_location *l = nameless_at(v, row);
	const char *path = jp_code_object(&v->code, l->object);
	table->passing->row = (struct jprof_row){ .name = name_of_row(v, row, table->passing->name),
		                                  .flat = flat_in(v, row),
		                                  .cum = cum_in(v, row),
		                                  .object = *path ? path : NULL,
		                                  .source = l->source,
		                                  .mean = NAN };
	return &table->passing->row;
}

void jprof_table_free(struct jprof_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table->passing);
	free(table);
}
