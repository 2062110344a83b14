#include "input/splitcopy.h"

#include <errno.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/file.h"

enum { alignment = 16 };

bool jp_split_section(const struct jp_elf_section *s)
{
	static const char start[] = ".debug_", end[] = ".dwo";
	size_t len = strlen(s->name);
	if (s->type == SHT_NOBITS || s->type == SHT_NULL)
		return false;
	return (!strncmp(s->name, start, sizeof start - 1) && len >= sizeof end - 1 &&
	        !strcmp(s->name + len - (sizeof end - 1), end)) ||
	       !strcmp(s->name, ".debug_cu_index") || !strcmp(s->name, ".debug_tu_index");
}

uint64_t jp_split_size(const struct jp_elf_headers *h)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < h->section_count; i++)
		if (jp_split_section(&h->sections[i]))
			sum = sum > UINT64_MAX - h->sections[i].size ? UINT64_MAX : sum + h->sections[i].size;
	return sum;
}

/* ---- what is written ---------------------------------------------------------------------------- */

/* A file that grows: the sections, their names, the table of sections; the header comes first and is written last. */
struct split_copy {
	const struct jp_elf_headers *from;
	int fd;
	uint64_t at;
	struct jp_strbuf names, table;
};

static void release_copy(struct split_copy *c)
{
	jp_strbuf_release(&c->names);
	jp_strbuf_release(&c->table);
	jp_file_close(&c->fd);
}

static void put_field(const struct split_copy *c, struct jp_strbuf *to, uint64_t value, unsigned size)
{
	unsigned char bytes[8];
	for (unsigned i = 0; i < size; i++)
		bytes[c->from->big_endian ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
	jp_strbuf_add(to, bytes, size);
}

static void put_section_row(struct split_copy *c, const char *name, uint32_t type, uint64_t flags, uint64_t size)
{
	unsigned word = c->from->bits / 8;
	put_field(c, &c->table, c->names.len, 4);
	put_field(c, &c->table, type, 4);
	put_field(c, &c->table, flags, word);
	put_field(c, &c->table, 0, word); /* address */
	put_field(c, &c->table, c->at, word);
	put_field(c, &c->table, size, word);
	put_field(c, &c->table, 0, 4); /* link, info */
	put_field(c, &c->table, 0, 4);
	put_field(c, &c->table, alignment, word);
	put_field(c, &c->table, 0, word);
	jp_strbuf_add(&c->names, name, strlen(name) + 1);
}

static bool write_bytes(int fd, const void *bytes, size_t len, uint64_t at)
{
	return pwrite(fd, bytes, len, (off_t)at) == (ssize_t)len;
}

/* From the file itself, by the kernel. */
static bool copy_bytes(struct split_copy *c, int from, const struct jp_elf_section *s)
{
	off_t at = (off_t)s->offset;
	uint64_t rest = s->size;
	if (s->offset > INT64_MAX || lseek(c->fd, (off_t)c->at, SEEK_SET) < 0)
		return false;
	while (rest) {
		ssize_t n = sendfile(c->fd, from, &at, rest < INT32_MAX ? (size_t)rest : (size_t)INT32_MAX / 2);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : EINVAL;
			return false;
		}
		rest -= (uint64_t)n;
	}
	return true;
}

static bool copy_section(struct split_copy *c, int from, const struct jp_elf_section *s)
{
	put_section_row(c, s->name, SHT_PROGBITS, s->flags & SHF_COMPRESSED, s->size);
	if (!copy_bytes(c, from, s))
		return false;
	c->at = (c->at + s->size + alignment - 1) / alignment * alignment;
	return true;
}

/* The table of sections begins at c->at. */
static void put_elf_header(struct split_copy *c, uint64_t rows, struct jp_strbuf *header)
{
	const struct jp_elf_headers *h = c->from;
	unsigned word = h->bits / 8;
	unsigned char ident[EI_NIDENT] = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3 };
	ident[EI_CLASS] = h->bits == 64 ? ELFCLASS64 : ELFCLASS32;
	ident[EI_DATA] = h->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	ident[EI_VERSION] = EV_CURRENT;
	jp_strbuf_add(header, ident, sizeof ident);
	put_field(c, header, h->type, 2);
	put_field(c, header, h->machine, 2);
	put_field(c, header, EV_CURRENT, 4);
	put_field(c, header, 0, word); /* entry, program headers */
	put_field(c, header, 0, word);
	put_field(c, header, c->at, word);
	put_field(c, header, 0, 4); /* flags */
	put_field(c, header, h->bits == 64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
	put_field(c, header, 0, 2); /* program headers: size, number */
	put_field(c, header, 0, 2);
	put_field(c, header, h->bits == 64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
	put_field(c, header, rows, 2);
	put_field(c, header, rows - 1, 2);
}

static bool end_copy(struct split_copy *c, uint64_t rows)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) header = { 0 };
	uint64_t names_at = c->at;
	static const char own_name[] = ".shstrtab";
	put_section_row(c, own_name, SHT_STRTAB, 0, c->names.len + sizeof own_name);
	c->at = (names_at + c->names.len + alignment - 1) / alignment * alignment;
	put_elf_header(c, rows, &header);
	if (header.failed || c->names.failed || c->table.failed) {
		errno = ENOMEM;
		return false;
	}
	return write_bytes(c->fd, c->names.text, c->names.len, names_at) &&
	       write_bytes(c->fd, c->table.text, c->table.len, c->at) &&
	       write_bytes(c->fd, header.text, header.len, 0) && !jp_file_seal(c->fd);
}

int jp_split_copy(int fd, const struct jp_elf_headers *h)
{
	enum { most_sections = 4096 };
	struct split_copy jp_cleanup(release_copy) c = { .from = h, .fd = jp_file_make_memory(), .at = 64 };
	uint64_t rows = 1;
	if (c.fd < 0)
		return -1;
	jp_strbuf_add(&c.table, (char[sizeof(Elf64_Shdr)]){ 0 },
	              h->bits == 64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	jp_strbuf_add(&c.names, "", 1);
	for (size_t i = 0; i < h->section_count; i++) {
		if (!jp_split_section(&h->sections[i]))
			continue;
		if (++rows > most_sections || !copy_section(&c, fd, &h->sections[i]))
			return -1;
	}
	if (!end_copy(&c, rows + 1))
		return -1;
	int copy = c.fd;
	c.fd = -1;
	return copy;
}
