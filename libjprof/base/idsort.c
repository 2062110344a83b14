#include "base/idsort.h"

#include <stdbool.h>

enum { few_ids = 12 };

struct id_sort {
	jp_id_order_fn *order;
	const void *context;
};

static bool comes_before(const struct id_sort *s, uint32_t a, uint32_t b)
{
	return s->order(a, b, s->context) < 0;
}

static void swap_ids(uint32_t *a, uint32_t *b)
{
	uint32_t kept = *a;
	*a = *b;
	*b = kept;
}

static void insert_ids(const struct id_sort *s, uint32_t *ids, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint32_t id = ids[i];
		size_t at = i;
		for (; at && comes_before(s, id, ids[at - 1]); at--)
			ids[at] = ids[at - 1];
		ids[at] = id;
	}
}

static void sift_down(const struct id_sort *s, uint32_t *ids, size_t at, size_t count)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		child += child + 1 < count && comes_before(s, ids[child], ids[child + 1]);
		if (!comes_before(s, ids[at], ids[child]))
			return;
		swap_ids(&ids[at], &ids[child]);
	}
}

static void heap_sort_ids(const struct id_sort *s, uint32_t *ids, size_t count)
{
	for (size_t i = count / 2; i-- > 0;)
		sift_down(s, ids, i, count);
	while (count-- > 1) {
		swap_ids(&ids[0], &ids[count]);
		sift_down(s, ids, 0, count);
	}
}

/* Puts the middle one of three where they should be divided, and all before it to its left. */
static size_t divide_ids(const struct id_sort *s, uint32_t *ids, size_t count)
{
	size_t last = count - 1, left = 0, right = last - 1;
	if (comes_before(s, ids[count / 2], ids[0]))
		swap_ids(&ids[count / 2], &ids[0]);
	if (comes_before(s, ids[last], ids[0]))
		swap_ids(&ids[last], &ids[0]);
	if (comes_before(s, ids[last], ids[count / 2]))
		swap_ids(&ids[last], &ids[count / 2]);
	swap_ids(&ids[count / 2], &ids[right]);
	uint32_t middle = ids[right];
	for (;;) {
		while (comes_before(s, ids[++left], middle))
			;
		while (comes_before(s, middle, ids[--right]))
			;
		if (left >= right)
			break;
		swap_ids(&ids[left], &ids[right]);
	}
	swap_ids(&ids[left], &ids[last - 1]);
	return left;
}

/* The larger part goes on here, so calls are nested as deep as the logarithm at most. Parts that were divided badly too
 * often are sorted as a heap. */
static void quick_sort_ids(const struct id_sort *s, uint32_t *ids, size_t count, unsigned tries)
{
	for (; count > few_ids && tries; tries--) {
		size_t at = divide_ids(s, ids, count), rest = count - at - 1;
		if (at < rest) {
			quick_sort_ids(s, ids, at, tries - 1);
			ids += at + 1;
			count = rest;
		} else {
			quick_sort_ids(s, ids + at + 1, rest, tries - 1);
			count = at;
		}
	}
	if (count > few_ids)
		heap_sort_ids(s, ids, count);
	else
		insert_ids(s, ids, count);
}

void jp_sort_ids(uint32_t *ids, size_t count, jp_id_order_fn *order, const void *context)
{
	const struct id_sort s = { order, context };
	unsigned tries = 2;
	for (size_t n = count; n > 1; n /= 2)
		tries += 2;
	quick_sort_ids(&s, ids, count, tries);
}
