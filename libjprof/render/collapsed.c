/* Collapsed stacks, one line each: ROOT;...;LEAF VALUE, what flame graph tools read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/tenths.h"
#include "base/utf8.h"
#include "render/render.h"
#include "view/walk.h"

/* Stacks of equal names are one line. */
struct lines {
	struct jp_intern names;
	struct jp_arena parts; /* what frames are called in lines, each with a separator behind it */
	struct jp_span *part;  /* by frame; no length: it was not come to */
	double *of;            /* by id in names */
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

/* How a frame is called in a line. */
static int make_part(struct lines *lines, const struct jprof_view *view, uint32_t frame)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	add_name_part(&text, jp_frame_name(view, frame));
	if (view->code.frames[frame].inlined)
		jp_strbuf_str(&text, "[inline]");
	jp_strbuf_str(&text, ";");
	const char *kept = text.failed ? NULL : jp_arena_dup(&lines->parts, text.text, text.len);
	lines->part[frame] = (struct jp_span){ kept, text.len };
	return kept ? 0 : -1;
}

/* The tag is the root, where there are any. */
static void add_tag_root(struct jp_strbuf *line, const struct jprof_view *view, uint32_t tag)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 };
	if (!view->profile->tags.count)
		return;
	jp_put_tag(&view->profile->tags, tag, &name);
	line->failed = line->failed || name.failed;
	if (!name.failed)
		add_name_part(line, name.text);
	jp_strbuf_str(line, ";");
}

static int collect(struct lines *lines, struct jp_walk *walk)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) line = { 0 };
	for (uint32_t i = 0; i < walk->view->stack_count; i++) {
		jp_strbuf_cut(&line, 0);
		jp_walk_frames(walk, i);
		if (walk->depth)
			add_tag_root(&line, walk->view, walk->view->stacks[i].tag);
		for (uint32_t k = walk->depth; k-- > 0;) {
			const struct jp_span *part = &lines->part[walk->frames[k]];
			if (!part->len && make_part(lines, walk->view, walk->frames[k]))
				return -1;
			jp_strbuf_add(&line, part->ptr, part->len);
		}
		if (line.failed)
			return -1;
		if (!line.len)
			continue;
		jp_strbuf_cut(&line, line.len - 1);
		uint32_t known = lines->names.count, id = jp_intern(&lines->names, line.text, line.len);
		if (id == JP_NONE || jp_array_reserve(&lines->of, &lines->cap, (size_t)id + 1, sizeof *lines->of))
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
	const char *name;
	double value;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct stack_line *)a)->name, ((const struct stack_line *)b)->name);
}

static struct stack_line *sorted(const struct lines *lines)
{
	struct stack_line *rows = calloc((size_t)lines->names.count + 1, sizeof *rows);
	for (uint32_t i = 0; rows && i < lines->names.count; i++)
		rows[i] = (struct stack_line){ jp_intern_get(&lines->names, i), lines->of[i] };
	if (rows)
		qsort(rows, lines->names.count, sizeof *rows, by_name);
	return rows;
}

/* Whole numbers that sum up to that of the total. A sum in another order may be off by a rounding error, which must not
 * cost the last byte: so the last row is what is missing. */
static void put_stack_values(const struct stack_line *rows, size_t count, double total, struct jp_strbuf *out)
{
	double sum = 0, written = 0;
	for (size_t i = 0; i < count; i++) {
		double step = jp_whole_step(&sum, rows[i].value);
		if (i + 1 == count)
			step = trunc(total) - written;
		written += step;
		if (step != 0) {
			char number[jp_tenths_size];
			size_t len = jp_put_whole(number, sizeof number, step);
			jp_strbuf_str(out, rows[i].name);
			jp_strbuf_str(out, " ");
			jp_strbuf_add(out, number, len);
			jp_strbuf_str(out, "\n");
		}
		jp_strbuf_drain(out);
	}
}

int jp_render_collapsed(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                        struct jprof_error *err)
{
	(void)opts;
	struct lines lines = { .part = calloc((size_t)view->code.frame_count + 1, sizeof *lines.part) };
	struct jp_walk walk;
	int rc = jp_walk_init(&walk, view) || !lines.part ? -1 : collect(&lines, &walk);
	struct stack_line *rows = rc ? NULL : sorted(&lines);
	if (rows)
		put_stack_values(rows, lines.names.count, lines.total, out);
	rc = rows ? 0 : -1;
	free(rows);
	jp_walk_release(&walk);
	jp_intern_release(&lines.names);
	jp_arena_release(&lines.parts);
	free(lines.part);
	free(lines.of);
	return rc ? jp_error_nomem(err) : 0;
}
