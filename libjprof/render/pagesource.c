#include "render/pagesource.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "render/source.h"

enum { most_lines = 30, lines_around = 5, usual_variant = 2 /* all of Ruby, --fold=std */ };

/* A line of source, and how much its frames hold. */
struct hot_line {
	uint32_t file; /* string of the page */
	uint32_t line;
	uint32_t frame; /* of the view, one on that line */
	double value;
};

static int compare_lines(const void *a, const void *b)
{
	const struct hot_line *x = a, *y = b;
	return jp_order_by(x->file, y->file, jp_order(x->line, y->line));
}

/* The most first; what holds nothing is last. */
static int compare_values(const void *a, const void *b)
{
	const struct hot_line *x = a, *y = b;
	return jp_order_by(y->value, x->value, compare_lines(a, b));
}

/* The page's frame at which a stack's memory was allocated; JP_NONE: a filter dropped the stack. */
static uint32_t frame_of_stack(const struct jp_page_stacks *stacks, uint32_t stack)
{
	const struct jp_page_ends *ends = &jp_page_stack(stacks, stack)->ends[usual_variant];
	uint32_t node = ends->leaf;
	for (uint32_t i = 0; node && i < ends->inner; i++)
		node = jp_trie_parent(&stacks->nodes, node);
	return node ? jp_trie_item(&stacks->nodes, node) : JP_NONE;
}

/* What each of the page's frames holds itself, and which frame of the view it is; NULL when memory is short. */
static struct hot_line *lines_by_frame(const struct jp_page_stacks *stacks, const struct jp_page_names *names,
                                       const uint32_t *of)
{
	const struct jprof_view *view = names->view;
	struct hot_line *lines = calloc((size_t)stacks->frames.cells.count + 1, sizeof *lines);
	for (uint32_t i = 0; lines && i < view->stack_count; i++) {
		uint32_t frame = frame_of_stack(stacks, of[i]);
		if (frame != JP_NONE)
			lines[frame].value += jp_stack_value(view, i);
	}
	for (uint32_t i = 0; lines && i < view->code.frame_count; i++)
		if (names->number[i] != JP_NONE)
			lines[names->number[i]].frame = i;
	return lines;
}

/* Frames on one line are one; leaves the first that hold most, in the order of files and lines. */
static size_t choose_hot_lines(const struct jp_page_frames *frames, struct hot_line *lines)
{
	size_t count = 0, kept = 0;
	for (uint32_t i = 0; i < frames->cells.count; i++) {
		const uint32_t *cells = jp_page_cells(frames, i);
		if (!cells[JP_PAGE_FILE] || !cells[JP_PAGE_LINE] || lines[i].value == 0)
			continue;
		lines[count] = lines[i];
		lines[count].file = cells[JP_PAGE_FILE];
		lines[count++].line = cells[JP_PAGE_LINE];
	}
	qsort(lines, count, sizeof *lines, compare_lines);
	for (size_t i = 0; i < count; i++)
		if (kept && !compare_lines(&lines[kept - 1], &lines[i]))
			lines[kept - 1].value += lines[i].value;
		else
			lines[kept++] = lines[i];
	for (size_t i = 0; i < kept; i++)
		lines[i].value = fabs(lines[i].value);
	qsort(lines, kept, sizeof *lines, compare_values);
	kept = kept > most_lines ? most_lines : kept;
	qsort(lines, kept, sizeof *lines, compare_lines);
	return kept;
}

/* Why the file of a frame is not to be read outside of --source-path; NULL: nothing speaks against it. */
static const char *doubt_of_frame(const struct jprof_view *view, uint32_t frame)
{
	const struct jp_location *at = jp_frame_location(view, frame);
	if (at->given || at->bundled || at->source >= JPROF_SOURCE_INPUT)
		return "is named by the input alone, and not by an object file that was found here";
	return jp_source_doubt(&view->code, at->object);
}

static size_t put_excerpt(struct jp_jsonout *json, const struct jp_source *source, size_t first, size_t last)
{
	jp_jsonout_put(json, "first:%zu lines:[\n", first);
	for (size_t i = first; i <= last; i++) {
		struct jp_strbuf jp_cleanup(jp_strbuf_release) line = { 0 };
		jp_source_put(source, i, &line);
		jp_jsonout_string(json, NULL, line.failed || !line.text ? "" : line.text);
	}
	jp_jsonout_close(json);
	return last - first + 1;
}

static void count_source_file(struct jprof_page_source *all, const struct jp_source *source, size_t put)
{
	if (!all)
		return;
	all->lines += put;
	all->files += put > 0;
	if (source->unread && source->trouble.text && !all->unread++)
		snprintf(all->first_unread, sizeof all->first_unread, "%s", source->trouble.text);
}

/* The excerpts of one file: lines that lie near to each other have one together. */
static int put_source_file(struct jp_jsonout *json, const struct jprof_view *view, const struct hot_line *lines,
                           size_t count, const struct jprof_report_opts *opts)
{
	const char *path = jp_code_file(&view->code, view->code.frames[lines->frame].function);
	struct jp_source source;
	int rc = jp_source_open(&source, path, doubt_of_frame(view, lines->frame), &view->code, opts);
	size_t put = 0;
	for (size_t i = 0, end; !rc && i < count; i = end) {
		for (end = i + 1; end < count && lines[end].line <= lines[end - 1].line + 2 * lines_around + 1;)
			end++;
		size_t first = lines[i].line > lines_around ? lines[i].line - lines_around : 1,
		       last = (size_t)lines[end - 1].line + lines_around;
		last = last < source.count ? last : source.count;
		jp_jsonout_put(json, "{file:%u", lines->file);
		if (first <= last)
			put += put_excerpt(json, &source, first, last);
		else
			jp_jsonout_string(json, "why",
			                  source.trouble.text ? source.trouble.text : "has fewer lines than that");
		jp_jsonout_close(json);
	}
	count_source_file(opts->page_source, &source, put);
	jp_source_release(&source);
	return rc;
}

int jp_put_page_source(struct jp_jsonout *json, const struct jp_page_stacks *stacks, const struct jp_page_names *names,
                       const uint32_t *of, const struct jprof_report_opts *opts)
{
	struct hot_line *lines = opts->with_source ? lines_by_frame(stacks, names, of) : NULL;
	size_t count = lines ? choose_hot_lines(&stacks->frames, lines) : 0;
	int rc = opts->with_source && !lines ? -1 : 0;
	if (opts->page_source)
		*opts->page_source = (struct jprof_page_source){ 0 };
	jp_jsonout_open(json, "source", '[', false);
	for (size_t i = 0, end; !rc && i < count; i = end) {
		for (end = i + 1; end < count && lines[end].file == lines[i].file;)
			end++;
		rc = put_source_file(json, names->view, lines + i, end - i, opts);
	}
	jp_jsonout_close(json);
	free(lines);
	return rc;
}
