/* A function of the file and one of the pack that have the same fingerprint, which no other has on either side, and
 * stand in the same order as all such pairs, are an anchor if the same number of functions lies between it and the next
 * ones on both sides. Between two anchors functions are paired by position, a short run as a whole or not at all. */
#include "input/packmatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum {
	least_alike = 50, /* per cent of the functions on the larger side */
	same_alike = 97,  /* likewise: the same compiler made it, with the same options */
	most_wrong = 1,   /* per cent of the exported functions; beyond it, no name is believed */
	near_wrong = 8,   /* functions around a wrong one */
};

/* A function of either side, to be sorted by its fingerprint. */
struct print_key {
	uint64_t content;
	uint32_t size, named, function;
};

struct key_list {
	struct print_key *items;
	size_t count;
};

struct number_list {
	uint32_t *items;
	size_t count;
};

struct pair {
	uint32_t ours, theirs; /* functions of the file, of the pack */
};

struct pairing {
	const struct jp_namepack *pack;
	const struct jp_codefile *file;
	const struct jp_fingerprints *prints;
	struct jp_packmatch *match;
	struct key_list ours, theirs;
	struct number_list our_names, their_names; /* what functions refer to: jp_fingerprint.named, sorted */
	struct pair *pairs;                        /* anchors, by the file's order */
	size_t pair_count;
	bool same_compiler; /* as good as all contents are alike: functions come in the same order */
};

/* ---- fingerprints that occur once --------------------------------------------------------------- */

static int compare_contents(const struct print_key *x, const struct print_key *y)
{
	return jp_order_by(x->content, y->content, jp_order(x->size, y->size));
}

static int compare_keys(const struct print_key *x, const struct print_key *y)
{
	int contents = compare_contents(x, y);
	return contents ? contents : jp_order(x->named, y->named);
}

static int by_print_key(const void *a, const void *b)
{
	const struct print_key *x = a, *y = b;
	int keys = compare_keys(x, y);
	return keys ? keys : jp_order(x->function, y->function);
}

static struct print_key *new_keys(struct key_list *list, size_t most)
{
	list->items = calloc(most + 1, sizeof *list->items);
	return list->items;
}

/* The references of the functions in a list of keys. */
static int list_names(const struct key_list *keys, struct number_list *names)
{
	names->items = calloc(keys->count + 1, sizeof *names->items);
	names->count = keys->count;
	for (size_t i = 0; names->items && i < keys->count; i++)
		names->items[i] = keys->items[i].named;
	if (names->items && names->count)
		qsort(names->items, names->count, sizeof *names->items, jp_by_number);
	return names->items ? 0 : -1;
}

static bool occurs_once(const struct number_list *names, uint32_t number)
{
	const uint32_t *at = bsearch(&number, names->items, names->count, sizeof number, jp_by_number);
	size_t i = at ? (size_t)(at - names->items) : 0;
	return at && (!i || at[-1] != number) && (i + 1 == names->count || at[1] != number);
}

static int make_keys(struct pairing *p)
{
	if (!new_keys(&p->ours, p->prints->count) || !new_keys(&p->theirs, p->pack->count))
		return -1;
	for (uint32_t i = 0; i < p->prints->count; i++) {
		const struct jp_fingerprint *f = &p->prints->items[i];
		if (f->content)
			p->ours.items[p->ours.count++] = (struct print_key){ f->content, f->size, f->named, i };
	}
	for (uint32_t i = 0; i < p->pack->count; i++) {
		const struct jp_packed_function *f = &p->pack->functions[i];
		if (f->content)
			p->theirs.items[p->theirs.count++] = (struct print_key){ f->content, f->size, f->named, i };
	}
	qsort(p->ours.items, p->ours.count, sizeof *p->ours.items, by_print_key);
	qsort(p->theirs.items, p->theirs.count, sizeof *p->theirs.items, by_print_key);
	return list_names(&p->ours, &p->our_names) || list_names(&p->theirs, &p->their_names) ? -1 : 0;
}

/* How many items from `at` on compare as equal to it. */
static size_t run_length(const struct key_list *list, size_t at,
                         int (*compare)(const struct print_key *, const struct print_key *))
{
	size_t end = at + 1;
	while (end < list->count && !compare(&list->items[at], &list->items[end]))
		end++;
	return end - at;
}

/* Walks both lists at once, over equal runs. */
static void find_unique(struct pairing *p)
{
	for (size_t i = 0, j = 0; i < p->ours.count && j < p->theirs.count;) {
		const struct print_key *x = &p->ours.items[i], *y = &p->theirs.items[j];
		int order = compare_keys(x, y);
		size_t m = order <= 0 ? run_length(&p->ours, i, compare_keys) : 0;
		size_t n = order >= 0 ? run_length(&p->theirs, j, compare_keys) : 0;
		if (!order && m == 1 && n == 1 && jp_fingerprint_says_something(&p->prints->items[x->function]))
			p->pairs[p->pair_count++] = (struct pair){ x->function, y->function };
		i += order <= 0 ? m : 0;
		j += order >= 0 ? n : 0;
	}
}

static void count_same_contents(struct pairing *p)
{
	for (size_t i = 0, j = 0; i < p->ours.count && j < p->theirs.count;) {
		int order = compare_contents(&p->ours.items[i], &p->theirs.items[j]);
		size_t m = order <= 0 ? run_length(&p->ours, i, compare_contents) : 0;
		size_t n = order >= 0 ? run_length(&p->theirs, j, compare_contents) : 0;
		if (!order)
			p->match->alike += m < n ? m : n;
		i += order <= 0 ? m : 0;
		j += order >= 0 ? n : 0;
	}
}

/* ---- order -------------------------------------------------------------------------------------- */

/* Where in the `len` last pairs of rising sequences, by length, one that ends in `theirs` belongs. */
static size_t rising_place(const struct pairing *p, const uint32_t *last, size_t len, uint32_t theirs)
{
	size_t low = 0, high = len;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (p->pairs[last[middle]].theirs < theirs)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Keeps the longest sequence of pairs that rises on both sides. */
static int keep_rising(struct pairing *p)
{
	uint32_t *last = calloc(p->pair_count + 1, sizeof *last), *before = calloc(p->pair_count + 1, sizeof *before);
	size_t len = 0;
	qsort(p->pairs, p->pair_count, sizeof *p->pairs, jp_by_number);
	for (uint32_t i = 0; last && before && i < p->pair_count; i++) {
		size_t place = rising_place(p, last, len, p->pairs[i].theirs);
		before[i] = place ? last[place - 1] : UINT32_MAX;
		last[place] = i;
		len += place == len;
	}
	bool memory = last && before;
	if (memory && len) {
		uint32_t at = last[len - 1];
		for (size_t i = len; i--; at = before[at])
			last[i] = at;
		for (size_t i = 0; i < len; i++)
			p->pairs[i] = p->pairs[last[i]];
		p->pair_count = len;
	}
	free(last);
	free(before);
	return memory ? 0 : -1;
}

/* ---- runs between anchors ----------------------------------------------------------------------- */

/* The functions between pair i-1 and pair i; the ends of both sides count as pairs. */
struct gap {
	uint32_t ours, theirs; /* the first of them */
	uint32_t count, theirs_count;
};

static struct gap gap_before(const struct pairing *p, size_t i)
{
	struct gap g = { 0 };
	if (i) {
		g.ours = p->pairs[i - 1].ours + 1;
		g.theirs = p->pairs[i - 1].theirs + 1;
	}
	bool last = i == p->pair_count;
	g.count = (last ? (uint32_t)p->prints->count : p->pairs[i].ours) - g.ours;
	g.theirs_count = (last ? p->pack->count : p->pairs[i].theirs) - g.theirs;
	return g;
}

static bool is_even(const struct gap *gap)
{
	return gap->count == gap->theirs_count;
}

/* Whether that is known of no callee, of one and none otherwise, or otherwise of one. */
enum callees { CALLEES_UNKNOWN, CALLEES_SAME, CALLEES_OTHER };

static enum callees compare_callees(const struct pairing *p, uint32_t ours, uint32_t theirs)
{
	const struct jp_fingerprint *f = &p->prints->items[ours];
	const struct jp_packed_function *g = &p->pack->functions[theirs];
	enum callees result = CALLEES_UNKNOWN;
	if (f->callee_count != g->callee_count)
		return CALLEES_UNKNOWN;
	for (uint32_t i = 0; i < f->callee_count; i++) {
		uint32_t ours_to = p->prints->callees[f->callee_first + i];
		uint32_t theirs_to = p->pack->callees[g->callee_first + i];
		uint32_t known = ours_to == UINT32_MAX ? UINT32_MAX : p->match->named[ours_to];
		if (known == UINT32_MAX || theirs_to == UINT32_MAX)
			continue;
		if (known != theirs_to)
			return CALLEES_OTHER;
		result = CALLEES_SAME;
	}
	return result;
}

/* Whether another function of the gap has the same content: then only its position tells which of them is which. */
static bool is_like_another(const struct pairing *p, const struct gap *gap, uint32_t i)
{
	const struct jp_fingerprint *f = &p->prints->items[gap->ours];
	const struct jp_packed_function *g = &p->pack->functions[gap->theirs];
	for (uint32_t k = 0; k < gap->count; k++)
		if (k != i && (f[k].content == f[i].content || g[k].content == g[i].content))
			return true;
	return false;
}

static bool has_same_content(const struct jp_fingerprint *f, const struct jp_packed_function *g)
{
	return f->content && f->content == g->content && f->size == g->size && f->named == g->named;
}

/* Whether the callees tell the i-th function of the gap from others there that have the same content. */
static bool callees_decide(const struct pairing *p, const struct gap *gap, uint32_t i)
{
	const struct jp_packed_function *g = &p->pack->functions[gap->theirs + i];
	for (uint32_t k = 0; k < gap->count; k++)
		if (k != i && has_same_content(&p->prints->items[gap->ours + k], g) &&
		    compare_callees(p, gap->ours + k, gap->theirs + i) != CALLEES_OTHER)
			return false;
	return true;
}

/* Clones and parts of functions (f.cold, f.part.0): which there are is the compiler's choice. */
static bool is_clone(const struct jp_packed_function *g)
{
	return strchr(g->name, '.');
}

enum pair_verdict { PAIR_UNLIKE, PAIR_UNSURE, PAIR_SAME };

/* What besides its position says that it is the same function: its content, or the names and strings that it uses, or
 * functions that it calls. Another compiler may order functions otherwise, and any compiler the cold parts of a file
 * that changed: then a content that others have, too, says nothing. Names and strings do where no other function of
 * the library refers to the same ones. */
static enum pair_verdict judge_pair(const struct pairing *p, const struct gap *gap, uint32_t i)
{
	const struct jp_fingerprint *f = &p->prints->items[gap->ours + i];
	const struct jp_packed_function *g = &p->pack->functions[gap->theirs + i];
	enum callees callees = compare_callees(p, gap->ours + i, gap->theirs + i);
	bool same_content = has_same_content(f, g), clone = is_clone(g);
	if (callees == CALLEES_OTHER)
		return PAIR_UNLIKE;
	if (clone && !p->same_compiler)
		return same_content ? PAIR_UNSURE : PAIR_UNLIKE;
	if (same_content && ((p->same_compiler && (!clone || !is_like_another(p, gap, i))) ||
	                     (callees == CALLEES_SAME && callees_decide(p, gap, i))))
		return PAIR_SAME;
	if (f->named && f->named == g->named && occurs_once(&p->our_names, f->named) &&
	    occurs_once(&p->their_names, f->named))
		return PAIR_SAME;
	return same_content ? PAIR_UNSURE : PAIR_UNLIKE;
}

/* One pair that is unlike says that functions came or went: then no position holds. */
static void pair_gap(struct pairing *p, const struct gap *gap)
{
	enum pair_verdict verdicts[JP_LONGEST_RUN];
	if (!is_even(gap) || gap->count > JP_LONGEST_RUN)
		return;
	for (uint32_t i = 0; i < gap->count; i++)
		if ((verdicts[i] = judge_pair(p, gap, i)) == PAIR_UNLIKE)
			return;
	for (uint32_t i = 0; i < gap->count; i++)
		if (verdicts[i] == PAIR_SAME)
			p->match->named[gap->ours + i] = gap->theirs + i;
}

static void name_pairs(struct pairing *p)
{
	for (size_t i = 0; i < p->pair_count; i++) {
		struct gap before = gap_before(p, i), after = gap_before(p, i + 1);
		bool certain = p->same_compiler || !is_clone(&p->pack->functions[p->pairs[i].theirs]);
		if (certain && is_even(&before) && is_even(&after))
			p->match->named[p->pairs[i].ours] = p->pairs[i].theirs;
	}
	for (size_t i = 0; i <= p->pair_count; i++) {
		struct gap gap = gap_before(p, i);
		pair_gap(p, &gap);
	}
}

/* ---- judging ------------------------------------------------------------------------------------ */

static void unname_near(struct jp_packmatch *match, size_t count, size_t function)
{
	size_t first = function > near_wrong ? function - near_wrong : 0;
	for (size_t i = first; i < count && i <= function + near_wrong; i++)
		match->named[i] = UINT32_MAX;
}

/* The names that the file has itself are right: where the pack has others, it is not believed around them. */
static void judge_by_exports(struct pairing *p, const struct jp_packexports *exports)
{
	struct jp_packmatch *m = p->match;
	for (size_t i = 0; i < p->prints->count; i++) {
		if (m->named[i] == UINT32_MAX)
			continue;
		const char *name = p->pack->functions[m->named[i]].name;
		enum jp_export_verdict verdict =
		    *name ? jp_packexports_judge(exports, p->file->functions[i].start, name) : JP_EXPORT_NONE;
		m->exports += verdict != JP_EXPORT_NONE;
		m->wrong += verdict == JP_EXPORT_OTHER;
		if (verdict == JP_EXPORT_OTHER)
			unname_near(m, p->prints->count, i);
	}
}

/* Whether so many per cent of the functions on the larger side have a content that is on the other, too. */
static bool are_alike(const struct pairing *p, unsigned percent)
{
	size_t all = p->prints->count > p->pack->count ? p->prints->count : p->pack->count;
	return p->match->alike * 100 >= all * percent;
}

static bool pack_fits(const struct pairing *p)
{
	const struct jp_packmatch *m = p->match;
	return are_alike(p, least_alike) && m->wrong * 100 <= m->exports * most_wrong;
}

static void settle(struct pairing *p)
{
	struct jp_packmatch *m = p->match;
	m->fits = pack_fits(p);
	for (size_t i = 0; i < p->prints->count; i++) {
		if (!m->fits)
			m->named[i] = UINT32_MAX;
		m->count += m->named[i] != UINT32_MAX;
	}
}

int jp_packmatch_find(const struct jp_namepack *pack, const struct jp_codefile *file,
                      const struct jp_fingerprints *prints, const struct jp_packexports *exports,
                      struct jp_packmatch *match)
{
	struct pairing p = { .pack = pack, .file = file, .prints = prints, .match = match };
	*match = (struct jp_packmatch){ .named = malloc((prints->count + 1) * sizeof *match->named) };
	p.pairs = calloc(prints->count + 1, sizeof *p.pairs);
	int rc = match->named && p.pairs ? make_keys(&p) : -1;
	if (!rc) {
		memset(match->named, 0xff, prints->count * sizeof *match->named);
		find_unique(&p);
		count_same_contents(&p);
		p.same_compiler = are_alike(&p, same_alike);
		rc = keep_rising(&p);
	}
	if (!rc) {
		name_pairs(&p);
		judge_by_exports(&p, exports);
		settle(&p);
	}
	free(p.pairs);
	free(p.our_names.items);
	free(p.their_names.items);
	free(p.ours.items);
	free(p.theirs.items);
	return rc;
}
