#include "answers/movedlines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "view/view.h"
#include "view/walk.h"

/* What the lines of a method have on both sides. */
struct method_lines {
	bool gone, came, stayed; /* some line of it has memory on the one side alone, or on both */
	double most;             /* at the end, of one line */
	const char *name;
};

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

/* What each row had, and has. */
static int sum_sides_of_rows(const struct jprof_view *v, double (*sides)[2])
{
	struct jp_walk walk;
	int rc = jp_walk_init(&walk, v);
	for (uint32_t i = 0; !rc && i < v->stack_count; i++) {
		jp_walk_rows(&walk, i);
		if (walk.inner >= walk.length || walk.rows[walk.inner] >= v->row_count)
			continue;
		sides[walk.rows[walk.inner]][0] += jp_stack_base(v, i);
		sides[walk.rows[walk.inner]][1] += jp_stack_base(v, i) + jp_stack_value(v, i);
	}
	jp_walk_release(&walk);
	return rc;
}

static int count_line(struct jp_moved_lines *moved, struct method_lines *methods, const struct jprof_row *row,
                      const double sides[2])
{
	static const double least = 1; /* byte: sums are rounded */
	struct jp_strbuf jp_cleanup(jp_strbuf_release) key = { 0 };
	put_without_line(row, &key);
	bool was = sides[0] >= least, is = sides[1] >= least;
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
	if (!m->name || sides[1] > m->most) {
		m->most = sides[1];
		m->name = row->name;
	}
	return 0;
}

static int keep_method_names(struct jp_series_rows *rows, const struct method_lines *methods)
{
	struct jp_moved_lines *moved = &rows->moved;
	moved->names = jp_arena_alloc(&rows->series->arena, (size_t)moved->methods.count * sizeof *moved->names);
	for (uint32_t i = 0; moved->names && i < moved->methods.count; i++) {
		moved->names[i] = jp_arena_dup(&rows->series->arena, methods[i].name, strlen(methods[i].name));
		if (!moved->names[i])
			return -1;
	}
	return moved->names ? 0 : -1;
}

int jp_find_moved_lines(struct jp_series_rows *rows, const struct jprof_view *v)
{
	double(*sides)[2] = calloc((size_t)v->row_count + 1, sizeof *sides);
	struct method_lines *methods = calloc((size_t)v->row_count + 1, sizeof *methods);
	int rc = !sides || !methods ? -1 : sum_sides_of_rows(v, sides);
	for (uint32_t i = 0; !rc && i < v->row_count; i++)
		rc = count_line(&rows->moved, methods, &v->rows[i], sides[i]);
	bool any = false;
	for (uint32_t i = 0; !rc && i < rows->moved.methods.count; i++)
		any = any || (methods[i].gone && methods[i].came && !methods[i].stayed);
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
	return id == JP_NONE ? row->name : rows->moved.names[id];
}
