#include "render/pagesizes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/search.h"
#include "view/sizeview.h"

/* What a stack of the page has in one size class. */
struct sized {
	uint32_t stack;
	double limit; /* of the class; 0: no one size */
	double bytes, objects;
};

static int compare_sized(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;
	return jp_order_by(x->stack, y->stack, jp_order(x->limit, y->limit));
}

/* One for each stack and class, in the order of stacks. NULL when memory is short. */
static struct sized *sizes_of_stacks(const struct jprof_view *view, const uint32_t *of, enum jprof_counter objects,
                                     size_t *count)
{
	struct sized *sizes = calloc((size_t)view->stack_count + 1, sizeof *sizes);
	size_t n = 0;
	bool sorted = true;
	*count = 0;
	for (uint32_t i = 0; sizes && i < view->stack_count; i++) {
		struct sized *s = &sizes[n];
		*s = (struct sized){ .stack = of[i],
			             .bytes = jp_stack_number(view, i, jp_bytes_of(objects)),
			             .objects = jp_stack_number(view, i, objects) };
		if (s->objects != 0 && s->bytes / s->objects > 0)
			jp_mean_size_class(s->bytes / s->objects, &s->limit);
		if (!view->stacks[i].depth || (s->bytes == 0 && s->objects == 0))
			continue;
		sorted = sorted && (!n || compare_sized(s - 1, s) < 0);
		n++;
	}
	if (!sorted)
		qsort(sizes, n, sizeof *sizes, compare_sized);
	for (size_t i = 0; i < n; i++)
		if (*count && !compare_sized(&sizes[*count - 1], &sizes[i])) {
			sizes[*count - 1].bytes += sizes[i].bytes;
			sizes[*count - 1].objects += sizes[i].objects;
		} else
			sizes[(*count)++] = sizes[i];
	return sizes;
}

/* Whether the whole numbers of a page have another mean than the stack. */
static bool is_rounded_away(const struct sized *s)
{
	double bytes = round(s->bytes), objects = round(s->objects), limit = 0;
	if (objects != 0 && bytes / objects > 0)
		jp_mean_size_class(bytes / objects, &limit);
	return limit != s->limit;
}

/* Leaves the stacks whose size a page cannot know: of those with several, and of few objects. */
static size_t keep_mixed(struct sized *sizes, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && sizes[end].stack == sizes[i].stack;)
			end++;
		for (size_t k = i; (end - i > 1 || is_rounded_away(&sizes[i])) && k < end; k++)
			sizes[kept++] = sizes[k];
	}
	return kept;
}

static void put_sized(struct jp_jsonout *json, const struct sized *sizes, size_t count)
{
	static const char *const keys[] = { "stack", "limit", "bytes", "objects" };
	for (size_t c = 0; c < sizeof keys / sizeof *keys; c++) {
		jp_jsonout_open(json, keys[c], '[', true);
		for (size_t i = 0; i < count; i++) {
			const double of[] = { sizes[i].stack, sizes[i].limit, sizes[i].bytes, sizes[i].objects };
			jp_jsonout_number(json, NULL, of[c], c == 3 ? 2 : 0);
		}
		jp_jsonout_close(json);
	}
}

int jp_put_page_sizes(struct jp_jsonout *json, const struct jprof_view *view, const uint32_t *of)
{
	static const struct {
		const char *key;
		enum jprof_counter objects;
	} kinds[] = { { "inuse", JPROF_INUSE_OBJECTS }, { "alloc", JPROF_ALLOC_OBJECTS } };
	int rc = 0;
	jp_jsonout_open(json, "sizes", '{', false);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		size_t count;
		struct sized *sizes = sizes_of_stacks(view, of, kinds[i].objects, &count);
		jp_jsonout_open(json, kinds[i].key, '{', false);
		put_sized(json, sizes, sizes ? keep_mixed(sizes, count) : 0);
		jp_jsonout_close(json);
		rc = sizes ? rc : -1;
		free(sizes);
	}
	jp_jsonout_close(json);
	return rc;
}
