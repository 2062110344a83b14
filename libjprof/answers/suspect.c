#include "answers/suspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "model/tags.h"
#include "view/sizeview.h"
#include "view/store.h"
#include "view/walk.h"

/* ---- kinds ------------------------------------------------------------------------------------------------ */

/* What a row holds of a kind, which is a row of the view by group; or of a tag, or a size class. */
struct kind_part {
	uint32_t row, kind;
	double change, objects;
};

static int order_of_parts(const void *a, const void *b)
{
	const struct kind_part *x = a, *y = b;
	return jp_order_by(x->row, y->row, jp_order(x->kind, y->kind));
}

static char *kept_text(struct jp_series_rows *rows, const char *text)
{
	return jp_arena_dup(&rows->series->arena, text, strlen(text));
}

static int set_kind(struct jp_series_rows *rows, const struct jprof_view *kinds, const struct kind_part *most,
                    double all)
{
	struct jprof_grown *row = &rows->series->rows[most->row];
	const struct jprof_row *kind = &kinds->rows[most->kind];
	row->kind = kept_text(rows, kind->name);
	row->kind_share = all > 0 ? fmin(most->change / all, 1) : 1;
	row->what = kind->what ? kept_text(rows, kind->what) : NULL;
	row->remedy = kind->remedy ? kept_text(rows, kind->remedy) : NULL;
	return row->kind && (row->what || !kind->what) && (row->remedy || !kind->remedy) ? 0 : -1;
}

/* Adds up the parts of a row by kind: that which grew most, and what all have together that grew; or that shrank. */
static void most_of_row(const struct kind_part *parts, size_t count, size_t *end, bool shrank, struct kind_part *most,
                        double *all)
{
	const double sign = shrank ? -1 : 1;
	while (*end < count && parts[*end].row == most->row) {
		struct kind_part sum = parts[*end];
		for (++*end; *end < count && !order_of_parts(&parts[*end], &sum); ++*end) {
			sum.change += parts[*end].change;
			sum.objects += parts[*end].objects;
		}
		*all += fmax(sign * sum.change, 0);
		if (most->kind == JP_NONE || sign * sum.change > sign * most->change)
			*most = sum;
	}
}

/* The kind that grew most is the row's. */
static int choose_kind(struct jp_series_rows *rows, const struct jprof_view *kinds, const struct kind_part *parts,
                       size_t count, size_t *end)
{
	struct kind_part most = { .row = parts[*end].row, .kind = JP_NONE };
	double all = 0;
	most_of_row(parts, count, end, false, &most, &all);
	return set_kind(rows, kinds, &most, all);
}

static bool part_by_group(const struct jprof_view *kinds, uint32_t stack, uint32_t *kind)
{
	if (!kinds->paths[stack].length)
		return false;
	*kind = kinds->paths[stack].rows[0];
	return true;
}

/* ---- sizes -------------------------------------------------------------------------------------------------- */

/* By the mean of a stack's objects: those that are there, else those that were. */
static bool part_by_class(const struct jprof_view *v, uint32_t stack, uint32_t *kind)
{
	double was = jp_stack_base_objects(v, stack), now = was + jp_stack_number(v, stack, JPROF_INUSE_OBJECTS);
	double bytes = jp_stack_base(v, stack), limit;
	double size = now >= 0.5 ? (bytes + jp_stack_value(v, stack)) / now : was > 0 ? bytes / was : 0;
	*kind = size > 0 ? jp_mean_size_class(size, &limit) : 0;
	return size > 0;
}

/* The class that grew most, of a row that shrank that which shrank most. */
static int choose_class(struct jp_series_rows *rows, const struct jprof_view *v, const struct kind_part *parts,
                        size_t count, size_t *end)
{
	struct kind_part most = { .row = parts[*end].row, .kind = JP_NONE };
	struct jprof_grown *row = &rows->series->rows[most.row];
	double change = 0, all = 0;
	(void)v;
	for (size_t i = *end; i < count && parts[i].row == most.row; i++)
		change += parts[i].change;
	most_of_row(parts, count, end, change < 0, &most, &all);
	if (!(all > 0) || !(fabs(most.objects) > 0) || !(most.change / most.objects > 0))
		return 0;
	row->size = most.change / most.objects;
	row->size_share = fmin(fabs(most.change) / all, 1);
	row->size_count = fabs(most.objects);
	return 0;
}

/* ---- tags -------------------------------------------------------------------------------------------------- */

static int most_bytes_first(const void *a, const void *b)
{
	const struct jprof_tag_part *x = a, *y = b;
	return jp_order_by(y->bytes, x->bytes, strcmp(x->tag ? x->tag : "", y->tag ? y->tag : ""));
}

static int set_tag(struct jp_series_rows *rows, const struct jp_intern *tags, const struct kind_part *sum,
                   struct jprof_tag_part *part)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	*part = (struct jprof_tag_part){ .bytes = sum->change };
	if (sum->kind == JP_NONE)
		return 0;
	jp_put_tag(tags, sum->kind, &text);
	part->tag = text.failed ? NULL : kept_text(rows, text.text);
	return part->tag ? 0 : -1;
}

/* A row may have each tag in several parts. */
static int set_tags(struct jp_series_rows *rows, const struct jprof_view *v, const struct kind_part *parts,
                    size_t count, size_t *end)
{
	size_t first = *end, used = 0;
	struct jprof_grown *row = &rows->series->rows[parts[first].row];
	while (*end < count && parts[*end].row == parts[first].row)
		++*end;
	struct jprof_tag_part *list = jp_arena_alloc(&rows->series->arena, (*end - first) * sizeof *list);
	for (size_t i = first; list && i < *end;) {
		struct kind_part sum = parts[i];
		for (++i; i < *end && !order_of_parts(&parts[i], &sum); ++i)
			sum.change += parts[i].change;
		if (sum.change > 0 && set_tag(rows, &v->profile->tags, &sum, &list[used++]))
			return -1;
	}
	if (used)
		qsort(list, used, sizeof *list, most_bytes_first);
	row->tags = list;
	row->tag_count = used;
	return list ? 0 : -1;
}

static bool part_by_tag(const struct jprof_view *v, uint32_t stack, uint32_t *kind)
{
	*kind = v->stacks[stack].tag;
	return v->profile->tags.count > 0;
}

/* ---- parts of rows ------------------------------------------------------------------------------------------ */

/* How rows are cut into parts: by what each stack is a part, if it is one; and what is made of a row's parts, which
 * begin at *end and are in order. That moves *end behind them. */
struct row_cut {
	bool (*part_of)(const struct jprof_view *v, uint32_t stack, uint32_t *kind);
	int (*take)(struct jp_series_rows *rows, const struct jprof_view *v, const struct kind_part *parts,
	            size_t count, size_t *end);
};

static int cut_rows(struct jp_series_rows *rows, const struct jprof_view *v, const uint32_t *row_of,
                    const struct row_cut *cut)
{
	struct kind_part *parts = calloc((size_t)v->stack_count + 1, sizeof *parts);
	size_t count = 0, at = 0;
	uint32_t kind;
	for (uint32_t i = 0; parts && i < v->stack_count; i++)
		if (row_of[i] != JP_NONE && cut->part_of(v, i, &kind))
			parts[count++] = (struct kind_part){ row_of[i], kind, jp_stack_value(v, i),
				                             jp_stack_number(v, i, JPROF_INUSE_OBJECTS) };
	if (count)
		qsort(parts, count, sizeof *parts, order_of_parts);
	int rc = parts ? 0 : -1;
	while (!rc && at < count)
		rc = cut->take(rows, v, parts, count, &at);
	free(parts);
	return rc;
}

/* ---- ways --------------------------------------------------------------------------------------------------- */

enum { most_callers = 5 };

/* "Server::run > Worker::loop": the functions that called the row's, without what starts a program. */
static void put_callers(const struct jprof_view *v, const struct jp_walk *w, struct jp_strbuf *text)
{
	static const char *const starts[] = {
		"main", "_start", "__libc_start_main", "start_thread", "clone3", "clone"
	};
	const char *names[most_callers], *last = jp_frame_name(v, w->frames[w->inner]);
	size_t count = 0;
	for (uint32_t i = w->inner + 1; i < w->depth && count < most_callers; i++) {
		const char *name = w->frames[i] < v->code.frame_count ? jp_frame_name(v, w->frames[i]) : "";
		bool start = !strncmp(name, "__libc_start", 12);
		for (size_t s = 0; s < jp_count(starts) && !start; s++)
			start = !strcmp(name, starts[s]);
		if (start)
			break;
		if (*name && strcmp(name, last) != 0)
			names[count++] = last = name;
	}
	while (count--)
		jp_strbuf_printf(text, "%s%s", text->len ? " > " : "", names[count]);
}

/* "app/controllers/products.rb:18 ProductsController#show": the application's line above that of the row. */
static void put_calling_line(const struct jprof_view *v, const struct jp_walk *w, const char *trim,
                             struct jp_strbuf *text)
{
	uint32_t own = w->frames[w->inner], at = w->inner + 1;
	do
		at = jp_origins_caller(v->origins, w->frames, at, w->depth);
	while (at < w->depth && v->code.frames[w->frames[at]].function == v->code.frames[own].function && ++at);
	if (at >= w->depth)
		return;
	const struct jp_frame *frame = &v->code.frames[w->frames[at]];
	jp_put_site(text, &v->code, jp_code_file(&v->code, frame->function), frame->line, trim);
	jp_strbuf_printf(text, " %s", jp_frame_name(v, w->frames[at]));
}

static int set_way(struct jp_series_rows *rows, const struct jprof_view *v, const struct jp_walk *w,
                   struct jprof_grown *row)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	bool ruby = v->origins && w->inner < w->depth && w->frames[w->inner] < v->code.frame_count &&
	            jp_frame_location(v, w->frames[w->inner])->source == JPROF_SOURCE_RUBY;
	if (ruby)
		put_calling_line(v, w, rows->view.trim_path, &text);
	else if (w->depth && w->frames[0] < v->code.frame_count)
		put_callers(v, w, &text);
	if (text.failed)
		return -1;
	const char **to = ruby ? &row->from : &row->path;
	*to = text.len ? kept_text(rows, text.text) : NULL;
	return *to || !text.len ? 0 : -1;
}

/* The stack of each row that grew most. */
static int find_ways(struct jp_series_rows *rows, const struct jprof_view *v, const uint32_t *row_of)
{
	struct jp_walk walk;
	uint32_t *most = jp_none_array(rows->series->count);
	int rc = jp_walk_init(&walk, v) || !most ? -1 : 0;
	for (uint32_t i = 0; !rc && i < v->stack_count; i++) {
		double change = jp_stack_value(v, i);
		if (row_of[i] != JP_NONE && change > 0 &&
		    (most[row_of[i]] == JP_NONE || change > jp_stack_value(v, most[row_of[i]])))
			most[row_of[i]] = i;
	}
	for (size_t r = 0; !rc && r < rows->series->count; r++)
		if (most[r] != JP_NONE) {
			jp_walk_frames(&walk, most[r]);
			rc = set_way(rows, v, &walk, &rows->series->rows[r]);
		}
	jp_walk_release(&walk);
	free(most);
	return rc;
}

int jp_describe_rows(struct jp_series_rows *rows, const struct jprof_profile *difference, const struct jprof_view *view,
                     const uint32_t *row_of, struct jprof_error *err)
{
	struct jprof_view_opts opts = rows->view;
	static const struct row_cut by_group = { part_by_group, choose_kind }, by_tag = { part_by_tag, set_tags },
				    by_class = { part_by_class, choose_class };
	struct jprof_view *kinds;
	opts.errors = false;
	opts.granularity = JPROF_BY_GROUP;
	int rc = jprof_view_new(difference, &opts, &kinds, err);
	if (rc)
		return rc;
	/* Both fold and filter alike: they have the same stacks in the same order. */
	if ((kinds->stack_count == view->stack_count && cut_rows(rows, kinds, row_of, &by_group)) ||
	    cut_rows(rows, view, row_of, &by_tag) || cut_rows(rows, view, row_of, &by_class) ||
	    find_ways(rows, view, row_of))
		rc = jp_error_nomem(err);
	jprof_view_free(kinds);
	return rc;
}
