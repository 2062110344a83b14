/* usage: print_headers FILE...: what jp_elf_headers_read and jp_elf_build_id say of each, for elf_headers.py. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "input/elfheaders.h"

static void print_headers(const char *path)
{
	struct jp_arena arena = { 0 };
	struct jp_elf_headers h;
	struct jprof_error err = { 0 };
	char id[2 * 64 + 1];
	int fd = open(path, O_RDONLY);
	printf("file %s\n", path);
	if (jp_elf_headers_read(fd, path, &arena, &h, &err) || jp_elf_build_id(fd, &h, id)) {
		printf("refused %s\n", err.text);
	} else {
		printf("header %u %u %u %d\n", h.type, h.machine, h.bits, h.big_endian);
		for (size_t i = 0; i < h.segment_count; i++) {
			const struct jp_elf_segment *s = &h.segments[i];
			printf("segment %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n", s->offset,
			       s->vaddr, s->file_size, s->mem_size, s->align, s->code ? "code" : "other");
		}
		for (size_t i = 0; i < h.section_count; i++) {
			const struct jp_elf_section *s = &h.sections[i];
			printf("section %s %" PRIx64 " %" PRIx64 " %" PRIx64 " %u %" PRIu64 " %s\n",
			       *s->name ? s->name : "-", s->address, s->offset, s->size, s->link, s->align,
			       s->flags & SHF_EXECINSTR ? "code" : "other");
		}
		printf("build-id %s\n", id);
	}
	close(fd);
	jp_arena_release(&arena);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		print_headers(argv[i]);
}
