/* The Strings of a Ruby by the line that allocated them: how many of them are equal, and what they say. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/idsort.h"
#include "base/pattern.h"
#include "base/search.h"
#include "rubyheap/rubyheap.h"

struct jprof_rubystrings {
	struct jp_heap heap;
	struct jprof_rubystrings_info info;
	struct jprof_string_line *rows;
	size_t count, cap;
};

/* By line, and by what they say. */
static int by_line_and_text(uint32_t a, uint32_t b, const void *context)
{
	const struct jp_heap *heap = context;
	uint32_t x = heap->objects[a].site, y = heap->objects[b].site;
	if (x == y)
		x = heap->says[a], y = heap->says[b];
	if (x == y)
		x = a, y = b;
	return jp_order(x, y);
}

/* Which of two texts is told first: that of more Strings, of more bytes, and so that no order of a file matters. */
static bool is_told_before(const struct jprof_equal_strings *a, const struct jprof_equal_strings *b)
{
	if (a->count != b->count)
		return a->count > b->count;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes;
	return strcmp(a->text, b->text) < 0;
}

/* Takes it among the line's most common ones if it is one of them. */
static void rank_text(struct jprof_string_line *line, struct jprof_equal_strings text)
{
	for (size_t i = 0; i < JPROF_COMMON_STRINGS; i++)
		if (!line->common[i].text || is_told_before(&text, &line->common[i])) {
			struct jprof_equal_strings next = line->common[i];
			line->common[i] = text;
			text = next;
			if (!text.text)
				break;
		}
}

/* Equal Strings of a line. One of them would do: the largest. */
static void add_equal(struct jprof_string_line *line, const struct jp_heap *heap, const uint32_t *nodes, size_t count)
{
	uint32_t says = heap->says[*nodes];
	struct jprof_equal_strings text = { .text = jp_intern_get(&heap->texts, says),
		                            .length = jp_intern_len(&heap->texts, says),
		                            .count = count };
	uint64_t largest = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = heap->objects[nodes[i]].bytes;
		text.bytes += bytes;
		largest = bytes > largest ? bytes : largest;
	}
	line->bytes += text.bytes;
	line->spare += text.bytes - largest;
	line->strings += count;
	line->different++;
	rank_text(line, text);
}

static int add_string_line(struct jprof_rubystrings *s, const uint32_t *nodes, size_t count)
{
	if (jp_array_push(s->rows, s->count, s->cap))
		return -1;
	struct jprof_string_line *line = &s->rows[s->count++];
	*line = (struct jprof_string_line){ .site = jp_heap_word(&s->heap, s->heap.objects[*nodes].site) };
	for (size_t at = 0, end; at < count; at = end) {
		for (end = at + 1; end < count && s->heap.says[nodes[end]] == s->heap.says[nodes[at]];)
			end++;
		add_equal(line, &s->heap, nodes + at, end - at);
	}
	s->info.bytes += line->bytes;
	s->info.spare += line->spare;
	s->info.strings += line->strings;
	return 0;
}

static int add_string_lines(struct jprof_rubystrings *s, uint32_t *nodes, size_t count)
{
	const struct jp_heap_object *objects = s->heap.objects;
	jp_sort_ids(nodes, count, by_line_and_text, &s->heap);
	for (size_t at = 0, end; at < count; at = end) {
		for (end = at + 1; end < count && objects[nodes[end]].site == objects[nodes[at]].site;)
			end++;
		if (add_string_line(s, nodes + at, end - at))
			return -1;
	}
	return 0;
}

/* Those of lines that fit and that say what they say. The file has no text of one that is no valid text. */
static size_t choose_strings(struct jprof_rubystrings *s, struct jp_pattern *line, uint32_t *nodes)
{
	size_t count = 0;
	for (uint32_t i = 0; i < s->heap.count && !jp_pattern_given_up(line); i++) {
		const struct jp_heap_object *object = &s->heap.objects[i];
		if (object->type != JP_HEAP_STRING)
			continue;
		const char *site = jp_heap_word(&s->heap, object->site);
		s->info.has_lines |= *site != 0;
		if (line && (!*site || !jp_pattern_found(line, site, strlen(site))))
			continue;
		if (s->heap.says[i] != JP_NONE) {
			nodes[count++] = i;
		} else {
			s->info.silent++;
			s->info.silent_bytes += object->bytes;
		}
	}
	return count;
}

static int most_text_first(const void *a, const void *b)
{
	const struct jprof_string_line *x = a, *y = b;
	return jp_order_by(y->bytes, x->bytes, strcmp(x->site, y->site));
}

static int fill_strings(struct jprof_rubystrings *s, const char *line, struct jprof_error *err)
{
	struct jp_pattern *pattern = NULL;
	int rc = line ? jp_pattern_new(line, "line", &pattern, err) : 0;
	if (rc)
		return rc;
	uint32_t *nodes = malloc((s->heap.count + (size_t)1) * sizeof *nodes);
	if (!nodes || add_string_lines(s, nodes, choose_strings(s, pattern, nodes)))
		rc = jp_error_nomem(err);
	rc = rc ? rc : jp_pattern_check(pattern, "line", err);
	if (s->count)
		qsort(s->rows, s->count, sizeof *s->rows, most_text_first);
	s->info.cut = s->heap.cut;
	free(nodes);
	jp_pattern_free(pattern);
	return rc;
}

int jprof_rubystrings_open(const char *path, const char *line, struct jprof_rubystrings **strings,
                           struct jprof_error *err)
{
	if (jp_null(err, path, strings))
		return JPROF_E_ARGUMENT;
	struct jprof_rubystrings *s = calloc(1, sizeof *s);
	if (!s)
		return jp_error_nomem(err);
	int rc = jp_heap_read(&s->heap, path, true, err);
	rc = rc ? rc : fill_strings(s, line, err);
	if (rc) {
		jprof_rubystrings_free(s);
		return rc;
	}
	*strings = s;
	return 0;
}

const struct jprof_rubystrings_info *jprof_rubystrings_info(const struct jprof_rubystrings *strings)
{
	return strings ? &strings->info : NULL;
}

size_t jprof_rubystrings_count(const struct jprof_rubystrings *strings)
{
	return strings ? strings->count : 0;
}

const struct jprof_string_line *jprof_rubystrings_at(const struct jprof_rubystrings *strings, size_t i)
{
	return strings && i < strings->count ? &strings->rows[i] : NULL;
}

void jprof_rubystrings_free(struct jprof_rubystrings *strings)
{
	if (!strings)
		return;
	jp_heap_release(&strings->heap);
	free(strings->rows);
	free(strings);
}
