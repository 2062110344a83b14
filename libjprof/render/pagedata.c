#include "render/pagedata.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "render/agecells.h"
#include "render/pagecolumns.h"
#include "render/pagesizes.h"
#include "render/pagesource.h"
#include "render/pagestacks.h"
#include "view/rowages.h"
#include "view/whose.h"

/* Rows of the table in JSON, whose errors are exact; more of them are added up from the stacks. */
enum { exact_rows = 500 };

/* One of the views of a page: its own, or a part. */
struct page_view {
	const char *key;
	const struct jprof_view *view;
	struct jp_page_names names;
	uint32_t *of; /* by its stacks: which stack of the page */
};

struct page_writer {
	struct jp_jsonout *json;
	struct jp_page_stacks stacks;
	struct page_view *views; /* the first is the page's own */
	size_t view_count;       /* that were begun, of which each is to be released */
	struct jp_page_columns columns;
	bool failed;
};

/* ---- columns ----------------------------------------------------------------------------------------------- */

/* Writes the number of a column of ids. */
static void put_ids(struct page_writer *w, const char *key, bool steps, size_t count, jp_page_id_fn *id, const void *of)
{
	jp_jsonout_uint(w->json, key, jp_page_ids(&w->columns, steps, count, id, of));
}

/* A number of a stack of a view. */
typedef double page_number_fn(const struct jprof_view *view, uint32_t stack, int which);

/* Of what a view's stacks have, added up where several are one stack of the page; in whole numbers or hundredths. */
static void put_stack_numbers(struct page_writer *w, const char *key, const struct page_view *from,
                              page_number_fn *number, int which, bool whole)
{
	double *sums = calloc((size_t)w->stacks.keys.count + 1, sizeof *sums);
	for (uint32_t i = 0; sums && i < from->view->stack_count; i++)
		sums[from->of[i]] += number(from->view, i, which);
	w->failed = w->failed || !sums;
	if (sums)
		jp_jsonout_uint(w->json, key,
		                jp_page_numbers(&w->columns, whole ? 1 : 100, w->stacks.keys.count, sums));
	free(sums);
}

static double number_of_counter(const struct jprof_view *view, uint32_t stack, int counter)
{
	return jp_stack_number(view, stack, (enum jprof_counter)counter);
}

static double number_before(const struct jprof_view *view, uint32_t stack, int unused)
{
	(void)unused;
	return jp_stack_base(view, stack);
}

static double number_now(const struct jprof_view *view, uint32_t stack, int unused)
{
	(void)unused;
	return jp_stack_base(view, stack) + jp_stack_value(view, stack);
}

static double number_of_samples(const struct jprof_view *view, uint32_t stack, int unused)
{
	(void)unused;
	return view->evidence ? view->evidence[stack].plus.n + view->evidence[stack].minus.n : 0;
}

/* Of which no more than four digits count: they say how far others may be off. */
static double four_digits(double value)
{
	if (!(value > 0) || !isfinite(value))
		return 0;
	double step = pow(10, floor(log10(value)) - 3);
	return step >= 1 ? round(value / step) * step : round(value);
}

static double number_of_variance(const struct jprof_view *view, uint32_t stack, int unused)
{
	(void)unused;
	return view->evidence ? four_digits(view->evidence[stack].plus.variance + view->evidence[stack].minus.variance)
	                      : 0;
}

static double number_of_age(const struct jprof_view *view, uint32_t stack, int part)
{
	struct jprof_row ages = { 0 };
	const struct jp_view_slices *slices = &view->slices;
	for (uint32_t i = slices->first[stack]; i < slices->first[stack + 1]; i++)
		jp_row_add_age(view, &slices->items[i], &ages);
	return jp_age_part(&ages, (enum jp_age_part)part);
}

/* ---- frames ------------------------------------------------------------------------------------------------ */

static uint32_t steps_to_parent(const void *trie, size_t i)
{
	return (uint32_t)i + 1 - jp_trie_parent(trie, (uint32_t)i + 1);
}

static uint32_t item_of_node(const void *trie, size_t i)
{
	return jp_trie_item(trie, (uint32_t)i + 1);
}

/* A trie: of each node how much its parent lies before it, and what it is. */
static void put_page_trie(struct page_writer *w, const char *key, const char *item, const struct jp_trie *trie)
{
	jp_jsonout_open(w->json, key, '{', true);
	put_ids(w, "parent", false, jp_trie_count(trie), steps_to_parent, trie);
	put_ids(w, item, false, jp_trie_count(trie), item_of_node, trie);
	jp_jsonout_close(w->json);
}

/* One of the cells of all frames. */
struct frame_cells {
	const struct jp_page_frames *frames;
	int cell;
};

static uint32_t cell_of_frame(const void *of, size_t i)
{
	const struct frame_cells *cells = of;
	return jp_page_cells(cells->frames, (uint32_t)i)[cells->cell];
}

static void put_page_frames(struct page_writer *w)
{
	static const char *const keys[JP_PAGE_CELLS] = { "name", "site", "linerow", "file", "line", "object", "whose" };
	jp_jsonout_open(w->json, "frames", '{', true);
	for (int c = 0; c < JP_PAGE_CELLS; c++) {
		const struct frame_cells cells = { &w->stacks.frames, c };
		put_ids(w, keys[c], true, w->stacks.frames.cells.count, cell_of_frame, &cells);
	}
	jp_jsonout_close(w->json);
}

/* ---- stacks ------------------------------------------------------------------------------------------------ */

/* One of the numbers of where the stacks end, at a level of folding with a part of Ruby; and the column that has it: in
 * most profiles variants share columns. */
struct ends_part {
	const char *key;
	size_t offset;
	bool steps;
	const struct jp_page_stacks *stacks;
	size_t variant;
	uint32_t column;
};

static uint32_t end_of_stack(const struct ends_part *part, size_t i, size_t variant)
{
	const struct jp_page_ends *ends = &jp_page_stack(part->stacks, (uint32_t)i)->ends[variant];
	return *(const uint32_t *)((const char *)ends + part->offset);
}

static uint32_t id_of_end(const void *of, size_t i)
{
	const struct ends_part *part = of;
	return end_of_stack(part, i, part->variant);
}

static bool ends_as_before(const struct ends_part *part)
{
	uint32_t i = 0, count = part->variant ? part->stacks->keys.count : 0;
	while (i < count && end_of_stack(part, i, part->variant) == end_of_stack(part, i, part->variant - 1))
		i++;
	return part->variant && i == count;
}

static void put_page_variants(struct page_writer *w)
{
	struct ends_part parts[] = {
		{ .key = "leaf", .offset = offsetof(struct jp_page_ends, leaf), .steps = true },
		{ .key = "inner", .offset = offsetof(struct jp_page_ends, inner) },
		{ .key = "owner", .offset = offsetof(struct jp_page_ends, owner) },
		{ .key = "ownerinner", .offset = offsetof(struct jp_page_ends, owner_inner) },
	};
	jp_jsonout_open(w->json, "variants", '[', false);
	for (size_t i = 0; i < w->stacks.variants; i++) {
		jp_jsonout_open(w->json, NULL, '{', true);
		for (struct ends_part *p = parts; p < parts + jp_count(parts); p++) {
			p->stacks = &w->stacks;
			p->variant = i;
			if (!ends_as_before(p))
				p->column = jp_page_ids(&w->columns, p->steps, w->stacks.keys.count, id_of_end, p);
			jp_jsonout_uint(w->json, p->key, p->column);
		}
		jp_jsonout_close(w->json);
	}
	jp_jsonout_close(w->json);
}

/* What each stack holds by the other counters that count something. */
static void put_page_counters(struct page_writer *w)
{
	const struct jprof_view *v = w->views[0].view;
	jp_jsonout_open(w->json, "counters", '{', true);
	for (int c = 0; c < JPROF_COUNTERS; c++)
		if (v->values[c] && c != (int)v->info.counter)
			put_stack_numbers(w, jp_counter_names[c], &w->views[0], number_of_counter, c,
			                  jp_counts_bytes((enum jprof_counter)c));
	jp_jsonout_close(w->json);
}

/* What each stack holds by the counter of the report before and now, and what the difference rests on. */
static void put_page_views(struct page_writer *w)
{
	bool whole = jp_counts_bytes(w->views[0].view->info.counter);
	jp_jsonout_open(w->json, "parts", '[', false);
	for (size_t i = 0; i < w->view_count; i++) {
		const struct page_view *from = &w->views[i];
		jp_jsonout_put(w->json, "{key:%s", from->key);
		put_stack_numbers(w, "base", from, number_before, 0, whole);
		put_stack_numbers(w, "now", from, number_now, 0, whole);
		put_stack_numbers(w, "samples", from, number_of_samples, 0, false);
		put_stack_numbers(w, "variance", from, number_of_variance, 0, true);
		jp_jsonout_close(w->json);
	}
	jp_jsonout_close(w->json);
}

static void put_page_ages(struct page_writer *w)
{
	const struct jprof_view *v = w->views[0].view;
	jp_jsonout_open(w->json, "ages", '[', false);
	for (enum jp_age_part part = 0; part < JP_AGE_PARTS; part++) {
		if (!jp_age_is_shown(v, part))
			continue;
		jp_jsonout_put(w->json, "{shown:%s", jp_age_head(v, part));
		put_stack_numbers(w, "column", &w->views[0], number_of_age, part, jp_counts_bytes(v->info.counter));
		jp_jsonout_close(w->json);
	}
	jp_jsonout_close(w->json);
}

/* ---- the document ------------------------------------------------------------------------------------------ */

/* The words of owners, so that no script has them a second time. */
static void put_whose_words(struct page_writer *w)
{
	jp_jsonout_open(w->json, "whose", '[', false);
	for (int i = 0; i < JP_WHOSE_COUNT; i++)
		jp_jsonout_put(w->json, "[%s %s]", jp_whose_words[i].key, jp_whose_words[i].shown);
	jp_jsonout_close(w->json);
}

/* All that --json has, for what stands around the pictures; an answer brings it along, of its own folding. */
static int put_page_report(struct page_writer *w, const struct jprof_report_opts *opts, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) report = { 0 };
	struct jprof_report_opts own = *opts;
	own.top = exact_rows;
	int rc = jp_render_json(w->views[0].view, &own, &report, err);
	w->failed = w->failed || report.failed;
	if (!rc && !w->failed)
		jp_jsonout_raw(w->json, "report", &report);
	return rc;
}

static void put_given_answer(struct page_writer *w, const struct jprof_report_opts *opts)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) answer = { 0 };
	jp_strbuf_str(&answer, opts->page_answer ? opts->page_answer : "null");
	w->failed = w->failed || answer.failed;
	if (!answer.failed)
		jp_jsonout_raw(w->json, "answer", &answer);
}

static uint32_t tag_of_stack(const void *stacks, size_t i)
{
	return jp_page_stack(stacks, (uint32_t)i)->tag;
}

static void put_page_tags(struct page_writer *w)
{
	bool any = false;
	for (size_t i = 0; i < w->view_count; i++)
		any = any || w->views[i].view->profile->tags.count;
	if (any)
		put_ids(w, "tag", false, w->stacks.keys.count, tag_of_stack, &w->stacks);
	else
		jp_jsonout_null(w->json, "tag");
}

/* Strings and columns come last: all that stands before them makes more. */
static int put_page_members(struct page_writer *w, const struct jprof_report_opts *opts, struct jprof_error *err)
{
	jp_jsonout_put(w->json, "{\njprof_page:%u", 3u);
	put_given_answer(w, opts);
	int rc = opts->page_answer ? 0 : put_page_report(w, opts, err);
	put_page_trie(w, "nodes", "frame", &w->stacks.nodes);
	put_page_trie(w, "paths", "name", &w->stacks.paths);
	put_page_frames(w);
	jp_jsonout_uint(w->json, "stacks", w->stacks.keys.count);
	put_page_variants(w);
	put_page_counters(w);
	put_page_views(w);
	put_page_ages(w);
	put_page_tags(w);
	put_whose_words(w);
	if (!rc && jp_put_page_sizes(w->json, w->views[0].view, w->views[0].of))
		rc = jp_error_nomem(err);
	if (!rc && jp_put_page_source(w->json, &w->stacks, &w->views[0].names, w->views[0].of, opts))
		rc = jp_error_nomem(err);
	const struct jp_intern *strings = &w->stacks.frames.strings;
	jp_jsonout_open(w->json, "strings", '[', false);
	for (uint32_t i = 0; i < strings->count; i++)
		jp_jsonout_string(w->json, NULL, jp_intern_get(strings, i));
	jp_jsonout_put(w->json, "]}");
	jp_strbuf_add(w->json->out, "", 1);
	for (uint32_t i = 0; i < w->columns.list.count; i++)
		jp_strbuf_add(w->json->out, jp_intern_get(&w->columns.list, i), jp_intern_len(&w->columns.list, i));
	return rc;
}

static int add_page_view(struct page_writer *w, const char *key, const struct jprof_view *view, struct jprof_error *err)
{
	struct page_view *to = &w->views[w->view_count++];
	*to = (struct page_view){ .key = key, .view = view };
	int rc = jp_page_names_init(&to->names, &w->stacks.frames, view, err);
	return rc ? rc : jp_page_stacks_add(&w->stacks, &to->names, &to->of, err);
}

static void page_writer_release(struct page_writer *w)
{
	for (size_t i = 0; i < w->view_count; i++) {
		jp_page_names_release(&w->views[i].names);
		free(w->views[i].of);
	}
	free(w->views);
	jp_page_columns_release(&w->columns);
	jp_page_stacks_release(&w->stacks);
}

int jp_put_page_data(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                     struct jprof_error *err)
{
	struct jp_jsonout json = { .out = out };
	struct page_writer w = { .json = &json, .views = calloc(opts->page_part_count + 1, sizeof *w.views) };
	w.failed = !w.views || jp_page_string(&w.stacks.frames, "") == JP_NONE;
	int rc = w.failed ? jp_error_nomem(err) : add_page_view(&w, "", view, err);
	for (size_t i = 0; !rc && i < opts->page_part_count; i++)
		rc = add_page_view(&w, opts->page_parts[i].key, opts->page_parts[i].view, err);
	if (!rc)
		rc = put_page_members(&w, opts, err);
	if (!rc && (w.failed || w.columns.failed || out->failed))
		rc = jp_error_nomem(err);
	page_writer_release(&w);
	return rc;
}
