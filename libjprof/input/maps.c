/* The format, from proc(5):
 *
 *   START-LIMIT PERMS OFFSET MAJOR:MINOR INODE      PATH
 *
 * Numbers but the inode are hexadecimal. The path runs to the end of the line, blanks included;
 * the kernel writes a newline in it as \012. */
#include "input/maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/search.h"

enum { most_maps_text = 256 << 20 }; /* a million mappings take 100 MB */

struct jprof_maps {
	struct jp_arena arena;
	struct jprof_map *items;
	size_t count;
	size_t cap;
};

enum jp_map_kind jp_map_kind_of(const char *path)
{
	struct jp_span span = { path, strlen(path) };
	if (!span.len)
		return JP_MAP_ANON;
	if (jp_span_starts(span, "/memfd:"))
		return JP_MAP_MEMFD;
	if (*path != '/')
		return JP_MAP_SPECIAL;
	return jp_span_ends(span, " (deleted)") ? JP_MAP_DELETED : JP_MAP_FILE;
}

static bool hex_then(struct jp_span *line, uint64_t *value, char after)
{
	return jp_span_hex(line, value) == JP_NUMBER_OK && jp_span_char(line, after);
}

static bool parse_perms(struct jp_span *line, struct jprof_map *map)
{
	if (line->len < 5 || line->ptr[4] != ' ')
		return false;
	map->readable = line->ptr[0] == 'r';
	map->writable = line->ptr[1] == 'w';
	map->executable = line->ptr[2] == 'x';
	for (int i = 0; i < 5; i++)
		(void)jp_span_char(line, *line->ptr);
	return true;
}

static char *map_path(struct jp_arena *arena, struct jp_span text)
{
	char *path = jp_arena_dup(arena, text.ptr, text.len);
	if (!path)
		return NULL;
	char *to = path;
	for (const char *from = path; *from;) {
		bool newline = !strncmp(from, "\\012", 4);
		*to++ = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
	return path;
}

static bool parse_map_line(struct jp_span line, struct jprof_map *map, struct jp_span *path)
{
	uint64_t major, minor;
	if (!hex_then(&line, &map->start, '-') || !hex_then(&line, &map->limit, ' ') || !parse_perms(&line, map) ||
	    !hex_then(&line, &map->offset, ' ') || !hex_then(&line, &major, ':') || !hex_then(&line, &minor, ' ') ||
	    jp_span_decimal(&line, &map->inode) != JP_NUMBER_OK || map->start > map->limit)
		return false;
	map->dev_major = (uint32_t)major;
	map->dev_minor = (uint32_t)minor;
	jp_span_blanks(&line);
	*path = line;
	return true;
}

static int add_map(struct jprof_maps *maps, struct jprof_map map, struct jp_span path)
{
	map.path = map_path(&maps->arena, path);
	if (!map.path || jp_array_push(maps->items, maps->count, maps->cap))
		return -1;
	maps->items[maps->count++] = map;
	return 0;
}

int jp_maps_read(struct jp_reader *reader, const char *name, struct jprof_maps **out, struct jprof_error *err)
{
	struct jprof_maps *maps = calloc(1, sizeof *maps);
	if (!maps)
		return jp_error_nomem(err);
	int rc = 0;
	struct jp_span line, path;
	while (!rc && jp_reader_line(reader, &line)) {
		struct jprof_map map = { 0 };
		if (!line.len)
			continue;
		if (!parse_map_line(line, &map, &path) || reader->cut)
			rc = jp_error(err, JPROF_E_FORMAT, name, reader->line,
			              reader->cut ? "the last line of the maps has no end: \"%.*s\""
			                          : "no line of /proc/PID/maps: \"%.*s\"",
			              (int)(line.len < 60 ? line.len : 60), line.ptr);
		else if (add_map(maps, map, path)) {
			jprof_maps_free(maps);
			return jp_error_nomem(err);
		}
	}
	if (maps->count)
		qsort(maps->items, maps->count, sizeof *maps->items, jp_by_first);
	*out = maps;
	return rc;
}

int jprof_maps_parse(const void *data, size_t len, const char *name, struct jprof_maps **out, struct jprof_error *err)
{
	if (jp_null(err, out) || (len && jp_null(err, data)))
		return JPROF_E_ARGUMENT;
	struct jp_reader reader;
	struct jprof_maps *maps = NULL;
	jp_reader_init(&reader, data, len);
	int rc = jp_maps_read(&reader, name, &maps, err);
	if (!rc && !maps->count)
		rc = jp_error(err, JPROF_E_FORMAT, name, 0, "holds no mappings; give the text of a /proc/PID/maps");
	if (rc)
		jprof_maps_free(maps);
	else
		*out = maps;
	return rc;
}

int jprof_maps_open(const char *path, struct jprof_maps **maps, struct jprof_error *err)
{
	if (jp_null(err, path, maps))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	int rc = jp_file_read_most(path, most_maps_text, &text, err);
	return rc ? rc : jprof_maps_parse(text.text, text.len, path, maps, err);
}

size_t jprof_maps_count(const struct jprof_maps *maps)
{
	return maps ? maps->count : 0;
}

const struct jprof_map *jprof_maps_at(const struct jprof_maps *maps, size_t i)
{
	return maps && i < maps->count ? &maps->items[i] : NULL;
}

const struct jprof_map *jp_maps_find(const struct jprof_maps *maps, uint64_t address)
{
	const struct jprof_map *map = jp_last_up_to(maps->items, maps->count, sizeof *maps->items, address);
	return map && address < map->limit ? map : NULL;
}

void jprof_maps_free(struct jprof_maps *maps)
{
	if (!maps)
		return;
	jp_arena_release(&maps->arena);
	free(maps->items);
	free(maps);
}
