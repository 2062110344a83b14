#include "input/dwarfsource.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct jp_dwarf_source jp_dwarf_source_of(struct jp_arena *arena, const Dwarf_Die *unit, const Dwarf_Die *skeleton)
{
	return (struct jp_dwarf_source){ .arena = arena, .unit = *unit, .skeleton = *skeleton };
}

unsigned jp_dwarf_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;
	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) || value > UINT32_MAX)
		return 0;
	return (unsigned)value;
}

/* Takes "." and "DIR/.." out of a path, in place. */
static void normalize_path(char *path)
{
	char *to = path, *begin = path + (*path == '/');
	const char *s = begin;
	for (to = begin; *s; s += *s == '/') {
		size_t len = strcspn(s, "/");
		char *last = to > begin ? memrchr(begin, '/', (size_t)(to - 1 - begin)) : NULL;
		last = last ? last + 1 : begin;
		bool up = len == 2 && s[0] == '.' && s[1] == '.';
		if (up && to > begin && strncmp(last, "../", 3) != 0) {
			to = last;
		} else if (up && *path == '/') {
			/* above the root is the root */
		} else if (len && !(len == 1 && *s == '.')) {
			memmove(to, s, len);
			to += len;
			*to++ = '/';
		}
		s += len;
	}
	to[to > begin ? -1 : 0] = '\0';
}

/* The path of a source file in full: what is relative is so to the directory in which the unit was compiled. */
static const char *full_source(struct jp_dwarf_source *s, const char *path)
{
	Dwarf_Attribute attr;
	const char *dir = "";
	if (!path || !*path || (*path == '/' && !strstr(path, "/.")))
		return path;
	if (path == s->path)
		return s->full;
	if (*path != '/' && dwarf_attr(&s->skeleton, DW_AT_comp_dir, &attr))
		dir = dwarf_formstring(&attr);
	size_t n = dir ? strlen(dir) : 0;
	char *full = jp_arena_alloc(s->arena, n + strlen(path) + 2);
	if (!full) {
		s->failed = true;
		return NULL;
	}
	sprintf(full, "%s%s%s", dir ? dir : "", n ? "/" : "", path);
	normalize_path(full);
	s->path = path;
	s->full = full;
	return full;
}

const char *jp_dwarf_source_file(struct jp_dwarf_source *s, Dwarf_Die *die, unsigned name)
{
	size_t count;
	Dwarf_Attribute attr;
	if (!s->files && dwarf_getsrcfiles(&s->unit, &s->files, &count) &&
	    dwarf_getsrcfiles(&s->skeleton, &s->files, &count))
		return NULL;
	return dwarf_attr(die, name, &attr)
	           ? full_source(s, dwarf_filesrc(s->files, jp_dwarf_number(die, name), NULL, NULL))
	           : NULL;
}

void jp_dwarf_source_line(struct jp_dwarf_source *s, uint64_t vaddr, const char **file, unsigned *number)
{
	Dwarf_Line *line = dwarf_getsrc_die(&s->skeleton, vaddr);
	int n;
	*file = NULL;
	*number = 0;
	if (!line || dwarf_lineno(line, &n) || n <= 0)
		return;
	*file = full_source(s, dwarf_linesrc(line, NULL, NULL));
	*number = (unsigned)n;
}
