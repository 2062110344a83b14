#include "answers/movedlines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "view/view.h"
#include "view/walk.h"

/* What the lines of a method have on both sides. */
struct method_lines {
	bool gone, came, stayed; /* some line of it has memory on the one side alone, or on both */
	double most;             /* at the end, of one line */
	double samples[2];
	const char *name;
};

/* What a row had, and has. */
struct row_sides {
	double bytes[2], samples[2];
};

/* Noise of one sample moves no line. */
static const double least_moved = 10; /* samples on each side, of all methods that moved */

/* Whether all lines of a method are other ones than before. */
static bool has_moved(const struct method_lines *m)
{
	return m->gone && m->came && !m->stayed;
}

/* "app/models/user.rb User#tags" of "app/models/user.rb:42 User#tags"; no text: it is no line of Ruby. */
static void put_without_line(const struct jprof_row *row, struct jp_strbuf *out)
{
	char line[16];
	int len = row->line ? snprintf(line, sizeof line, ":%u ", row->line) : 0;
	const char *at = len ? strstr(row->name, line) : NULL;
	jp_strbuf_cut(out, 0);
	if (at)
		jp_strbuf_printf(out, "%.*s %s", (int)(at - row->name), row->name, at + len);
}

static int sum_sides_of_rows(const struct jprof_view *v, struct row_sides *sides)
{
	struct jp_walk walk;
	int rc = jp_walk_init(&walk, v);
	for (uint32_t i = 0; !rc && i < v->stack_count; i++) {
		jp_walk_rows(&walk, i);
		if (walk.inner >= walk.length || walk.rows[walk.inner] >= v->row_count)
			continue;
		struct row_sides *s = &sides[walk.rows[walk.inner]];
		s->bytes[0] += jp_stack_base(v, i);
		s->bytes[1] += jp_stack_base(v, i) + jp_stack_value(v, i);
		s->samples[0] += v->evidence ? v->evidence[i].minus.n : 0;
		s->samples[1] += v->evidence ? v->evidence[i].plus.n : 0;
	}
	jp_walk_release(&walk);
	return rc;
}

static int count_line(struct jp_moved_lines *moved, struct method_lines *methods, const struct jprof_row *row,
                      const struct row_sides *sides)
{
	static const double least = 1; /* byte: sums are rounded */
	struct jp_strbuf jp_cleanup(jp_strbuf_release) key = { 0 };
	put_without_line(row, &key);
	bool was = sides->bytes[0] >= least, is = sides->bytes[1] >= least;
	if (key.failed)
		return -1;
	if (!key.len || (!was && !is))
		return 0;
	uint32_t id = jp_intern(&moved->methods, key.text, key.len);
	if (id == JP_NONE)
		return -1;
	struct method_lines *m = &methods[id];
	m->gone |= was && !is;
	m->came |= is && !was;
	m->stayed |= was && is;
	m->samples[0] += sides->samples[0];
	m->samples[1] += sides->samples[1];
	if (!m->name || sides->bytes[1] > m->most) {
		m->most = sides->bytes[1];
		m->name = row->name;
	}
	return 0;
}

static int keep_method_names(struct jp_series_rows *rows, const struct method_lines *methods)
{
	struct jp_moved_lines *moved = &rows->moved;
	moved->names = jp_arena_alloc(&rows->series->arena, (size_t)moved->methods.count * sizeof *moved->names);
	for (uint32_t i = 0; moved->names && i < moved->methods.count; i++) {
		bool named = has_moved(&methods[i]);
		moved->names[i] =
		    named ? jp_arena_dup(&rows->series->arena, methods[i].name, strlen(methods[i].name)) : NULL;
		if (named && !moved->names[i])
			return -1;
	}
	return moved->names ? 0 : -1;
}

int jp_find_moved_lines(struct jp_series_rows *rows, const struct jprof_view *v)
{
	struct row_sides *sides = calloc((size_t)v->row_count + 1, sizeof *sides);
	struct method_lines *methods = calloc((size_t)v->row_count + 1, sizeof *methods);
	int rc = !sides || !methods ? -1 : sum_sides_of_rows(v, sides);
	for (uint32_t i = 0; !rc && i < v->row_count; i++)
		rc = count_line(&rows->moved, methods, &v->rows[i], &sides[i]);
	double samples[2] = { 0 };
	for (uint32_t i = 0; !rc && i < rows->moved.methods.count; i++)
		for (int side = 0; side < 2 && has_moved(&methods[i]); side++)
			samples[side] += methods[i].samples[side];
	bool any = samples[0] >= least_moved && samples[1] >= least_moved;
	if (!rc && any)
		rc = keep_method_names(rows, methods);
	rows->series->info.moved = any;
	free(sides);
	free(methods);
	return rc;
}

const char *jp_name_in_series(const struct jp_series_rows *rows, const struct jprof_row *row)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) key = { 0 };
	if (!rows->moved.names)
		return row->name;
	put_without_line(row, &key);
	if (key.failed)
		return NULL;
	uint32_t id = key.len ? jp_intern_find(&rows->moved.methods, key.text, key.len) : JP_NONE;
	return id == JP_NONE || !rows->moved.names[id] ? row->name : rows->moved.names[id];
}
