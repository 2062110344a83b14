#include "view/sitefrom.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "view/origin.h"
#include "view/store.h"
#include "view/walk.h"

/* What a row holds that came from a frame of the application; of equal lines the frame is any. */
struct came {
	uint32_t row, from; /* from: a row, too */
	uint32_t frame;
	double value;
};

struct site_callers {
	struct jprof_view *view;
	struct jp_walk walk;
	struct came *came;
	size_t count, cap;
};

static int add_caller(struct site_callers *c, uint32_t stack)
{
	struct jp_walk *w = &c->walk;
	const struct jprof_view *v = c->view;
	jp_walk_rows(w, stack);
	if (!w->depth || jp_origin_of(v->origins, w->frames[w->inner])->origin != JPROF_ORIGIN_GEM)
		return 0;
	uint32_t at = jp_origins_caller(v->origins, w->frames, w->inner + 1, w->depth);
	if (at == w->depth)
		return 0;
	if (jp_array_push(c->came, c->count, c->cap))
		return -1;
	c->came[c->count++] = (struct came){ w->rows[w->inner], w->rows[at], w->frames[at], jp_stack_value(v, stack) };
	return 0;
}

static int by_rows(const void *a, const void *b)
{
	const struct came *x = a, *y = b;
	return jp_order_by(x->row, y->row, jp_order_by(x->from, y->from, jp_order(x->frame, y->frame)));
}

/* Of several that are as much the first by name. */
static bool is_more(const struct jprof_view *v, const struct came *sum, const struct came *best)
{
	const struct jprof_row *row = &v->rows[sum->row];
	if (sum->value * row->flat <= 0 || fabs(sum->value) < fabs(best->value))
		return false;
	return fabs(sum->value) > fabs(best->value) || strcmp(v->rows[sum->from].name, v->rows[best->from].name) < 0;
}

static int set_caller(struct jprof_view *v, const struct came *best, const char *trim)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	const struct jp_frame *frame = &v->code.frames[best->frame];
	jp_put_site(&text, &v->code, jp_code_file(&v->code, frame->function), frame->line, trim);
	struct jprof_row *row = &v->rows[best->row];
	row->from = text.failed ? NULL : jp_arena_dup(&v->store->places, text.text, text.len);
	row->from_value = best->value;
	return row->from ? 0 : -1;
}

int jp_find_callers(struct jprof_view *v, const char *trim)
{
	struct site_callers c = { .view = v };
	if (!v->origins || v->info.granularity != JPROF_BY_SITE)
		return 0;
	int rc = jp_walk_init(&c.walk, v);
	for (uint32_t i = 0; !rc && i < v->stack_count; i++)
		rc = add_caller(&c, i);
	if (!rc && c.count)
		qsort(c.came, c.count, sizeof *c.came, by_rows);
	for (size_t i = 0, end; !rc && i < c.count; i = end) {
		for (end = i + 1; end < c.count && c.came[end].row == c.came[i].row;)
			end++;
		/* The sums of all that came to one row, [first, end); the largest is it. */
		struct came best = { 0 };
		for (size_t j = i, next; j < end; j = next) {
			struct came sum = c.came[j];
			for (next = j + 1; next < end && c.came[next].from == sum.from; next++)
				sum.value += c.came[next].value;
			if (is_more(v, &sum, &best))
				best = sum;
		}
		rc = best.value != 0 ? set_caller(v, &best, trim) : 0;
	}
	jp_walk_release(&c.walk);
	free(c.came);
	return rc;
}
