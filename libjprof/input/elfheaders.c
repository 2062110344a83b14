#include "input/elfheaders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

enum { most_table = 8 << 20, most_names = 1 << 20, most_notes = 1 << 16, most_id_bytes = 64, most_notes_read = 64 };

/* A file that is being read. */
struct elf_file {
	int fd;
	uint64_t size;
	struct jp_arena *arena;
	struct jp_elf_headers *headers;
	unsigned word; /* bytes of an address */
	uint64_t segments_at, sections_at;
	uint64_t segment_count, section_count;
	uint64_t segment_size, section_size; /* of one header */
	uint64_t names;                      /* the section with the names of sections */
	int error;                           /* errno of what could not be read, though the file has it */
};

bool jp_elf_read_at(int fd, uint64_t offset, void *bytes, size_t len)
{
	for (size_t have = 0; have < len;) {
		if (offset > INT64_MAX - len)
			return false;
		ssize_t n = pread(fd, (char *)bytes + have, len - have, (off_t)(offset + have));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

/* Of a read that did not come to its end, or came to that of the file. */
static void note_error(struct elf_file *f)
{
	if (errno && errno != EINTR)
		f->error = errno;
}

static bool read_part(struct elf_file *f, uint64_t offset, void *bytes, size_t len)
{
	errno = 0;
	bool whole = jp_elf_read_at(f->fd, offset, bytes, len);
	if (!whole)
		note_error(f);
	return whole;
}

/* ---- the first header --------------------------------------------------------------------------- */

static bool read_elf_header(struct elf_file *f)
{
	unsigned char raw[sizeof(Elf64_Ehdr)];
	struct jp_elf_headers *h = f->headers;
	struct jp_bytes in = { .data = raw, .len = sizeof(Elf32_Ehdr), .pos = EI_NIDENT };
	if (!read_part(f, 0, raw, sizeof(Elf32_Ehdr)) || memcmp(raw, ELFMAG, SELFMAG) ||
	    (raw[EI_CLASS] != ELFCLASS32 && raw[EI_CLASS] != ELFCLASS64) ||
	    (raw[EI_DATA] != ELFDATA2LSB && raw[EI_DATA] != ELFDATA2MSB) || raw[EI_VERSION] != EV_CURRENT)
		return false;
	h->bits = raw[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	f->word = h->bits / 8;
	in.big_endian = h->big_endian = raw[EI_DATA] == ELFDATA2MSB;
	if (h->bits == 64) {
		in.len = sizeof raw;
		if (!read_part(f, 0, raw, sizeof raw))
			return false;
	}
	h->type = (unsigned)jp_bytes_uint(&in, 2);
	h->machine = (unsigned)jp_bytes_uint(&in, 2);
	in.pos += 4 + f->word; /* version, entry */
	f->segments_at = jp_bytes_uint(&in, f->word);
	f->sections_at = jp_bytes_uint(&in, f->word);
	in.pos += 4 + 2; /* flags, size of this header */
	f->segment_size = jp_bytes_uint(&in, 2);
	f->segment_count = jp_bytes_uint(&in, 2);
	f->section_size = jp_bytes_uint(&in, 2);
	f->section_count = jp_bytes_uint(&in, 2);
	f->names = jp_bytes_uint(&in, 2);
	return !in.bad;
}

/* ---- tables ------------------------------------------------------------------------------------- */

/* A table of `count` headers of `size` bytes, to be freed; NULL where the file has not got it, or when memory is short,
 * which sets *failed. */
static unsigned char *read_elf_table(struct elf_file *f, uint64_t at, uint64_t count, uint64_t size, bool *failed)
{
	uint64_t len;
	if (__builtin_mul_overflow(count, size, &len) || len > most_table || at > f->size || len > f->size - at)
		return NULL;
	unsigned char *table = malloc((size_t)len + 1);
	*failed = !table;
	if (table && read_part(f, at, table, (size_t)len))
		return table;
	free(table);
	return NULL;
}

static struct jp_bytes over_table(const struct elf_file *f, const unsigned char *table, uint64_t len)
{
	return (struct jp_bytes){ .data = table, .len = (size_t)len, .big_endian = f->headers->big_endian };
}

static int read_segments(struct elf_file *f)
{
	struct jp_elf_headers *h = f->headers;
	bool failed = false;
	if (!f->segment_count)
		return 0;
	if (f->segment_size != (h->bits == 64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return JPROF_E_FORMAT;
	unsigned char *table = read_elf_table(f, f->segments_at, f->segment_count, f->segment_size, &failed);
	h->segments = table ? jp_arena_alloc(f->arena, f->segment_count * sizeof *h->segments) : NULL;
	failed = failed || (table && !h->segments);
	struct jp_bytes in = over_table(f, table, f->segment_count * f->segment_size);
	for (; h->segments && h->segment_count < f->segment_count; h->segment_count++) {
		struct jp_elf_segment *s = &h->segments[h->segment_count];
		s->type = (uint32_t)jp_bytes_uint(&in, 4);
		uint64_t flags = h->bits == 64 ? jp_bytes_uint(&in, 4) : 0;
		s->offset = jp_bytes_uint(&in, f->word);
		s->vaddr = jp_bytes_uint(&in, f->word);
		jp_bytes_uint(&in, f->word);
		s->file_size = jp_bytes_uint(&in, f->word);
		s->mem_size = jp_bytes_uint(&in, f->word);
		flags |= h->bits == 32 ? jp_bytes_uint(&in, 4) : 0;
		s->align = jp_bytes_uint(&in, f->word);
		s->flags = (uint32_t)flags;
		s->code = s->type == PT_LOAD && flags & PF_X;
	}
	free(table);
	return failed ? JPROF_E_NOMEM : h->segments ? 0 : JPROF_E_FORMAT;
}

/* The header that follows in the table; its name is an offset yet, to be found later. */
static struct jp_elf_section next_section(struct jp_bytes *in, unsigned word, uint32_t *name, uint32_t *info)
{
	struct jp_elf_section s = { .name = "" };
	*name = (uint32_t)jp_bytes_uint(in, 4);
	s.type = (uint32_t)jp_bytes_uint(in, 4);
	s.flags = jp_bytes_uint(in, word);
	s.address = jp_bytes_uint(in, word);
	s.offset = jp_bytes_uint(in, word);
	s.size = jp_bytes_uint(in, word);
	s.link = (uint32_t)jp_bytes_uint(in, 4);
	*info = (uint32_t)jp_bytes_uint(in, 4);
	s.align = jp_bytes_uint(in, word);
	jp_bytes_uint(in, word);
	return s;
}

/* Numbers that do not fit the first header stand in the header of section 0, which is otherwise empty. */
static void read_large_numbers(struct elf_file *f)
{
	unsigned char raw[sizeof(Elf64_Shdr)];
	uint32_t name, info = 0;
	struct jp_elf_section first = { 0 };
	if (f->section_size <= sizeof raw && read_part(f, f->sections_at, raw, f->section_size)) {
		struct jp_bytes in = over_table(f, raw, f->section_size);
		first = next_section(&in, f->word, &name, &info);
	}
	if (f->segment_count == PN_XNUM)
		f->segment_count = info;
	if (f->names == SHN_XINDEX)
		f->names = first.link;
	if (!f->section_count)
		f->section_count = first.size;
}

/* Names that do not end in the file are none. */
static int name_sections(struct elf_file *f, const struct jp_bytes *table)
{
	struct jp_elf_headers *h = f->headers;
	const struct jp_elf_section *names = f->names < h->section_count ? &h->sections[f->names] : NULL;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jp_bytes in;
	errno = 0;
	if (!names || !jp_elf_section_read(f->fd, h, names, most_names, &text, &in)) {
		note_error(f);
		return 0;
	}
	const char *all = text.failed ? NULL : jp_arena_dup(f->arena, text.text, text.len);
	for (size_t i = 0; all && i < h->section_count; i++) {
		struct jp_bytes at = *table;
		jp_bytes_seek(&at, i * f->section_size);
		uint64_t name = jp_bytes_uint(&at, 4);
		if (name < text.len)
			h->sections[i].name = all + name;
	}
	return all ? 0 : JPROF_E_NOMEM;
}

static int read_sections(struct elf_file *f)
{
	struct jp_elf_headers *h = f->headers;
	bool failed = false;
	uint32_t name, info;
	if (f->section_size != (h->bits == 64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr)) || !f->section_count)
		return 0;
	unsigned char *table = read_elf_table(f, f->sections_at, f->section_count, f->section_size, &failed);
	h->sections = table ? jp_arena_alloc(f->arena, f->section_count * sizeof *h->sections) : NULL;
	failed = failed || (table && !h->sections);
	struct jp_bytes all = over_table(f, table, f->section_count * f->section_size), in = all;
	for (; h->sections && h->section_count < f->section_count; h->section_count++)
		h->sections[h->section_count] = next_section(&in, f->word, &name, &info);
	failed = failed || (h->sections && name_sections(f, &all));
	free(table);
	return failed ? JPROF_E_NOMEM : 0;
}

int jp_elf_headers_read(int fd, const char *path, struct jp_arena *arena, struct jp_elf_headers *headers,
                        struct jprof_error *err)
{
	struct stat st;
	struct elf_file f = { .fd = fd, .arena = arena, .headers = headers };
	*headers = (struct jp_elf_headers){ 0 };
	if (fstat(fd, &st))
		return jp_error(err, JPROF_E_IO, path, 0, "%s", strerror(errno));
	if (!read_elf_header(&f))
		return f.error ? jp_error(err, JPROF_E_IO, path, 0, "%s", strerror(f.error))
		               : jp_error(err, JPROF_E_FORMAT, path, 0, "is no ELF file");
	f.size = (uint64_t)st.st_size;
	if (f.sections_at && (!f.section_count || f.segment_count == PN_XNUM || f.names == SHN_XINDEX))
		read_large_numbers(&f);
	int rc = read_segments(&f);
	if (!rc)
		rc = read_sections(&f);
	if (rc == JPROF_E_NOMEM)
		return jp_error_nomem(err);
	if (f.error)
		return jp_error(err, JPROF_E_IO, path, 0, "%s", strerror(f.error));
	return rc ? jp_error(err, JPROF_E_FORMAT, path, 0, "has a damaged ELF header") : 0;
}

const struct jp_elf_section *jp_elf_section_find(const struct jp_elf_headers *h, const char *name, uint32_t type)
{
	for (size_t i = 0; i < h->section_count; i++) {
		const struct jp_elf_section *s = &h->sections[i];
		if ((!name || !strcmp(s->name, name)) && (type ? s->type == type : s->type != SHT_NOBITS))
			return s;
	}
	return NULL;
}

const struct jp_elf_section *jp_elf_section_linked(const struct jp_elf_headers *h, const struct jp_elf_section *section)
{
	return section && section->link < h->section_count ? &h->sections[section->link] : NULL;
}

/* ---- contents ----------------------------------------------------------------------------------- */

/* The first `most` bytes of a piece of the file into `out`, those that the file has. *error is 0, or the errno of
 * what could not be read. */
static struct jp_bytes read_piece(int fd, const struct jp_elf_headers *h, uint64_t at, uint64_t size, size_t most,
                                  struct jp_strbuf *out, int *error)
{
	char chunk[1 << 14];
	size_t len = size < most ? (size_t)size : most;
	jp_strbuf_cut(out, 0);
	*error = 0;
	while (out->len < len && !out->failed && at <= INT64_MAX - len) {
		size_t want = len - out->len < sizeof chunk ? len - out->len : sizeof chunk;
		ssize_t n = pread(fd, chunk, want, (off_t)(at + out->len));
		*error = n < 0 && errno != EINTR ? errno : 0;
		if (!n || *error)
			break;
		if (n > 0)
			jp_strbuf_add(out, chunk, (size_t)n);
	}
	return (struct jp_bytes){ .data = (const unsigned char *)out->text,
		                  .len = out->failed ? 0 : out->len,
		                  .big_endian = h->big_endian };
}

bool jp_elf_section_read(int fd, const struct jp_elf_headers *h, const struct jp_elf_section *section, size_t most,
                         struct jp_strbuf *out, struct jp_bytes *bytes)
{
	int error;
	if (section->type == SHT_NOBITS)
		return false;
	*bytes = read_piece(fd, h, section->offset, section->size, most, out, &error);
	return out->failed || bytes->len == (section->size < most ? section->size : most);
}

/* ---- the build-id ------------------------------------------------------------------------------- */

static uint64_t aligned(uint64_t pos, uint64_t to)
{
	return (pos + to - 1) / to * to;
}

/* Three numbers, a name, a description, each beginning at a multiple of `align`: 8 in some files of 64 bits, else 4. */
bool jp_elf_id_among_notes(struct jp_bytes notes, uint64_t align, char id[static 2 * 64 + 1])
{
	align = align == 8 ? 8 : 4;
	while (!notes.bad && notes.pos < notes.len) {
		uint64_t name_size = jp_bytes_uint(&notes, 4), size = jp_bytes_uint(&notes, 4);
		uint64_t type = jp_bytes_uint(&notes, 4), name = notes.pos, text = aligned(name + name_size, align);
		jp_bytes_seek(&notes, text);
		jp_bytes_seek(&notes, text + size);
		if (notes.bad)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == sizeof ELF_NOTE_GNU && size && size <= most_id_bytes &&
		    !memcmp(notes.data + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU)) {
			for (size_t i = 0; i < size; i++)
				snprintf(id + 2 * i, 3, "%02x", notes.data[text + i]);
			return true;
		}
		jp_bytes_seek(&notes, aligned(text + size, align));
	}
	return false;
}

int jp_elf_build_id(int fd, const struct jp_elf_headers *h, char id[static 2 * 64 + 1])
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	size_t count = h->section_count ? h->section_count : h->segment_count, notes = 0;
	bool found = false;
	int error;
	*id = '\0';
	for (size_t i = 0; i < count && !found && notes < most_notes_read; i++) {
		const struct jp_elf_section *c = h->section_count ? &h->sections[i] : NULL;
		const struct jp_elf_segment *g = c ? NULL : &h->segments[i];
		if (c ? c->type != SHT_NOTE : g->type != PT_NOTE)
			continue;
		notes++;
		const struct jp_bytes all =
		    read_piece(fd, h, c ? c->offset : g->offset, c ? c->size : g->file_size, most_notes, &text, &error);
		if (text.failed)
			return JPROF_E_NOMEM;
		if (error) {
			errno = error;
			return JPROF_E_IO;
		}
		found = jp_elf_id_among_notes(all, c ? c->align : g->align, id);
	}
	return 0;
}
