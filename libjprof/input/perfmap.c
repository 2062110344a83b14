/* The format, from tools/perf/Documentation/jit-interface.txt of Linux: lines of
 *
 *   START SIZE NAME
 *
 * START and SIZE in hexadecimal, by some compilers with 0x; NAME runs to the end of the line. */
#include "input/perfmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/reader.h"
#include "base/search.h"

enum { most_perfmap_text = 512 << 20 };

struct jit_entry {
	uint64_t start, end;
	const char *name;
};

struct jp_perfmap {
	struct jp_arena arena;   /* names */
	struct jit_entry *items; /* in the order of the file */
	size_t count, cap;
	size_t faults;
	unsigned first_fault;
};

/* ---- reading ------------------------------------------------------------------------------------ */

static bool take_jit_hex(struct jp_span *line, uint64_t *value)
{
	if (!jp_span_text(line, "0x"))
		(void)jp_span_text(line, "0X");
	return jp_span_hex(line, value) == JP_NUMBER_OK && jp_span_char(line, ' ');
}

static bool parse_jit_line(struct jp_span *line, struct jit_entry *entry)
{
	uint64_t size;
	if (!take_jit_hex(line, &entry->start) || !take_jit_hex(line, &size))
		return false;
	jp_span_blanks(line);
	return line->len && !__builtin_add_overflow(entry->start, size, &entry->end) &&
	       !memchr(line->ptr, '\0', line->len);
}

static int add_jit_line(struct jp_perfmap *map, const struct jp_reader *reader, struct jp_span line)
{
	struct jit_entry entry;
	if (!line.len || reader->cut)
		return 0;
	if (!parse_jit_line(&line, &entry)) {
		if (!map->faults++)
			map->first_fault = reader->line;
		return 0;
	}
	if (entry.start == entry.end)
		return 0;
	entry.name = jp_arena_dup(&map->arena, line.ptr, line.len);
	if (!entry.name || jp_array_push(map->items, map->count, map->cap))
		return -1;
	map->items[map->count++] = entry;
	return 0;
}

int jp_perfmap_parse(const void *data, size_t len, const char *name, struct jp_perfmap **out, struct jprof_error *err)
{
	struct jp_perfmap *map = calloc(1, sizeof *map);
	struct jp_reader reader;
	struct jp_span line;
	int rc = map ? 0 : -1;
	jp_reader_init(&reader, data, len);
	while (!rc && jp_reader_line(&reader, &line))
		rc = add_jit_line(map, &reader, line);
	if (rc)
		rc = jp_error_nomem(err);
	else if (!map->count && (map->faults || reader.cut))
		rc = jp_error(err, JPROF_E_FORMAT, name, map->first_fault,
		              "is no perf map: no line reads START SIZE NAME, the numbers in hexadecimal");
	if (rc)
		jp_perfmap_free(map);
	else
		*out = map;
	return rc;
}

int jp_perfmap_open(const char *path, struct jp_perfmap **map, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	int rc = jp_file_read_most(path, most_perfmap_text, &text, err);
	return rc ? rc : jp_perfmap_parse(text.text, text.len, path, map, err);
}

/* Anybody may make files in /tmp. */
static const char *why_not_trusted(const struct stat *st, unsigned uid)
{
	if (st->st_uid != geteuid() && st->st_uid != 0 && st->st_uid != uid)
		return "belongs to another user";
	if (st->st_mode & S_IWOTH)
		return "may be written by anybody";
	return NULL;
}

int jp_perfmap_open_pid(struct jp_root root, uint64_t pid, unsigned uid, struct jp_perfmap **map,
                        struct jprof_error *err)
{
	char path[64], held[32];
	struct stat st;
	snprintf(path, sizeof path, "/tmp/perf-%" PRIu64 ".map", pid);
	int jp_cleanup(jp_file_close) fd = jp_file_open_untrusted(root, path, &st);
	*map = NULL;
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return jp_error(err, JPROF_E_IO, path, 0, "%s",
		                errno == EINVAL ? "is not a regular file" : strerror(errno));
	const char *why = why_not_trusted(&st, uid);
	if (why)
		return jp_error(err, JPROF_E_IO, path, 0, "%s", why);
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	snprintf(held, sizeof held, "/proc/self/fd/%d", fd);
	int rc = jp_file_read_most(held, most_perfmap_text, &text, err);
	return rc ? rc : jp_perfmap_parse(text.text, text.len, path, map, err);
}

size_t jp_perfmap_faults(const struct jp_perfmap *map, unsigned *first_line)
{
	*first_line = map->first_fault;
	return map->faults;
}

void jp_perfmap_free(struct jp_perfmap *map)
{
	if (!map)
		return;
	jp_arena_release(&map->arena);
	free(map->items);
	free(map);
}

/* ---- asking ------------------------------------------------------------------------------------- */

/* The first lookup from `i` on that is still open; next[i] leads on from one that was answered. */
static size_t open_from(size_t *next, size_t i)
{
	size_t end = i;
	while (next[end] != end)
		end = next[end];
	while (next[i] != end) {
		size_t step = next[i];
		next[i] = end;
		i = step;
	}
	return end;
}

static int answer_from_map(struct jp_lookup *lookup, const struct jit_entry *entry, struct jp_arena *arena)
{
	if (lookup->frame_count)
		return 0;
	lookup->frames = jp_arena_alloc(arena, sizeof *lookup->frames);
	if (!lookup->frames)
		return -1;
	lookup->frames[0] = (struct jp_symframe){ .name = entry->name };
	lookup->frame_count = 1;
	lookup->source = JPROF_SOURCE_JIT;
	return 0;
}

/* Backwards, so that each lookup is answered once, whatever overlaps. */
int jp_perfmap_lookup(const struct jp_perfmap *map, struct jp_arena *arena, struct jp_lookup *lookups, size_t count)
{
	size_t *next = malloc((count + 1) * sizeof *next);
	int rc = next ? 0 : -1;
	for (size_t i = 0; !rc && i <= count; i++)
		next[i] = i;
	for (size_t e = map->count; !rc && e-- > 0;) {
		const struct jit_entry *entry = &map->items[e];
		size_t i = open_from(next, jp_count_below(lookups, count, sizeof *lookups, entry->start));
		for (; !rc && i < count && lookups[i].vaddr < entry->end; i = open_from(next, i)) {
			rc = answer_from_map(&lookups[i], entry, arena);
			next[i] = i + 1;
		}
	}
	free(next);
	return rc;
}
