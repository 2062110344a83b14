#include "answers/courserows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/ageshapes.h"
#include "answers/movedlines.h"
#include "answers/suspect.h"
#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "view/sizeview.h"
#include "view/view.h"
#include "view/walk.h"

static int keep_row_text(struct jp_series_rows *rows, const char **to, const char *text)
{
	*to = text ? jp_arena_dup(&rows->series->arena, text, strlen(text)) : NULL;
	return text && !*to ? -1 : 0;
}

/* The row of that name, made when it is new; `like` says where it is, and may be NULL. */
static uint32_t row_for(struct jp_series_rows *rows, const char *name, const struct jprof_row *like)
{
	struct jprof_series *s = rows->series;
	uint32_t id = jp_intern_str(&rows->names, name);
	if (id == JP_NONE || id < s->count)
		return id;
	if (jp_array_push(s->rows, s->count, s->cap) ||
	    jp_array_reserve(&rows->courses, &rows->course_cap, (s->count + 1) * rows->columns, sizeof *rows->courses))
		return JP_NONE;
	memset(&rows->courses[s->count * rows->columns], 0, rows->columns * sizeof *rows->courses);
	struct jprof_grown *row = &s->rows[s->count++];
	*row = (struct jprof_grown){ .part = JPROF_PART_LIVE, .begun = NAN, .kept = NAN, .size = NAN };
	if (keep_row_text(rows, &row->name, name) || !like)
		return row->name ? id : JP_NONE;
	row->line = like->line;
	row->origin = like->origin;
	return keep_row_text(rows, &row->file, like->file) || keep_row_text(rows, &row->library, like->library)
	           ? JP_NONE
	           : id;
}

static uint32_t row_for_view(struct jp_series_rows *rows, const struct jprof_row *row)
{
	const char *name = jp_name_in_series(rows, row);
	return name ? row_for(rows, name, row) : JP_NONE;
}

/* "insert < BlockCache::get < main": a whole stack. */
static uint32_t row_of_whole_stack(struct jp_series_rows *rows, const struct jprof_view *v, const struct jp_walk *w)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	for (uint32_t i = w->inner; i < w->length; i++)
		jp_strbuf_printf(&text, "%s%s", text.len ? " < " : "",
		                 w->rows[i] < v->row_count ? v->rows[w->rows[i]].name : "?");
	return text.failed || !text.text ? JP_NONE : row_for(rows, text.text, &v->rows[w->rows[w->inner]]);
}

/* "objects of 16 KB": of the size that those have which are there, else those that were subtracted. */
static uint32_t row_of_size(struct jp_series_rows *rows, const struct jprof_view *v, uint32_t stack)
{
	static const struct {
		double bytes;
		const char *name;
	} units[] = { { 1 << 30, "GB" }, { 1 << 20, "MB" }, { 1 << 10, "KB" }, { 1, "bytes" } };
	double was = jp_stack_base_objects(v, stack), size = 0, limit;
	double now = was + jp_stack_number(v, stack, JPROF_INUSE_OBJECTS);
	char name[64];
	size_t u = 0;
	if (now >= 0.5)
		size = (jp_stack_base(v, stack) + jp_stack_value(v, stack)) / now;
	else if (was > 0)
		size = jp_stack_base(v, stack) / was;
	if (!(size > 0))
		return row_for(rows, "objects of several sizes", NULL);
	jp_mean_size_class(size, &limit);
	while (limit < units[u].bytes)
		u++;
	snprintf(name, sizeof name, "objects of %.4g %s", limit / units[u].bytes, units[u].name);
	return row_for(rows, name, NULL);
}

static uint32_t row_of_stack(struct jp_series_rows *rows, const struct jprof_view *v, struct jp_walk *w, uint32_t stack,
                             uint32_t *known)
{
	if (rows->opts->rows == JPROF_SERIES_SIZES)
		return row_of_size(rows, v, stack);
	if (rows->untagged)
		return row_for(rows, "(no tag)", NULL);
	jp_walk_rows(w, stack);
	if (w->inner >= w->length)
		return row_for(rows, "(no stack)", NULL);
	uint32_t row = w->rows[w->inner];
	if (rows->opts->rows == JPROF_SERIES_STACKS)
		return row_of_whole_stack(rows, v, w);
	if (known[row] == JP_NONE)
		known[row] = row_for_view(rows, &v->rows[row]);
	return known[row];
}

/* What a filter dropped has no places, and no row. */
static bool is_dropped(const struct jprof_view_opts *opts, const struct jp_view_stack *stack)
{
	return !stack->depth && (opts->focus || opts->ignore || opts->retain || opts->exclude || opts->also_focus ||
	                         opts->also_ignore || (opts->tag && *opts->tag) || opts->older || opts->newer);
}

static void add_to_course(struct jp_row_course *c, const struct jprof_view *v, uint32_t stack)
{
	double change = jp_stack_value(v, stack), objects = jp_stack_number(v, stack, JPROF_INUSE_OBJECTS);
	jp_evidence_add(&c->evidence, &v->evidence[stack]);
	c->base += jp_stack_base(v, stack);
	c->objects += objects;
	c->managed += v->stacks[stack].managed ? change : 0;
}

/* Adds the stacks of a view; row_of[] becomes the row of each. */
static int add_stacks(struct jp_series_rows *rows, const struct jprof_view *v, size_t column, uint32_t *row_of)
{
	struct jp_walk walk;
	uint32_t *known = jp_none_array(v->row_count);
	int rc = jp_walk_init(&walk, v) || !known ? -1 : 0;
	for (uint32_t i = 0; !rc && i < v->stack_count; i++) {
		if (is_dropped(&rows->view, &v->stacks[i]))
			continue;
		row_of[i] = row_of_stack(rows, v, &walk, i, known);
		if (row_of[i] == JP_NONE)
			rc = -1;
		else
			add_to_course(&rows->courses[row_of[i] * rows->columns + column], v, i);
	}
	jp_walk_release(&walk);
	free(known);
	return rc;
}

/* Of gems: the application's line that most came from. */
static int take_callers(struct jp_series_rows *rows, const struct jprof_view *v)
{
	for (uint32_t i = 0; i < v->row_count; i++) {
		uint32_t id = jp_intern_find(&rows->names, v->rows[i].name, strlen(v->rows[i].name));
		if (v->rows[i].from && id != JP_NONE &&
		    keep_row_text(rows, &rows->series->rows[id].from, v->rows[i].from))
			return -1;
	}
	return 0;
}

int jp_series_add(struct jp_series_rows *rows, const struct jprof_profile *difference, size_t column, bool main,
                  struct jprof_error *err)
{
	struct jprof_view *v;
	struct jprof_view_opts opts = rows->view;
	bool aged = main && rows->series->info.ages;
	rows->untagged = !main && opts.granularity == JPROF_BY_TAG && !difference->tags.count;
	if (rows->untagged)
		opts.granularity = JPROF_BY_FUNCTION;
	opts.ages = aged ? JPROF_AGES_FLAT : JPROF_AGES_NONE;
	int rc = jprof_view_new(difference, &opts, &v, err);
	if (rc)
		return rc;
	if (main && rows->restarted && jp_find_moved_lines(rows, v))
		rc = jp_error_nomem(err);
	uint32_t *row_of = jp_none_array(v->stack_count);
	rows->lineages[column] = v->lineage;
	if (!column)
		rows->base = v->info.base;
	if (!row_of || rc || add_stacks(rows, v, column, row_of))
		rc = jp_error_nomem(err);
	if (!rc && aged && jp_series_ages(rows, v, row_of))
		rc = jp_error_nomem(err);
	if (!rc && main)
		rc = jp_describe_rows(rows, difference, v, row_of, err);
	if (!rc && main && rows->opts->rows == JPROF_SERIES_VIEW && take_callers(rows, v))
		rc = jp_error_nomem(err);
	free(row_of);
	jprof_view_free(v);
	return rc;
}

void jp_series_rows_release(struct jp_series_rows *rows)
{
	jp_intern_release(&rows->names);
	jp_intern_release(&rows->moved.methods);
	free(rows->courses);
	free(rows->lineages);
}
