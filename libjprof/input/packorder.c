#include "input/packorder.h"

#include <stdlib.h>
#include <string.h>

#include "input/packmatch.h"

enum {
	least_functions = 64, /* fewer are matched all */
	most_samples = 256,
};

/* ---- whether it is one ---------------------------------------------------------------------------- */

static bool are_as_long(const struct jp_codefile *file, const struct jp_namepack *pack)
{
	if (file->function_count != pack->count || pack->count < least_functions)
		return false;
	for (size_t i = 0; i < pack->count; i++)
		if (file->functions[i].end - file->functions[i].start != pack->functions[i].size)
			return false;
	return true;
}

/* A function that cannot be read is like another such. 1, 0, or -1 when memory is short. */
static int is_alike(const struct jp_packorder *o, size_t function)
{
	const struct jp_packed_function *g = &o->pack->functions[function];
	if (jp_fingerprint_make(o->prints, function))
		return -1;
	const struct jp_fingerprint *f = &o->prints->items[function];
	return f->content == g->content && f->named == g->named;
}

static int samples_are_alike(const struct jp_packorder *o)
{
	size_t step = o->pack->count / most_samples + 1;
	int alike = 1;
	for (size_t i = 0; alike == 1 && i < o->pack->count; i += step)
		alike = is_alike(o, i);
	return alike;
}

static bool agrees_with_exports(const struct jp_packorder *o, const struct jp_packexports *exports)
{
	for (size_t i = 0; i < o->pack->count; i++) {
		const char *name = o->pack->functions[i].name;
		if (*name &&
		    jp_packexports_judge(exports, o->prints->file->functions[i].start, name) == JP_EXPORT_OTHER)
			return false;
	}
	return true;
}

/* A fingerprint of the pack, to be sorted. */
struct print_of {
	uint64_t content, rest;
	size_t function;
};

static int compare_prints(const struct print_of *x, const struct print_of *y)
{
	if (x->content != y->content)
		return x->content < y->content ? -1 : 1;
	return (x->rest > y->rest) - (x->rest < y->rest);
}

static int by_print(const void *a, const void *b)
{
	return compare_prints(a, b);
}

static bool *find_unique_prints(const struct jp_namepack *pack)
{
	size_t n = pack->count;
	struct print_of *prints = calloc(n + 1, sizeof *prints);
	bool *unique = prints ? calloc(n + 1, sizeof *unique) : NULL;
	for (size_t i = 0; unique && i < n; i++) {
		const struct jp_packed_function *f = &pack->functions[i];
		prints[i] = (struct print_of){ f->content, (uint64_t)f->size << 32 | f->named, i };
	}
	if (unique)
		qsort(prints, n, sizeof *prints, by_print);
	for (size_t i = 0; unique && i < n; i++)
		unique[prints[i].function] = (!i || compare_prints(&prints[i - 1], &prints[i])) &&
		                             (i + 1 == n || compare_prints(&prints[i], &prints[i + 1]));
	free(prints);
	return unique;
}

int jp_packorder_find(struct jp_packorder *order, const struct jp_namepack *pack, struct jp_fingerprints *prints,
                      const struct jp_packexports *exports)
{
	*order = (struct jp_packorder){ .pack = pack, .prints = prints };
	if (!are_as_long(prints->file, pack) || !agrees_with_exports(order, exports))
		return 0;
	int alike = samples_are_alike(order);
	if (alike == 1)
		order->unique = find_unique_prints(pack);
	return alike == 1 && !order->unique ? -1 : alike;
}

void jp_packorder_release(struct jp_packorder *order)
{
	free(order->unique);
	*order = (struct jp_packorder){ 0 };
}

/* ---- one function --------------------------------------------------------------------------------- */

static bool is_anchor(const struct jp_packorder *o, size_t function)
{
	return o->unique[function] && jp_fingerprint_says_something(&o->prints->items[function]);
}

/* The functions around one that is no anchor, up to the anchors on both sides: [first, end). At most one more than may
 * be. 1; 0: one that was looked at is not alike; -1: memory is short. */
static int find_neighbours(const struct jp_packorder *o, size_t function, size_t *first, size_t *end)
{
	int alike = 1;
	*first = function;
	*end = function + 1;
	while (*first && *end - *first <= JP_LONGEST_RUN && (alike = is_alike(o, *first - 1)) == 1 &&
	       !is_anchor(o, *first - 1))
		--*first;
	while (alike == 1 && *end < o->pack->count && *end - *first <= JP_LONGEST_RUN &&
	       (alike = is_alike(o, *end)) == 1 && !is_anchor(o, *end))
		++*end;
	return alike;
}

/* Whether each known callee is the one in its place. */
static bool callees_agree(const struct jp_packorder *o, size_t function)
{
	const struct jp_fingerprint *f = &o->prints->items[function];
	const struct jp_packed_function *g = &o->pack->functions[function];
	for (uint32_t i = 0; f->callee_count == g->callee_count && i < f->callee_count; i++) {
		uint32_t ours = o->prints->callees[f->callee_first + i], theirs = o->pack->callees[g->callee_first + i];
		if (ours != theirs && ours != UINT32_MAX && theirs != UINT32_MAX)
			return false;
	}
	return true;
}

static bool is_named_once(const struct jp_namepack *pack, uint32_t named)
{
	size_t n = 0;
	for (uint32_t i = 0; named && n < 2 && i < pack->count; i++)
		n += pack->functions[i].named == named;
	return n == 1;
}

static bool is_like_another_of(const struct jp_packorder *o, size_t function, size_t first, size_t end)
{
	const struct jp_packed_function *all = o->pack->functions;
	for (size_t i = first; i < end; i++)
		if (i != function && all[i].content == all[function].content)
			return true;
	return false;
}

/* A run whose functions are alike, one by one. */
static enum jp_place_verdict judge_in_run(const struct jp_packorder *o, size_t function, size_t first, size_t end)
{
	const struct jp_packed_function *g = &o->pack->functions[function];
	for (size_t i = first; i < end; i++) {
		if (!callees_agree(o, i))
			return JP_PLACE_OTHER;
		if (!o->pack->functions[i].content)
			return JP_PLACE_UNSURE;
	}
	bool sure =
	    !strchr(g->name, '.') || !is_like_another_of(o, function, first, end) || is_named_once(o->pack, g->named);
	return sure ? JP_PLACE_SAME : JP_PLACE_UNSURE;
}

int jp_packorder_judge(struct jp_packorder *order, size_t function, enum jp_place_verdict *verdict)
{
	size_t first, end;
	int alike = is_alike(order, function);
	*verdict = JP_PLACE_OTHER;
	if (alike == 1 && is_anchor(order, function)) {
		*verdict = JP_PLACE_SAME;
		return 0;
	}
	if (alike == 1)
		alike = find_neighbours(order, function, &first, &end);
	if (alike == 1)
		*verdict = end - first <= JP_LONGEST_RUN ? judge_in_run(order, function, first, end) : JP_PLACE_UNSURE;
	return alike < 0 ? -1 : 0;
}
