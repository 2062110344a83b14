/* --traces: every stack with its value, the biggest first; frames innermost first, as in pprof:
 *
 *     -----------+-------------------------------------------------------
 *            tag   its route, job or other tag, if it has one
 *       VALUE  %   innermost function
 *                  its caller */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "model/tags.h"
#include "render/errors.h"
#include "render/render.h"
#include "render/values.h"
#include "view/walk.h"

static const char trace_rule[] = "----------------+-------------------------------------------------------\n";

struct trace {
	uint32_t stack; /* id in traces->stacks */
	double value;
};

/* What of a stack makes two one trace: its tag, and its rows behind it. */
enum { TRACE_HEAD = 1 };

struct traces {
	const struct jprof_view *view;
	struct jp_walk walk;
	enum jp_unit unit;
	struct jp_intern stacks; /* a tag and names each; the id is the place in items until sorted */
	uint32_t *key;           /* of the stack under way */
	size_t key_cap;
	struct trace *items;
	size_t count, cap;
};

static int add_trace(struct traces *t, uint32_t stack)
{
	size_t length;
	jp_walk_rows(&t->walk, stack);
	const uint32_t *rows = jp_walk_path(&t->walk, &length);
	if (t->view->info.granularity == JPROF_BY_SITE) { /* with what the line called before it allocated */
		rows = t->walk.rows;
		length = t->walk.length;
	}
	if (!length)
		return 0;
	if (jp_array_reserve(&t->key, &t->key_cap, TRACE_HEAD + length, sizeof *t->key))
		return -1;
	t->key[0] = t->view->stacks[stack].tag;
	memcpy(t->key + TRACE_HEAD, rows, length * sizeof *rows);
	uint32_t known = t->stacks.count, id = jp_intern(&t->stacks, t->key, (TRACE_HEAD + length) * sizeof *rows);
	if (id == JP_NONE || (id == known && jp_array_push(t->items, t->count, t->cap)))
		return -1;
	if (id == known)
		t->items[t->count++] = (struct trace){ .stack = id };
	t->items[id].value += jp_stack_value(t->view, stack);
	return 0;
}

static const uint32_t *trace_rows(const struct traces *t, uint32_t stack, size_t *depth)
{
	*depth = jp_intern_len(&t->stacks, stack) / sizeof(uint32_t) - TRACE_HEAD;
	return (const uint32_t *)(const void *)jp_intern_get(&t->stacks, stack) + TRACE_HEAD;
}

static uint32_t trace_tag(const struct traces *t, uint32_t stack)
{
	return *(const uint32_t *)(const void *)jp_intern_get(&t->stacks, stack);
}

static int traces_by_value(const void *a, const void *b, void *context)
{
	const struct traces *t = context;
	const struct trace *x = a, *y = b;
	size_t m, n, i = 0;
	if (fabs(x->value) != fabs(y->value))
		return fabs(x->value) > fabs(y->value) ? -1 : 1;
	const uint32_t *p = trace_rows(t, x->stack, &m), *q = trace_rows(t, y->stack, &n);
	while (i < m && i < n && p[i] == q[i])
		i++;
	if (i == m && i == n) /* without a tag first: JP_NONE and one is 0 */
		return trace_tag(t, x->stack) + 1 < trace_tag(t, y->stack) + 1 ? -1 : 1;
	if (i == m || i == n)
		return jp_order(m, n);
	return strcmp(t->view->rows[p[i]].name, t->view->rows[q[i]].name);
}

static void put_trace_tag(const struct traces *t, uint32_t tag, struct jp_strbuf *out)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 };
	if (tag == JP_NONE)
		return;
	jp_put_tag(&t->view->profile->tags, tag, &name);
	out->failed = out->failed || name.failed;
	jp_strbuf_printf(out, "%15s   ", "tag");
	jp_strbuf_visible(out, name.failed ? "" : name.text);
	jp_strbuf_str(out, "\n");
}

static void put_trace(const struct traces *t, const struct trace *trace, struct jp_strbuf *out)
{
	size_t depth;
	const uint32_t *names = trace_rows(t, trace->stack, &depth);
	jp_strbuf_str(out, trace_rule);
	put_trace_tag(t, trace_tag(t, trace->stack), out);
	for (size_t i = 0; i < depth; i++) {
		if (i)
			jp_strbuf_str(out, "                  ");
		else
			jp_strbuf_printf(out, "%8s %6s   ", jp_shown_value(trace->value, t->unit).text,
			                 jp_shown_percent(trace->value, jp_scale_of(t->view)).text);
		jp_strbuf_visible(out, t->view->rows[names[i]].name);
		jp_strbuf_str(out, "\n");
	}
}

int jp_render_traces(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                     struct jprof_error *err)
{
	struct traces t = { .view = view, .unit = jp_unit_of(view, opts) };
	size_t left = opts->top ? opts->top : SIZE_MAX;
	int rc = jp_walk_init(&t.walk, view);
	for (uint32_t i = 0; !rc && i < view->stack_count; i++)
		rc = add_trace(&t, i);
	if (!rc && t.count)
		qsort_r(t.items, t.count, sizeof *t.items, traces_by_value, &t);
	if (!rc)
		jp_put_total(view, opts, t.unit, out);
	for (size_t i = 0; !rc && i < t.count && left; i++)
		if (t.items[i].value != 0) {
			put_trace(&t, &t.items[i], out);
			jp_strbuf_drain(out);
			left--;
		}
	if (!rc && t.count)
		jp_strbuf_str(out, trace_rule);
	jp_walk_release(&t.walk);
	jp_intern_release(&t.stacks);
	free(t.items);
	free(t.key);
	return rc ? jp_error_nomem(err) : 0;
}
