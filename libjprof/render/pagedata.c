#include "render/pagedata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "model/tags.h"
#include "render/pagestacks.h"
#include "view/store.h"
#include "view/whose.h"

/* Rows of the table in JSON, whose errors are exact; more of them are added up from the stacks. */
enum { exact_rows = 500 };

struct page_writer {
	const struct jprof_view *view;
	struct jp_jsonout *json;
	struct jp_page_stacks stacks;
	struct jp_intern strings; /* as people may be shown them; the first is "" */
	struct jp_strbuf text;
	struct jp_rows functions, lines, sites;
	bool failed;
};

/* A name for people, once. */
static uint32_t page_string(struct page_writer *w, const char *s)
{
	jp_strbuf_cut(&w->text, 0);
	jp_strbuf_visible(&w->text, s);
	uint32_t id = w->text.failed ? JP_NONE : jp_intern(&w->strings, w->text.text ? w->text.text : "", w->text.len);
	w->failed = w->failed || id == JP_NONE;
	return id;
}

/* ---- frames ------------------------------------------------------------------------------------------------ */

static int rows_of(struct page_writer *w, struct jp_rows *rows, enum jprof_granularity by, struct jprof_error *err)
{
	const struct jprof_view *v = w->view;
	const struct jprof_view_opts opts = { .granularity = by,
		                              .full_names = v->info.full_names,
		                              .trim_path = v->store->rows.trim };
	int rc = jp_rows_init(rows, &v->code, v->location_of, &opts, err);
	rows->origins = v->origins;
	rows->tags = &v->profile->tags;
	return rc;
}

static const char *row_name_of(struct page_writer *w, struct jp_rows *rows, uint32_t frame)
{
	if (jp_rows_of_frames(rows, frame, 1)) {
		w->failed = true;
		return "";
	}
	return jp_intern_get(&rows->names, rows->of_frame[frame]);
}

/* The trie: of each node how much its parent lies before it, and the frame, whose number is its own there. */
static uint32_t *put_page_nodes(struct page_writer *w, uint32_t *frame_count)
{
	const struct jp_page_trie *trie = &w->stacks.frames;
	uint32_t *number = jp_none_array((size_t)w->view->code.frame_count + 1);
	uint32_t *frames = calloc((size_t)trie->keys.count + 1, sizeof *frames);
	*frame_count = 0;
	jp_jsonout_open(w->json, "nodes", '{', false);
	jp_jsonout_open(w->json, "parent", '[', true);
	for (uint32_t n = 1; n <= trie->keys.count; n++)
		jp_jsonout_uint(w->json, NULL, n - jp_page_node(trie, n)->parent);
	jp_jsonout_close(w->json);
	jp_jsonout_open(w->json, "frame", '[', true);
	for (uint32_t n = 1; number && frames && n <= trie->keys.count; n++) {
		uint32_t frame = jp_page_node(trie, n)->item;
		if (number[frame] == JP_NONE) {
			frames[*frame_count] = frame;
			number[frame] = (*frame_count)++;
		}
		jp_jsonout_uint(w->json, NULL, number[frame]);
	}
	jp_jsonout_close(w->json);
	jp_jsonout_close(w->json);
	w->failed = w->failed || !number || !frames;
	free(number);
	return frames;
}

enum frame_column {
	FRAME_NAME,
	FRAME_SITE,
	FRAME_LINE_ROW,
	FRAME_FILE,
	FRAME_LINE,
	FRAME_OBJECT,
	FRAME_WHOSE,
	FRAME_COLUMNS
};

static uint32_t frame_cell(struct page_writer *w, enum frame_column column, uint32_t frame)
{
	const struct jp_code *code = &w->view->code;
	const struct jp_frame *f = &code->frames[frame];
	switch (column) {
	case FRAME_NAME: return page_string(w, row_name_of(w, &w->functions, frame));
	case FRAME_SITE: return page_string(w, row_name_of(w, w->view->origins ? &w->sites : &w->functions, frame));
	case FRAME_LINE_ROW: return page_string(w, row_name_of(w, &w->lines, frame));
	case FRAME_FILE: return page_string(w, jp_code_file(code, f->function));
	case FRAME_LINE: return f->line;
	case FRAME_OBJECT: return jp_frame_location(w->view, frame)->object;
	case FRAME_WHOSE: return (uint32_t)jp_whose_frame(w->view, frame);
	case FRAME_COLUMNS: break;
	}
	return 0;
}

static void put_page_frames(struct page_writer *w, const uint32_t *frames, uint32_t count)
{
	static const char *const keys[FRAME_COLUMNS] = { "name", "site", "linerow", "file", "line", "object", "whose" };
	jp_jsonout_open(w->json, "frames", '{', false);
	for (int c = 0; c < FRAME_COLUMNS; c++) {
		jp_jsonout_open(w->json, keys[c], '[', true);
		for (uint32_t i = 0; frames && i < count; i++)
			jp_jsonout_uint(w->json, NULL, frame_cell(w, (enum frame_column)c, frames[i]));
		jp_jsonout_close(w->json);
	}
	jp_jsonout_close(w->json);
}

static void put_page_objects(struct page_writer *w)
{
	const struct jp_code *code = &w->view->code;
	jp_jsonout_open(w->json, "objects", '[', false);
	for (uint32_t i = 0; i < code->object_count; i++)
		jp_jsonout_uint(w->json, NULL, page_string(w, jp_code_object(code, i)));
	jp_jsonout_close(w->json);
}

static void put_page_paths(struct page_writer *w)
{
	const struct jp_page_trie *trie = &w->stacks.paths;
	jp_jsonout_open(w->json, "paths", '{', false);
	jp_jsonout_open(w->json, "parent", '[', true);
	for (uint32_t n = 1; n <= trie->keys.count; n++)
		jp_jsonout_uint(w->json, NULL, n - jp_page_node(trie, n)->parent);
	jp_jsonout_close(w->json);
	jp_jsonout_open(w->json, "name", '[', true);
	for (uint32_t n = 1; n <= trie->keys.count; n++)
		jp_jsonout_uint(w->json, NULL,
		                page_string(w, jp_intern_get(&w->stacks.libraries.names, jp_page_node(trie, n)->item)));
	jp_jsonout_close(w->json);
	jp_jsonout_close(w->json);
}

/* ---- stacks ------------------------------------------------------------------------------------------------ */

static void put_column(struct page_writer *w, const char *key, const uint32_t *values)
{
	jp_jsonout_open(w->json, key, '[', true);
	for (uint32_t i = 0; i < w->view->stack_count; i++)
		jp_jsonout_uint(w->json, NULL, values[i]);
	jp_jsonout_close(w->json);
}

static bool same_variant(const struct jp_page_variant *a, const struct jp_page_variant *b, size_t stacks)
{
	size_t bytes = stacks * sizeof(uint32_t);
	return !memcmp(a->leaf, b->leaf, bytes) && !memcmp(a->inner, b->inner, bytes) &&
	       !memcmp(a->owner, b->owner, bytes) && !memcmp(a->owner_inner, b->owner_inner, bytes);
}

/* One that is as an earlier one is that one's number. */
static void put_page_variants(struct page_writer *w)
{
	const struct jp_page_stacks *s = &w->stacks;
	jp_jsonout_open(w->json, "variants", '[', false);
	for (size_t i = 0; i < s->count; i++) {
		const struct jp_page_variant *v = &s->variants[i];
		size_t like = 0;
		while (like < i && !same_variant(v, &s->variants[like], w->view->stack_count))
			like++;
		if (like < i) {
			jp_jsonout_uint(w->json, NULL, like);
			continue;
		}
		jp_jsonout_open(w->json, NULL, '{', false);
		put_column(w, "leaf", v->leaf);
		put_column(w, "inner", v->inner);
		put_column(w, "owner", v->owner);
		put_column(w, "ownerinner", v->owner_inner);
		jp_jsonout_close(w->json);
	}
	jp_jsonout_close(w->json);
}

/* Of which no more than four digits count: they say how far others may be off. */
static double four_digits(double value)
{
	if (!(value > 0) || !isfinite(value))
		return 0;
	double step = pow(10, floor(log10(value)) - 3);
	return step >= 1 ? round(value / step) * step : round(value);
}

/* What each stack holds by each counter that counts something, what was subtracted, and what it rests on. */
static void put_page_values(struct page_writer *w)
{
	const struct jprof_view *v = w->view;
	jp_jsonout_open(w->json, "values", '{', false);
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		if (!v->values[c])
			continue;
		jp_jsonout_open(w->json, jp_counter_names[c], '[', true);
		for (uint32_t i = 0; i < v->stack_count; i++)
			jp_jsonout_number(w->json, NULL, v->values[c][i],
			                  jp_counts_bytes((enum jprof_counter)c) ? 0 : 2);
		jp_jsonout_close(w->json);
	}
	jp_jsonout_close(w->json);
	jp_jsonout_open(w->json, "base", '[', true);
	for (uint32_t i = 0; v->bases && i < v->stack_count; i++)
		jp_jsonout_number(w->json, NULL, v->bases[i], jp_counts_bytes(v->info.counter) ? 0 : 2);
	jp_jsonout_close(w->json);
	jp_jsonout_open(w->json, "samples", '[', true);
	for (uint32_t i = 0; v->evidence && i < v->stack_count; i++)
		jp_jsonout_number(w->json, NULL, v->evidence[i].plus.n + v->evidence[i].minus.n, 2);
	jp_jsonout_close(w->json);
	jp_jsonout_open(w->json, "variance", '[', true);
	for (uint32_t i = 0; v->evidence && i < v->stack_count; i++)
		jp_jsonout_number(w->json, NULL,
		                  four_digits(v->evidence[i].plus.variance + v->evidence[i].minus.variance), 0);
	jp_jsonout_close(w->json);
}

static void put_page_tags(struct page_writer *w)
{
	const struct jprof_view *v = w->view;
	const struct jp_intern *tags = &v->profile->tags;
	jp_jsonout_open(w->json, "tag", '[', true);
	for (uint32_t i = 0; tags->count && i < v->stack_count; i++) {
		struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
		jp_put_tag(tags, v->stacks[i].tag, &text);
		w->failed = w->failed || text.failed;
		jp_jsonout_uint(w->json, NULL, page_string(w, text.text ? text.text : ""));
	}
	jp_jsonout_close(w->json);
}

/* ---- the document ------------------------------------------------------------------------------------------ */

/* The words of owners, so that no script has them a second time. */
static void put_whose_words(struct page_writer *w)
{
	jp_jsonout_open(w->json, "whose", '[', false);
	for (int i = 0; i < JP_WHOSE_COUNT; i++) {
		jp_jsonout_open(w->json, NULL, '[', true);
		jp_jsonout_string(w->json, NULL, jp_whose_words[i].key);
		jp_jsonout_string(w->json, NULL, jp_whose_words[i].shown);
		jp_jsonout_close(w->json);
	}
	jp_jsonout_close(w->json);
}

/* All that --json has, for what stands around the pictures; an answer brings it along, of its own folding. */
static int put_page_report(struct page_writer *w, const struct jprof_report_opts *opts, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) report = { 0 };
	struct jprof_report_opts own = *opts;
	own.top = exact_rows;
	int rc = jp_render_json(w->view, &own, &report, err);
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

static int put_page_parts(struct page_writer *w, const struct jprof_report_opts *opts, struct jprof_error *err)
{
	uint32_t frame_count;
	jp_jsonout_open(w->json, NULL, '{', false);
	jp_jsonout_uint(w->json, "jprof_page", 1);
	put_given_answer(w, opts);
	int rc = opts->page_answer ? 0 : put_page_report(w, opts, err);
	uint32_t *frames = put_page_nodes(w, &frame_count);
	put_page_frames(w, frames, frame_count);
	free(frames);
	put_page_objects(w);
	put_page_paths(w);
	put_page_variants(w);
	put_page_values(w);
	put_page_tags(w);
	put_whose_words(w);
	jp_jsonout_open(w->json, "strings", '[', false);
	for (uint32_t i = 0; i < w->strings.count; i++)
		jp_jsonout_string(w->json, NULL, jp_intern_get(&w->strings, i));
	jp_jsonout_close(w->json);
	jp_jsonout_close(w->json);
	return rc;
}

int jp_put_page_data(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                     struct jprof_error *err)
{
	struct jp_jsonout json = { .out = out };
	struct page_writer w = { .view = view, .json = &json };
	int rc = jp_page_stacks_init(&w.stacks, view, err);
	if (!rc)
		rc = rows_of(&w, &w.functions, JPROF_BY_FUNCTION, err);
	if (!rc)
		rc = rows_of(&w, &w.lines, JPROF_BY_LINE, err);
	if (!rc)
		rc = rows_of(&w, &w.sites, JPROF_BY_SITE, err);
	page_string(&w, "");
	if (!rc)
		rc = put_page_parts(&w, opts, err);
	if (!rc && (w.failed || out->failed))
		rc = jp_error_nomem(err);
	jp_page_stacks_release(&w.stacks);
	jp_rows_release(&w.functions);
	jp_rows_release(&w.lines);
	jp_rows_release(&w.sites);
	jp_intern_release(&w.strings);
	jp_strbuf_release(&w.text);
	return rc;
}
