/* Collapsed stacks, one line each: ROOT;...;LEAF VALUE, what flame graph tools read. */
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "base/utf8.h"
#include "model/tags.h"
#include "render/render.h"
#include "view/walk.h"

/* What a frame, or a tag, is called in lines. */
struct part {
	const char *text;
	size_t len;
	uint32_t of; /* the number of a frame, or of a tag (view/walk.h) */
};

/* Stacks of equal names are one line. A part's rank is its place in the order of names, with its highest byte first,
 * so that memcmp orders stacks. */
struct lines {
	struct jp_arena texts;
	struct part *parts;      /* by name */
	uint32_t *rank;          /* by what is called so; equal names have one */
	struct jp_intern stacks; /* ranks, root first */
	double *of;              /* by id in stacks */
	size_t cap;
	double total; /* of all, added up in the order of the view, as its own total is */
};

/* A name as a part of such a line: the separators are not allowed in it. */
static void add_name_part(struct jp_strbuf *line, const char *name)
{
	const char *end = name + strlen(name);
	size_t n;
	for (const char *s = name; *s; s += n ? n : 1) {
		size_t run = jp_ascii_run(s, (size_t)(end - s));
		const char *separator = memchr(s, ';', run);
		run = separator ? (size_t)(separator - s) : run;
		n = run ? run : jp_utf8_len(s);
		if (!n)
			jp_strbuf_str(line, JP_UTF8_REPLACEMENT);
		else
			jp_strbuf_add(line, run || n > 1 ? s : *s == ';' ? ":" : "?", n);
	}
}

/* 0, or -1 when memory is short. */
static int make_part(struct lines *lines, const struct jprof_view *view, uint32_t of)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 }, jp_cleanup(jp_strbuf_release) tag = { 0 };
	const uint32_t frames = view->code.frame_count;
	if (of >= frames)
		jp_put_tag(&view->profile->tags, jp_walk_tag(view, of), &tag);
	if (tag.failed)
		return -1;
	add_name_part(&text, of < frames ? jp_frame_name(view, of) : tag.text);
	if (of < frames && view->code.frames[of].inlined)
		jp_strbuf_str(&text, "[inline]");
	const char *kept = text.failed ? NULL : jp_arena_dup(&lines->texts, text.len ? text.text : "", text.len);
	lines->parts[of] = (struct part){ kept, text.len, of };
	return kept ? 0 : -1;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct part *)a)->text, ((const struct part *)b)->text);
}

static int rank_parts(struct lines *lines, const struct jprof_view *view)
{
	const uint32_t count = view->code.frame_count + 1 + view->profile->tags.count;
	uint32_t rank = 0;
	lines->parts = calloc(count, sizeof *lines->parts);
	lines->rank = calloc(count, sizeof *lines->rank);
	if (!lines->parts || !lines->rank)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		if (make_part(lines, view, i))
			return -1;
	qsort(lines->parts, count, sizeof *lines->parts, by_text);
	for (uint32_t i = 0; i < count; i++) {
		if (i && by_text(&lines->parts[i - 1], &lines->parts[i]))
			rank = i;
		lines->rank[lines->parts[i].of] = htobe32(rank);
	}
	return 0;
}

/* Lays out a stack as ranks in walk->rows. The tag is the root, where there are any. */
static void rank_stack(const struct lines *lines, struct jp_walk *walk, uint32_t id)
{
	jp_walk_tagged(walk, id);
	for (uint32_t i = 0; i < walk->depth; i++)
		walk->rows[i] = lines->rank[walk->frames[walk->depth - 1 - i]];
}

static int collect(struct lines *lines, struct jp_walk *walk)
{
	for (uint32_t i = 0; i < walk->view->stack_count; i++) {
		rank_stack(lines, walk, i);
		if (!walk->depth)
			continue;
		uint32_t known = lines->stacks.count;
		uint32_t id = jp_intern(&lines->stacks, walk->rows, walk->depth * sizeof *walk->rows);
		if (id == JP_NONE || jp_array_push(lines->of, id, lines->cap))
			return -1;
		if (id == known)
			lines->of[id] = 0;
		lines->of[id] += jp_stack_value(walk->view, i);
		lines->total += jp_stack_value(walk->view, i);
	}
	return 0;
}

/* One line to be written. */
struct stack_line {
	const uint32_t *ranks;
	size_t depth;
	double value;
};

static int by_ranks(const void *a, const void *b)
{
	const struct stack_line *x = a, *y = b;
	size_t depth = x->depth < y->depth ? x->depth : y->depth;
	int rc = memcmp(x->ranks, y->ranks, depth * sizeof *x->ranks);
	return rc ? rc : jp_order(x->depth, y->depth);
}

static struct stack_line *sorted(const struct lines *lines)
{
	struct stack_line *rows = calloc((size_t)lines->stacks.count + 1, sizeof *rows);
	for (uint32_t i = 0; rows && i < lines->stacks.count; i++)
		rows[i] = (struct stack_line){ (const void *)jp_intern_get(&lines->stacks, i),
			                       jp_intern_len(&lines->stacks, i) / sizeof *rows->ranks, lines->of[i] };
	if (rows)
		qsort(rows, lines->stacks.count, sizeof *rows, by_ranks);
	return rows;
}

/* Text of a stack, and where each of its parts ends: what the next stack has in common with it stays. */
struct stack_text {
	struct jp_strbuf text;
	const struct stack_line *of;
	size_t *end;
};

static int write_stack(struct stack_text *t, const struct lines *lines, const struct stack_line *row)
{
	size_t same = 0;
	while (t->of && same < row->depth && same < t->of->depth && row->ranks[same] == t->of->ranks[same])
		same++;
	jp_strbuf_cut(&t->text, same ? t->end[same - 1] : 0);
	for (size_t i = same; i < row->depth; i++) {
		const struct part *part = &lines->parts[be32toh(row->ranks[i])];
		if (i)
			jp_strbuf_str(&t->text, ";");
		jp_strbuf_add(&t->text, part->text, part->len);
		t->end[i] = t->text.len;
	}
	t->of = row;
	return t->text.failed ? -1 : 0;
}

/* Whole numbers that sum up to that of the total. A sum in another order may be off by a rounding error, which must not
 * cost the last byte: so the last row is what is missing. */
static int put_stacks(const struct lines *lines, const struct stack_line *rows, size_t deepest, struct jp_strbuf *out)
{
	struct stack_text stack = { .end = calloc(deepest + 1, sizeof *stack.end) };
	double sum = 0, written = 0;
	for (size_t i = 0; stack.end && i < lines->stacks.count; i++) {
		double step = jp_whole_step(&sum, rows[i].value);
		if (i + 1 == lines->stacks.count)
			step = trunc(lines->total) - written;
		written += step;
		if (step != 0) {
			if (write_stack(&stack, lines, &rows[i]))
				break;
			jp_strbuf_add(out, stack.text.text, stack.text.len);
			jp_strbuf_str(out, " ");
			jp_strbuf_whole(out, step);
			jp_strbuf_str(out, "\n");
		}
		jp_strbuf_drain(out);
	}
	int rc = stack.end && !stack.text.failed ? 0 : -1;
	jp_strbuf_release(&stack.text);
	free(stack.end);
	return rc;
}

int jp_render_collapsed(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                        struct jprof_error *err)
{
	(void)opts;
	struct lines lines = { 0 };
	struct jp_walk walk;
	int rc = jp_walk_init(&walk, view) || rank_parts(&lines, view) || collect(&lines, &walk) ? -1 : 0;
	struct stack_line *rows = rc ? NULL : sorted(&lines);
	rc = rows ? put_stacks(&lines, rows, view->deepest, out) : -1;
	free(rows);
	jp_walk_release(&walk);
	jp_intern_release(&lines.stacks);
	jp_arena_release(&lines.texts);
	free(lines.parts);
	free(lines.rank);
	free(lines.of);
	return rc ? jp_error_nomem(err) : 0;
}
