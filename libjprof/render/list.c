/* --list=RE: the source of each function that matches, every line with what was allocated right there (flat) and
 * there or in something called from there (cumulative); laid out as jeprof does. An inlined function has a listing
 * of its own; in that of its caller it counts as called. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "render/errors.h"
#include "render/render.h"
#include "render/select.h"
#include "render/source.h"
#include "render/values.h"
#include "view/walk.h"

enum { context = 5, longest_gap = 100 }; /* lines */

struct list_routine {
	uint32_t function; /* the first of this name and file */
	double flat, cum;
	uint32_t seen;     /* 1 + the last sample that counted it */
	const char *doubt; /* why its file is not to be read; NULL: nothing speaks against it */
	size_t first, end; /* its lines, once sorted */
};

struct list_line {
	uint32_t routine, number;
	double flat, cum;
	uint32_t seen;
};

struct list {
	const struct jprof_view *view;
	struct jp_walk walk;
	const struct jprof_report_opts *opts;
	enum jp_unit unit;
	const char **doubts;        /* by object: likewise, "" for NULL; NULL until asked */
	char *matched;              /* by function: 'y' or 'n', 0 until asked */
	struct jp_intern keys;      /* (full name, file) of routines */
	struct jp_intern line_keys; /* (routine, number) */
	struct list_routine *routines;
	size_t routine_count, routine_cap;
	struct list_line *lines;
	size_t line_count, line_cap;
	bool told_lines; /* why a value has no line was said */
	char *told;      /* why the last file had no source; NULL: none lacked it */
	struct jp_strbuf *out;
};

/* ---- adding up ------------------------------------------------------------------------------------- */

static uint32_t routine_of(struct list *l, uint32_t function)
{
	const struct jp_function *f = &l->view->code.functions[function];
	const uint32_t key[] = { f->name, f->file };
	uint32_t known = l->keys.count, id = jp_intern(&l->keys, key, sizeof key);
	if (id == known && id != JP_NONE) {
		if (jp_array_push(l->routines, l->routine_count, l->routine_cap))
			return JP_NONE;
		l->routines[l->routine_count++] = (struct list_routine){
			.function = function,
			.doubt = "is named by the input alone, and not by an object file that was found here"
		};
	}
	return id;
}

static uint32_t line_of(struct list *l, uint32_t routine, uint32_t number)
{
	const uint32_t key[] = { routine, number };
	uint32_t known = l->line_keys.count, id = jp_intern(&l->line_keys, key, sizeof key);
	if (id == known && id != JP_NONE) {
		if (jp_array_push(l->lines, l->line_count, l->line_cap))
			return JP_NONE;
		l->lines[l->line_count++] = (struct list_line){ .routine = routine, .number = number };
	}
	return id;
}

/* The best that is known of who named its file; an object is asked once. */
static void look_at_evidence(struct list *l, struct list_routine *routine, const struct jp_location *at)
{
	const char **doubt = &l->doubts[at->object];
	if (!routine->doubt || at->given || at->bundled || at->source >= JPROF_SOURCE_INPUT)
		return;
	if (!*doubt) {
		const char *words = jp_source_doubt(&l->view->code, at->object);
		*doubt = words ? words : "";
	}
	routine->doubt = **doubt ? *doubt : NULL;
}

/* Routines and lines count once per stack, however often recursion passes through them. */
static int count_frame(struct list *l, uint32_t id, uint32_t stack, double value, bool innermost)
{
	const struct jp_frame *frame = &l->view->code.frames[id];
	uint32_t r = routine_of(l, frame->function), n = r == JP_NONE ? JP_NONE : line_of(l, r, frame->line);
	if (n == JP_NONE)
		return -1;
	struct list_routine *routine = &l->routines[r];
	struct list_line *line = &l->lines[n];
	look_at_evidence(l, routine, jp_frame_location(l->view, id));
	routine->cum += jp_first_in_stack(&routine->seen, stack) ? value : 0;
	line->cum += jp_first_in_stack(&line->seen, stack) ? value : 0;
	routine->flat += innermost ? value : 0;
	line->flat += innermost ? value : 0;
	return 0;
}

static bool is_wanted_function(struct list *l, struct jp_pattern *pattern, uint32_t function)
{
	char *known = &l->matched[function];
	if (!*known)
		*known = jp_matches_function(l->view, pattern, function) ? 'y' : 'n';
	return *known == 'y';
}

static int add_stack_lines(struct list *l, struct jp_pattern *pattern, uint32_t id)
{
	const struct jp_walk *w = &l->walk;
	jp_walk_frames(&l->walk, id);
	for (uint32_t i = 0; i < w->depth; i++) {
		uint32_t function = l->view->code.frames[w->frames[i]].function;
		if (is_wanted_function(l, pattern, function) &&
		    count_frame(l, w->frames[i], id, jp_stack_value(l->view, id), i == w->inner))
			return -1;
	}
	return 0;
}

static int add_all(struct list *l, struct jp_pattern *pattern)
{
	l->matched = calloc((size_t)l->view->code.function_count + 1, 1);
	l->doubts = calloc((size_t)l->view->code.object_count + 1, sizeof *l->doubts);
	if (jp_walk_init(&l->walk, l->view) || !l->matched || !l->doubts)
		return -1;
	for (uint32_t i = 0; i < l->view->stack_count; i++)
		if (add_stack_lines(l, pattern, i))
			return -1;
	return 0;
}

/* ---- order ------------------------------------------------------------------------------------------- */

static const char *routine_name(const struct list *l, const struct list_routine *r)
{
	return jp_code_name(&l->view->code, r->function, l->view->info.full_names);
}

static const char *routine_file(const struct list *l, const struct list_routine *r)
{
	return jp_code_file(&l->view->code, r->function);
}

static int list_by_cum(const void *a, const void *b, void *context)
{
	const struct list *l = context;
	const struct list_routine *x = &l->routines[*(const uint32_t *)a], *y = &l->routines[*(const uint32_t *)b];
	if (fabs(x->cum) != fabs(y->cum))
		return fabs(x->cum) > fabs(y->cum) ? -1 : 1;
	int by_name = strcmp(routine_name(l, x), routine_name(l, y));
	return by_name ? by_name : strcmp(routine_file(l, x), routine_file(l, y));
}

static int lines_by_routine(const void *a, const void *b)
{
	const struct list_line *x = a, *y = b;
	return jp_order_by(x->routine, y->routine, jp_order(x->number, y->number));
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static void put_list_line(const struct list *l, const struct jp_source *source, const struct list_line *line,
                          size_t number)
{
	jp_strbuf_printf(l->out, "%6s %6s %4zu: ", jp_shown_value_or_dot(line ? line->flat : 0, l->unit).text,
	                 jp_shown_value_or_dot(line ? line->cum : 0, l->unit).text, number);
	jp_source_put(source, number, l->out);
	jp_strbuf_str(l->out, "\n");
}

/* Lines [first, end) of one routine, all between them and what stands around them; "---" stands for a long gap. */
static void put_pieces(const struct list *l, const struct jp_source *source, const struct list_line *first,
                       const struct list_line *end)
{
	size_t next = 0; /* the first line not written yet */
	while (first < end && !first->number)
		first++;
	for (const struct list_line *line = first; line < end; line++) {
		size_t from = line->number > context ? line->number - context : 1;
		if (next && from > next + longest_gap)
			jp_strbuf_str(l->out, "---\n");
		else if (next)
			from = next;
		for (size_t n = from > next ? from : next; n < line->number && n <= source->count; n++)
			put_list_line(l, source, NULL, n);
		put_list_line(l, source, line, line->number);
		size_t stop = (size_t)line->number + context + 1;
		if (line + 1 < end && line[1].number < stop)
			stop = line[1].number;
		for (next = (size_t)line->number + 1; next < stop && next <= source->count; next++)
			put_list_line(l, source, NULL, next);
	}
}

/* What belongs to no line. Why, and what to do, is said once. */
static void put_unknown(struct list *l, const struct list_line *line)
{
	if (line->number || (line->flat == 0 && line->cum == 0))
		return;
	jp_strbuf_printf(l->out, "%6s %6s    ?:", jp_shown_value_or_dot(line->flat, l->unit).text,
	                 jp_shown_value_or_dot(line->cum, l->unit).text);
	if (!l->told_lines)
		jp_strbuf_printf(l->out, " (no line is known: that takes debug information%s)",
		                 jp_advice_words(l->opts, JPROF_ADVICE_LINES));
	jp_strbuf_str(l->out, "\n");
	l->told_lines = true;
}

/* Why there is no source; of the next file that lacks it for the same reason only that. */
static void put_trouble(struct list *l, const char *file, const char *trouble)
{
	size_t name = strlen(file);
	const char *why = !strncmp(trouble, file, name) ? trouble + name : trouble;
	if (l->told && !strcmp(why, l->told)) {
		jp_strbuf_str(l->out, "(no source: as above)\n");
		return;
	}
	jp_strbuf_printf(l->out, "(no source: %s%s)\n", trouble, jp_advice_words(l->opts, JPROF_ADVICE_SOURCE));
	free(l->told);
	l->told = strdup(why);
	l->out->failed = l->out->failed || !l->told;
}

static int put_list_routine(struct list *l, uint32_t id)
{
	const struct list_routine *r = &l->routines[id];
	jp_strbuf_str(l->out, "ROUTINE ====================== ");
	jp_strbuf_visible(l->out, routine_name(l, r));
	jp_strbuf_str(l->out, " in ");
	jp_strbuf_visible(l->out, *routine_file(l, r) ? routine_file(l, r) : "??");
	jp_strbuf_printf(l->out, "\n%6s %6s Total %s (flat / cumulative)\n", jp_shown_value(r->flat, l->unit).text,
	                 jp_shown_value(r->cum, l->unit).text, jp_unit_name(l->unit));
	const struct list_line *first = l->lines + r->first;
	const struct list_line *end = l->lines + r->end;
	struct jp_source source = { 0 };
	const char *file = routine_file(l, r);
	int rc = *file ? jp_source_open(&source, file, r->doubt, &l->view->code, l->opts) : 0;
	if (!rc && first < end)
		put_unknown(l, first);
	if (!rc && source.count)
		put_pieces(l, &source, first, end);
	if (!rc && !source.count && *file) {
		put_trouble(l, file, source.trouble.text ? source.trouble.text : "");
		for (const struct list_line *line = first; line < end; line++)
			if (line->number && (line->flat != 0 || line->cum != 0))
				put_list_line(l, &source, line, line->number);
	}
	jp_source_release(&source);
	return rc;
}

static int put_listings(struct list *l, bool *any)
{
	uint32_t *order = calloc(l->routine_count + 1, sizeof *order);
	size_t count = 0;
	for (uint32_t i = 0; order && i < l->routine_count; i++)
		if (l->routines[i].flat != 0 || l->routines[i].cum != 0)
			order[count++] = i;
	if (count) {
		qsort_r(order, count, sizeof *order, list_by_cum, l);
		qsort(l->lines, l->line_count, sizeof *l->lines, lines_by_routine);
		for (size_t j = 0; j < l->line_count; j++) {
			struct list_routine *r = &l->routines[l->lines[j].routine];
			if (!r->end)
				r->first = j;
			r->end = j + 1;
		}
	}
	if (l->opts->top && l->opts->top < count)
		count = l->opts->top;
	int rc = order ? 0 : -1;
	if (count && l->opts->total)
		jp_put_total(l->view, l->opts, l->unit, l->out);
	for (size_t i = 0; !rc && i < count; i++) {
		rc = put_list_routine(l, order[i]);
		jp_strbuf_drain(l->out);
	}
	*any = count;
	free(order);
	return rc;
}

int jp_render_list(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	struct list l = { .view = view, .opts = opts, .unit = jp_unit_of(view, opts), .out = out };
	struct jp_pattern *pattern;
	bool any = false;
	int rc = jp_view_pattern(opts, "list", &pattern, err);
	if (rc)
		return rc;
	rc = add_all(&l, pattern) ? jp_error_nomem(err) : jp_pattern_check(pattern, "list", err);
	if (!rc && put_listings(&l, &any))
		rc = jp_error_nomem(err);
	if (!rc && !any)
		rc = jp_error_no_match(err, "list", opts);
	jp_pattern_free(pattern);
	jp_intern_release(&l.keys);
	jp_intern_release(&l.line_keys);
	jp_walk_release(&l.walk);
	free(l.told);
	free(l.matched);
	free(l.doubts);
	free(l.routines);
	free(l.lines);
	return rc;
}
