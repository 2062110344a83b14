/* Target: the text of /proc/PID/maps. Asserts that mappings are sorted, that one that holds an address is
 * found for it, and that what is written of them reads the same. */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "fuzz.h"
#include "input/maps.h"

static void write_path(struct jp_strbuf *out, const char *path)
{
	for (; *path; path++)
		jp_strbuf_printf(out, *path == '\n' ? "\\012" : "%c", *path);
}

static void write_map(struct jp_strbuf *out, const struct jprof_map *m)
{
	jp_strbuf_printf(out, "%llx-%llx %c%c%cp %llx %x:%x %llu ", (unsigned long long)m->start,
	                 (unsigned long long)m->limit, m->readable ? 'r' : '-', m->writable ? 'w' : '-',
	                 m->executable ? 'x' : '-', (unsigned long long)m->offset, m->dev_major, m->dev_minor,
	                 (unsigned long long)m->inode);
	write_path(out, m->path);
	jp_strbuf_str(out, "\n");
}

static void same_map(const struct jprof_map *a, const struct jprof_map *b)
{
	must(a->start == b->start && a->limit == b->limit && a->offset == b->offset && a->inode == b->inode);
	must(a->dev_major == b->dev_major && a->dev_minor == b->dev_minor);
	must(a->readable == b->readable && a->writable == b->writable && a->executable == b->executable);
	must(!strcmp(a->path, b->path));
}

static void check(const struct jprof_maps *maps, struct jp_strbuf *text)
{
	for (size_t i = 0; i < jprof_maps_count(maps); i++) {
		const struct jprof_map *m = jprof_maps_at(maps, i);
		must(m->start <= m->limit && (!i || jprof_maps_at(maps, i - 1)->start <= m->start));
		const struct jprof_map *found = jp_maps_find(maps, m->start);
		must(!found || (found->start <= m->start && m->start < found->limit));
		write_map(text, m);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jprof_error err = { 0 };
	struct jprof_maps *maps, *copy;
	int rc = jprof_maps_parse(data, size, "fuzz", &maps, &err);
	must(!rc == !*err.text);
	if (rc)
		return 0;
	check(maps, &text);
	must(!jprof_maps_parse(text.text, text.len, NULL, &copy, NULL));
	must(jprof_maps_count(copy) == jprof_maps_count(maps));
	/* A carriage return at the end of a line belongs to the line, and a path ends at a NUL. */
	bool odd = memchr(data, '\r', size) || memchr(data, '\0', size);
	/* Equal starts may have changed places, and nothing else. */
	for (size_t i = 0; i < jprof_maps_count(maps); i++)
		if (jprof_maps_at(maps, i)->limit == jprof_maps_at(copy, i)->limit)
			must(jprof_maps_at(maps, i)->start == jprof_maps_at(copy, i)->start);
	if (jprof_maps_count(maps) == 1 && !odd)
		same_map(jprof_maps_at(maps, 0), jprof_maps_at(copy, 0));
	jprof_maps_free(maps);
	jprof_maps_free(copy);
	return 0;
}
