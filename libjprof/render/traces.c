/* --traces: every stack with its value, the biggest first; frames innermost first, as in pprof:
 *
 *     -----------+-------------------------------------------------------
 *       VALUE  %   innermost function
 *                  its caller */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "render/render.h"
#include "render/select.h"
#include "render/values.h"

static const char rule[] = "----------------+-------------------------------------------------------\n";

struct trace {
	uint32_t stack; /* id in traces->stacks */
	double value;
};

struct traces {
	struct jp_rows rows;
	struct jp_path path;     /* of the stack under way */
	struct jp_intern stacks; /* arrays of names; the id is the place in items until sorted */
	struct trace *items;
	size_t count, cap;
	double whole;
};

static int add_sample(struct traces *t, const struct jp_sample *sample, double value)
{
	if (jp_rows_of_sample(&t->rows, sample, &t->path))
		return -1;
	if (!t->path.count)
		return 0;
	uint32_t known = t->stacks.count;
	uint32_t id = jp_intern(&t->stacks, t->path.rows, t->path.count * sizeof *t->path.rows);
	if (id == JP_NONE || (id == known && jp_array_push(t->items, t->count, t->cap)))
		return -1;
	if (id == known)
		t->items[t->count++] = (struct trace){ .stack = id };
	t->items[id].value += value;
	t->whole += value;
	return 0;
}

static const uint32_t *names_of(const struct traces *t, uint32_t stack, size_t *depth)
{
	*depth = jp_intern_len(&t->stacks, stack) / sizeof(uint32_t);
	return (const uint32_t *)(const void *)jp_intern_get(&t->stacks, stack);
}

static int by_size(const void *a, const void *b, void *context)
{
	const struct traces *t = context;
	const struct trace *x = a, *y = b;
	size_t m, n, i = 0;
	if (fabs(x->value) != fabs(y->value))
		return fabs(x->value) > fabs(y->value) ? -1 : 1;
	const uint32_t *p = names_of(t, x->stack, &m), *q = names_of(t, y->stack, &n);
	while (i < m && i < n && p[i] == q[i])
		i++;
	if (i == m || i == n)
		return (m > n) - (m < n);
	return strcmp(jp_intern_get(&t->rows.names, p[i]), jp_intern_get(&t->rows.names, q[i]));
}

static void put_trace(const struct traces *t, const struct trace *trace, struct jp_strbuf *out)
{
	char value[jp_cell], percent[jp_cell];
	size_t depth;
	const uint32_t *names = names_of(t, trace->stack, &depth);
	jp_put_value(value, trace->value, t->rows.opts);
	jp_put_percent(percent, trace->value, t->whole);
	jp_strbuf_str(out, rule);
	for (size_t i = 0; i < depth; i++) {
		if (i)
			jp_strbuf_printf(out, "%15s   ", "");
		else
			jp_strbuf_printf(out, "%8s %6s   ", value, percent);
		jp_strbuf_visible(out, jp_intern_get(&t->rows.names, names[i]));
		jp_strbuf_str(out, "\n");
	}
}

static int build(struct traces *t, const struct jprof_profile *p, const struct jprof_view_opts *opts)
{
	if (jp_rows_init(&t->rows, p, opts))
		return -1;
	for (uint32_t i = 0; i < jp_sample_count(p); i++)
		if (jp_in_view(p, opts, &p->samples[i]) &&
		    add_sample(t, &p->samples[i], p->samples[i].value[opts->counter]))
			return -1;
	if (opts->percent_of != 0)
		t->whole = opts->percent_of;
	if (t->count)
		qsort_r(t->items, t->count, sizeof *t->items, by_size, t);
	return 0;
}

int jp_render_traces(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                     struct jprof_error *err)
{
	struct traces t = { 0 };
	size_t rows = opts->top ? opts->top : SIZE_MAX;
	int rc = build(&t, profile, opts);
	if (!rc)
		jp_put_total(profile, opts, out);
	for (size_t i = 0; !rc && i < t.count && rows; i++)
		if (t.items[i].value != 0) {
			put_trace(&t, &t.items[i], out);
			rows--;
		}
	if (!rc && t.count)
		jp_strbuf_str(out, rule);
	jp_rows_release(&t.rows);
	free(t.path.rows);
	jp_intern_release(&t.stacks);
	free(t.items);
	return rc ? jp_error_nomem(err) : 0;
}
