#include "outside/rubysymbols.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "collect/below.h"
#include "collect/target.h"
#include "input/elfheaders.h"
#include "outside/mappedids.h"

enum { most_of_table = 8 << 20 };

/* What is added to a file's addresses, by its lowest mapping. */
static uint64_t bias_of(const struct jp_elf_headers *h, const struct jprof_map *map)
{
	for (size_t i = 0; i < h->segment_count; i++)
		if (h->segments[i].type == PT_LOAD)
			return map->start - map->offset - (h->segments[i].vaddr - h->segments[i].offset);
	return 0;
}

static void take_symbol(uint64_t variables[jp_ruby_known], const char *name, uint64_t address)
{
	for (int i = 0; i < jp_ruby_known; i++)
		if (!strcmp(name, jp_ruby_symbols[i]))
			variables[i] = address;
}

/* 0, also where there are none, or -1 when memory is short. */
static int take_class_symbols(int fd, const struct jp_elf_headers *h, uint64_t bias, uint64_t variables[jp_ruby_known])
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) symbols = { 0 }, jp_cleanup(jp_strbuf_release) names = { 0 };
	struct jp_bytes bytes;
	const struct jp_elf_section *section = jp_elf_section_find(h, NULL, SHT_DYNSYM), *strings = NULL;
	if (section)
		strings = jp_elf_section_linked(h, section);
	if (!strings || h->bits != 64 || h->big_endian ||
	    !jp_elf_section_read(fd, h, section, most_of_table, &symbols, &bytes) ||
	    !jp_elf_section_read(fd, h, strings, most_of_table, &names, &bytes))
		return 0;
	if (symbols.failed || names.failed)
		return -1;
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.len; at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;
		memcpy(&symbol, symbols.text + at, sizeof symbol);
		if (symbol.st_value && symbol.st_name < names.len &&
		    memchr(names.text + symbol.st_name, 0, names.len - symbol.st_name))
			take_symbol(variables, names.text + symbol.st_name, bias + symbol.st_value);
	}
	return 0;
}

bool jp_opens_with_its_rights(const struct jprof_target *t)
{
	return t->opener.open || (geteuid() && geteuid() == t->uid);
}

/* The path as the process has it: that of one in a chroot has the way to its root before it. */
static const char *path_below_root(const struct jprof_target *t, const char *path)
{
	char root[4096];
	ssize_t len = readlink(jp_target_path(t, "root"), root, sizeof root);
	bool below = len > 1 && (size_t)len < sizeof root && !strncmp(path, root, (size_t)len) && path[len] == '/';
	return below ? path + len : path;
}

static int open_of_target(const void *context, struct jp_memsource *source, const struct jprof_map *map)
{
	const struct jprof_target *t = context;
	struct stat st;
	(void)source;
	int fd =
	    jp_opens_with_its_rights(t) ? jp_below_open(t, JPROF_OPEN_FILE, path_below_root(t, map->path), &st) : -1;
	if (fd >= 0 && st.st_ino != map->inode)
		jp_file_close(&fd);
	return fd;
}

struct jp_mapped_files jp_files_of_target(const struct jprof_target *target)
{
	return (struct jp_mapped_files){ open_of_target, target };
}

static int open_beside_core(const void *context, struct jp_memsource *source, const struct jprof_map *map)
{
	struct jp_arena jp_cleanup(jp_arena_release) arena = { 0 };
	struct jp_elf_headers headers;
	char in_memory[jp_memory_id], in_file[jp_memory_id];
	struct stat st;
	(void)context;
	int fd = jp_build_id_in_memory(source, map, in_memory)
	             ? jp_file_open_untrusted((struct jp_root){ 0 }, map->path, &st)
	             : -1;
	if (fd >= 0 && (jp_elf_headers_read(fd, map->path, &arena, &headers, NULL) ||
	                jp_elf_build_id(fd, &headers, in_file) || strcmp(in_memory, in_file) != 0))
		jp_file_close(&fd);
	return fd;
}

struct jp_mapped_files jp_files_of_core(void)
{
	return (struct jp_mapped_files){ open_beside_core, NULL };
}

static int read_ruby_file(int fd, const struct jprof_map *map, uint64_t variables[jp_ruby_known])
{
	struct jp_arena jp_cleanup(jp_arena_release) arena = { 0 };
	struct jp_elf_headers headers;
	int rc = jp_elf_headers_read(fd, map->path, &arena, &headers, NULL);
	if (rc)
		return rc == JPROF_E_NOMEM ? -1 : 0;
	return take_class_symbols(fd, &headers, bias_of(&headers, map), variables);
}

int jp_ruby_variables(const struct jp_mapped_files *files, struct jp_memsource *source,
                      uint64_t variables[jp_ruby_known])
{
	memset(variables, 0, jp_ruby_known * sizeof *variables);
	for (size_t i = 0; i < jprof_maps_count(source->maps) && !variables[0]; i++) {
		const struct jprof_map *map = jprof_maps_at(source->maps, i);
		const char *base = strrchr(map->path, '/');
		bool first = !i || strcmp(map->path, jprof_maps_at(source->maps, i - 1)->path) != 0;
		if (!base || !first || !strstr(base, "ruby"))
			continue;
		errno = 0;
		int jp_cleanup(jp_file_close) fd = files->open(files->context, source, map);
		if (fd < 0 ? errno == ENOMEM : read_ruby_file(fd, map, variables))
			return -1;
	}
	return 0;
}
