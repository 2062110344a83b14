#include "input/packorder.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "input/packmatch.h"

enum {
	least_functions = 64, /* fewer are matched all */
	least_as_long = 97,   /* per cent of the functions on the larger side; and of the samples that are alike */
	most_samples = 256,
	in_step = 16,  /* functions in a row that are as long, to find the place again where one is not */
	farthest = 64, /* functions, in which it is looked for */
	settled = 32,  /* functions on both sides between which none came or went */
};

/* ---- places --------------------------------------------------------------------------------------- */

/* Up to where places are known. */
struct size_walk {
	const struct jp_codefile *file;
	const struct jp_namepack *pack;
	size_t ours, theirs, as_long;
};

static bool is_as_long(const struct size_walk *p, size_t ours, size_t theirs)
{
	const struct jp_function_bounds *f = &p->file->functions[ours];
	return f->end - f->start == p->pack->functions[theirs].size;
}

/* Whether the next functions are as long, one by one, or both sides end before. */
static bool go_on_in_step(const struct size_walk *p, size_t ours, size_t theirs)
{
	size_t count = p->file->function_count;
	for (unsigned i = 0; i < in_step; i++, ours++, theirs++) {
		if (ours >= count || theirs >= p->pack->count)
			return ours == count && theirs == p->pack->count;
		if (!is_as_long(p, ours, theirs))
			return false;
	}
	return true;
}

/* How many functions are to be skipped on both sides, as many on both if that will do. */
static bool find_step(const struct size_walk *p, size_t *skip_ours, size_t *skip_theirs)
{
	for (size_t n = 1; n <= farthest; n++)
		if (go_on_in_step(p, p->ours + n, p->theirs + n)) {
			*skip_ours = *skip_theirs = n;
			return true;
		}
	for (size_t sum = 1; sum <= farthest; sum++)
		for (size_t n = 0; n <= sum; n++)
			if (go_on_in_step(p, p->ours + n, p->theirs + sum - n)) {
				*skip_ours = n;
				*skip_theirs = sum - n;
				return true;
			}
	return false;
}

/* A function that changed has the place of the one that is not as long. */
static void find_places(struct size_walk *p, uint32_t *place)
{
	size_t ours = 0, theirs = 0;
	while (p->ours < p->file->function_count && p->theirs < p->pack->count) {
		if (is_as_long(p, p->ours, p->theirs)) {
			place[p->ours++] = (uint32_t)p->theirs++;
			p->as_long++;
			continue;
		}
		if (!find_step(p, &ours, &theirs))
			return;
		for (size_t i = 0; ours == theirs && i < ours; i++)
			place[p->ours + i] = (uint32_t)(p->theirs + i);
		p->ours += ours;
		p->theirs += theirs;
	}
}

/* 1, 0 where too few have one, or -1 when memory is short. */
static int place_functions(struct jp_packorder *o)
{
	struct size_walk p = { .file = o->prints->file, .pack = o->pack };
	size_t count = p.file->function_count, larger = count > p.pack->count ? count : p.pack->count;
	if (count < least_functions)
		return 0;
	o->place = malloc(count * sizeof *o->place);
	if (!o->place)
		return -1;
	memset(o->place, 0xff, count * sizeof *o->place);
	find_places(&p, o->place);
	return p.as_long * 100 >= larger * least_as_long;
}

/* ---- whether it is one ---------------------------------------------------------------------------- */

/* Whether it has the content of the one in its place; one that cannot be read is like another such. 1, 0, or -1 when
 * memory is short. */
static int is_alike(const struct jp_packorder *o, size_t function)
{
	if (jp_fingerprint_make(o->prints, function))
		return -1;
	const struct jp_fingerprint *f = &o->prints->items[function];
	if (o->place[function] == UINT32_MAX)
		return 0;
	const struct jp_packed_function *g = &o->pack->functions[o->place[function]];
	return f->content == g->content && f->size == g->size && f->named == g->named;
}

static int samples_are_alike(const struct jp_packorder *o)
{
	size_t count = o->prints->count, step = count / most_samples + 1, alike = 0, all = 0;
	for (size_t i = 0; i < count; i += step, all++) {
		int rc = is_alike(o, i);
		if (rc < 0)
			return -1;
		alike += (size_t)rc;
	}
	return alike * 100 >= all * least_as_long;
}

static bool agrees_with_exports(const struct jp_packorder *o, const struct jp_packexports *exports)
{
	for (size_t i = 0; i < o->prints->count; i++) {
		const char *name = o->place[i] == UINT32_MAX ? "" : o->pack->functions[o->place[i]].name;
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
	return jp_order_by(x->content, y->content, jp_order(x->rest, y->rest));
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
	int placed = place_functions(order);
	if (placed != 1 || !agrees_with_exports(order, exports))
		return placed < 0 ? -1 : 0;
	int alike = samples_are_alike(order);
	if (alike == 1)
		order->unique = find_unique_prints(pack);
	return alike == 1 && !order->unique ? -1 : alike;
}

void jp_packorder_release(struct jp_packorder *order)
{
	free(order->place);
	free(order->unique);
	*order = (struct jp_packorder){ 0 };
}

/* ---- one function --------------------------------------------------------------------------------- */

/* Whether the functions around it have places that follow each other, up to both ends of file and pack. */
static bool is_settled(const struct jp_packorder *o, size_t function)
{
	size_t at = o->place[function], count = o->prints->count;
	if (at == UINT32_MAX)
		return false;
	for (size_t i = 1; i <= settled; i++) {
		bool before = i <= function && i <= at, after = i < count - function && i < o->pack->count - at;
		if (before ? o->place[function - i] != at - i : i <= function || i <= at)
			return false;
		if (after ? o->place[function + i] != at + i : i < count - function || i < o->pack->count - at)
			return false;
	}
	return true;
}

/* 1, 0, or -1 when memory is short. */
static int is_anchor(const struct jp_packorder *o, size_t function)
{
	int alike = is_alike(o, function);
	return alike == 1 ? o->unique[o->place[function]] && jp_fingerprint_says_something(&o->prints->items[function])
	                  : alike;
}

/* The functions around one that is no anchor, up to the anchors on both sides: [first, end), at most one more than may
 * be. 0, or -1 when memory is short. */
static int find_neighbours(const struct jp_packorder *o, size_t function, size_t *first, size_t *end)
{
	int anchor = 0;
	*first = function;
	*end = function + 1;
	while (*first && *end - *first <= JP_LONGEST_RUN && !(anchor = is_anchor(o, *first - 1)))
		--*first;
	while (anchor >= 0 && *end < o->prints->count && *end - *first <= JP_LONGEST_RUN &&
	       !(anchor = is_anchor(o, *end)))
		++*end;
	return anchor < 0 ? -1 : 0;
}

static bool keeps_size(const struct jp_packorder *o, size_t function)
{
	const struct jp_function_bounds *f = &o->prints->file->functions[function];
	return f->end - f->start == o->pack->functions[o->place[function]].size;
}

/* Whether of the functions around a settled one that are not as long as those in their places one is in another's
 * place. 1, 0, or -1 when memory is short. */
static int is_beside_a_move(const struct jp_packorder *o, size_t function)
{
	size_t others[2 * JP_LONGEST_RUN + 1], n = 0, first = function < JP_LONGEST_RUN ? 0 : function - JP_LONGEST_RUN;
	for (size_t i = first; i < o->prints->count && i <= function + JP_LONGEST_RUN; i++)
		if (!keeps_size(o, i))
			others[n++] = i;
	for (size_t i = 0; i < n; i++) {
		if (jp_fingerprint_make(o->prints, others[i]))
			return -1;
		for (size_t k = 0; k < n; k++)
			if (o->prints->items[others[i]].content == o->pack->functions[o->place[others[k]]].content)
				return 1;
	}
	return 0;
}

static const struct jp_packed_function *in_place_of(const struct jp_packorder *o, size_t function)
{
	return &o->pack->functions[o->place[function]];
}

/* Whether each known callee is the one in its place. */
static bool callees_agree(const struct jp_packorder *o, size_t function)
{
	const struct jp_fingerprint *f = &o->prints->items[function];
	const struct jp_packed_function *g = in_place_of(o, function);
	for (uint32_t i = 0; f->callee_count == g->callee_count && i < f->callee_count; i++) {
		uint32_t callee = o->prints->callees[f->callee_first + i],
			 theirs = o->pack->callees[g->callee_first + i];
		uint32_t ours = callee == UINT32_MAX ? UINT32_MAX : o->place[callee];
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
	for (size_t i = first; i < end; i++)
		if (i != function && in_place_of(o, i)->content == in_place_of(o, function)->content)
			return true;
	return false;
}

/* Of a run between two anchors. A function that differs leaves all of it without names. 1, 0, or -1 when memory is
 * short. */
static int run_decides(const struct jp_packorder *o, size_t function, size_t first, size_t end)
{
	const struct jp_packed_function *g = in_place_of(o, function);
	for (size_t i = first; i < end; i++) {
		int alike = is_alike(o, i);
		if (alike != 1)
			return alike;
		if (!in_place_of(o, i)->content || !callees_agree(o, i))
			return 0;
	}
	return !strchr(g->name, '.') || !is_like_another_of(o, function, first, end) ||
	       is_named_once(o->pack, g->named);
}

int jp_packorder_judge(struct jp_packorder *order, size_t function, enum jp_place_verdict *verdict)
{
	size_t first, end;
	*verdict = JP_PLACE_OTHER;
	if (!is_settled(order, function))
		return 0;
	int moved = is_beside_a_move(order, function);
	if (moved)
		return moved < 0 ? -1 : 0;
	int sure = is_anchor(order, function);
	if (!sure && find_neighbours(order, function, &first, &end))
		return -1;
	if (!sure && end - first <= JP_LONGEST_RUN)
		sure = run_decides(order, function, first, end);
	*verdict = sure ? JP_PLACE_SAME : JP_PLACE_UNSURE;
	return sure < 0 ? -1 : 0;
}
