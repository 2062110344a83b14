/* The stack of rows that holds most: jprof_path_new. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "model/nameless.h"
#include "view/view.h"
#include "view/walk.h"

struct big_path {
	struct jprof_path path;
	struct jp_arena names;
};

/* A stack by the hash of its rows. Hashes are only where to look: what is the same is compared. */
struct hashed_stack {
	uint64_t hash;
	uint32_t stack;
};

struct path_search {
	const struct jprof_view *view;
	struct jp_walk walk;
	struct hashed_stack *stacks;
	size_t stack_count;
	uint32_t *rows; /* of the stack at hand, outermost first, each once in a run */
	size_t count;
	uint32_t *best; /* likewise, of what holds most */
	size_t best_count;
	double value;
	double *by_tag; /* of that value, by tag; behind them that of no tag */
};

static void lay_path(struct path_search *s, uint32_t stack)
{
	size_t length;
	jp_walk_rows(&s->walk, stack);
	const uint32_t *path = jp_walk_path(&s->walk, &length);
	s->count = 0;
	while (length--)
		if (!s->count || s->rows[s->count - 1] != path[length])
			s->rows[s->count++] = path[length];
}

static uint64_t hash_rows(const uint32_t *rows, size_t count)
{
	uint64_t hash = 14695981039346656037u; /* FNV-1a, by rows */
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ rows[i]) * 1099511628211u;
	return hash ^ hash >> 32;
}

static void hash_stacks(struct path_search *s)
{
	for (uint32_t i = 0; i < s->view->stack_count; i++) {
		lay_path(s, i);
		if (s->count && jp_stack_value(s->view, i) != 0)
			s->stacks[s->stack_count++] = (struct hashed_stack){ hash_rows(s->rows, s->count), i };
	}
}

static int by_hash(const void *a, const void *b)
{
	const struct hashed_stack *x = a, *y = b;
	return jp_order_by(x->hash, y->hash, jp_order(x->stack, y->stack));
}

/* The stacks [first, end) have one hash. */
static double sum_of_hash(const struct path_search *s, size_t first, size_t end)
{
	double sum = 0;
	for (size_t i = first; i < end; i++)
		sum += jp_stack_value(s->view, s->stacks[i].stack);
	return sum;
}

/* Of several that hold as much the one whose stack came first. Returns where its stacks begin; none: at the end. */
static size_t biggest_hash(const struct path_search *s)
{
	size_t best = s->stack_count;
	double most = 0;
	for (size_t i = 0, end; i < s->stack_count; i = end) {
		for (end = i + 1; end < s->stack_count && s->stacks[end].hash == s->stacks[i].hash;)
			end++;
		double sum = fabs(sum_of_hash(s, i, end));
		if (sum > most || (sum == most && sum > 0 && s->stacks[i].stack < s->stacks[best].stack)) {
			most = sum;
			best = i;
		}
	}
	return best;
}

static bool is_best(const struct path_search *s)
{
	return s->count == s->best_count && !memcmp(s->rows, s->best, s->count * sizeof *s->rows);
}

static void take_best(struct path_search *s, size_t at)
{
	lay_path(s, s->stacks[at].stack);
	memcpy(s->best, s->rows, s->count * sizeof *s->rows);
	s->best_count = s->count;
	for (size_t i = at; i < s->stack_count && s->stacks[i].hash == s->stacks[at].hash; i++) {
		uint32_t stack = s->stacks[i].stack, tag = s->view->stacks[stack].tag;
		lay_path(s, stack);
		if (!is_best(s))
			continue;
		s->value += jp_stack_value(s->view, stack);
		s->by_tag[tag == JP_NONE ? s->view->profile->tags.count : tag] += jp_stack_value(s->view, stack);
	}
}

/* How many rows all other stacks have in common with it that begin with its first. */
static size_t common_rows(struct path_search *s)
{
	size_t common = s->best_count, n;
	for (size_t i = 0; i < s->stack_count; i++) {
		lay_path(s, s->stacks[i].stack);
		if (*s->rows != *s->best || is_best(s))
			continue;
		for (n = 0; n < common && n < s->count && s->rows[n] == s->best[n];)
			n++;
		common = n;
	}
	return common;
}

static const char *name_in_path(struct big_path *big, const struct jprof_view *v, uint32_t row)
{
	char name[jp_nameless_size];
	if (row < v->row_count)
		return v->rows[row].name;
	jp_nameless_name(&v->code, &v->code.locations[row - v->row_count], name);
	return jp_arena_dup(&big->names, name, strlen(name));
}

/* 0, or -1 when memory is short. */
static int take_biggest_tag(struct big_path *big, const struct path_search *s)
{
	const struct jp_intern *tags = &s->view->profile->tags;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 };
	uint32_t best = 0;
	if (!tags->count)
		return 0;
	for (uint32_t i = 1; i <= tags->count; i++)
		if (fabs(s->by_tag[i]) > fabs(s->by_tag[best]))
			best = i;
	jp_put_tag(tags, best < tags->count ? best : JP_NONE, &name);
	big->path.tag = name.failed ? NULL : jp_arena_dup(&big->names, name.text, name.len);
	big->path.tag_value = s->by_tag[best];
	return big->path.tag ? 0 : -1;
}

static struct big_path *big_path_of(struct path_search *s)
{
	struct big_path *big = calloc(1, sizeof *big);
	size_t common = common_rows(s), first = common < s->best_count ? common - 1 : 0, count = s->best_count - first;
	const char **names = big ? jp_arena_alloc(&big->names, count * sizeof *names) : NULL;
	bool made = names;
	for (size_t i = 0; made && i < count; i++)
		made = (names[i] = name_in_path(big, s->view, s->best[first + i]));
	if (made) {
		big->path = (struct jprof_path){ .value = s->value, .count = count, .names = names };
		made = !take_biggest_tag(big, s);
	}
	if (made)
		return big;
	if (big)
		jprof_path_free(&big->path);
	return NULL;
}

int jprof_path_new(const struct jprof_view *view, struct jprof_path **out, struct jprof_error *err)
{
	if (jp_null(err, view, out))
		return JPROF_E_ARGUMENT;
	struct path_search s = { .view = view };
	struct big_path *big = NULL;
	size_t longest = (view->longest > view->deepest ? view->longest : view->deepest) + 1, at;
	s.rows = calloc(longest, sizeof *s.rows);
	s.best = calloc(longest, sizeof *s.best);
	s.stacks = calloc((size_t)view->stack_count + 1, sizeof *s.stacks);
	s.by_tag = calloc((size_t)view->profile->tags.count + 1, sizeof *s.by_tag);
	int rc = jp_walk_init(&s.walk, view) || !s.rows || !s.best || !s.stacks || !s.by_tag ? -1 : 0;
	if (!rc) {
		hash_stacks(&s);
		qsort(s.stacks, s.stack_count, sizeof *s.stacks, by_hash);
		at = biggest_hash(&s);
		if (at < s.stack_count) {
			take_best(&s, at);
			rc = (big = big_path_of(&s)) ? 0 : -1;
		}
	}
	jp_walk_release(&s.walk);
	free(s.rows);
	free(s.best);
	free(s.stacks);
	free(s.by_tag);
	if (rc)
		return jp_error_nomem(err);
	*out = big ? &big->path : NULL;
	return 0;
}

void jprof_path_free(struct jprof_path *path)
{
	struct big_path *big = (struct big_path *)(void *)path; /* its first member */
	if (big)
		jp_arena_release(&big->names);
	free(big);
}
