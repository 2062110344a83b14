#include "outside/coresource.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "input/elfheaders.h"
#include "input/maps.h"

enum { most_of_notes = 64 << 20, most_mapped_files = 1 << 20, most_threads = 1 << 16, most_core_path = 4096 };

static const uint64_t most_of_core = 64ULL << 30, most_core_reading = 68ULL << 30;

/* A mapping, and where the file has it. */
struct core_segment {
	uint64_t start, limit, offset, held; /* held: bytes from the start on that are in the file */
	uint64_t first_page;                 /* the bit of its first page */
	unsigned flags;
};

struct coresource {
	struct jp_memsource base;
	struct jp_core_facts *facts;
	int fd;
	struct core_segment *segments; /* ascending; none reaches into the next */
	size_t count, cap;
	uint64_t *pages; /* a bit for each page of a segment that is held: it was touched, as far as one can tell */
	char *piece;
	struct jp_strbuf names; /* the note with the names of files: */
	struct jp_bytes files;
	uint64_t file_count, page_size, vdso;
	bool packed; /* it was compressed: holes are none of the kernel's */
	bool sparse; /* the file has holes */
};

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* The last segment that begins at or before an address; NULL: none does. */
static const struct core_segment *segment_before(const struct coresource *c, uint64_t address)
{
	size_t low = 0, high = c->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (c->segments[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &c->segments[low - 1] : NULL;
}

static size_t core_read(struct jp_memsource *source, uint64_t address, void *to, size_t size)
{
	const struct coresource *c = (const struct coresource *)source;
	size_t done = 0;
	while (done < size) {
		const struct core_segment *s = segment_before(c, address + done);
		uint64_t at = s ? address + done - s->start : 0;
		if (!s || at >= s->held)
			break;
		size_t n = s->held - at < size - done ? (size_t)(s->held - at) : size - done;
		if (!jp_elf_read_at(c->fd, s->offset + at, (char *)to + done, n))
			break;
		done += n;
	}
	return done;
}

static bool page_is_there(const struct coresource *c, uint64_t address)
{
	const struct core_segment *s = segment_before(c, address);
	if (!s || address - s->start >= s->held)
		return false;
	uint64_t bit = s->first_page + (address - s->start) / jp_memory_page;
	return c->pages[bit / 64] >> bit % 64 & 1;
}

static void core_look(struct jp_memsource *source, struct jp_memory_pages *unit)
{
	enum { pages = jp_memory_unit / jp_memory_page };
	const struct coresource *c = (const struct coresource *)source;
	if (unit->number > INT64_MAX / jp_memory_unit)
		return;
	for (size_t i = 0; i < pages; i++)
		if (page_is_there(c, unit->number * jp_memory_unit + i * jp_memory_page))
			unit->there[i / 64] |= 1ULL << i % 64;
}

static void core_close(struct jp_memsource *source)
{
	struct coresource *c = (struct coresource *)source;
	jp_file_close(&c->fd);
	jp_strbuf_release(&c->names);
	free(c->segments);
	free(c->pages);
	free(c->piece);
	free(c);
}

/* ---- segments ------------------------------------------------------------------------------------------------- */

static int take_segment(struct coresource *c, const struct jp_elf_segment *g, uint64_t file_size, uint64_t *pages)
{
	const struct core_segment *last = c->count ? &c->segments[c->count - 1] : NULL;
	uint64_t held = g->file_size < g->mem_size ? g->file_size : g->mem_size, limit;
	if (g->vaddr % jp_memory_page || !g->mem_size || __builtin_add_overflow(g->vaddr, g->mem_size, &limit) ||
	    limit > INT64_MAX || (last && g->vaddr < last->limit))
		return 0;
	uint64_t whole = held;
	held = g->offset >= file_size ? 0 : file_size - g->offset < held ? file_size - g->offset : held;
	held = held / jp_memory_page * jp_memory_page;
	c->facts->missing += whole - held;
	if (g->flags & PF_W)
		limit = g->vaddr + held; /* nobody reads what is not there */
	if (limit == g->vaddr)
		return 0;
	if (jp_array_push(c->segments, c->count, c->cap))
		return -1;
	c->segments[c->count++] = (struct core_segment){ g->vaddr, limit, g->offset, held, *pages, g->flags };
	*pages += held / jp_memory_page;
	return 0;
}

/* 0, or -1 when memory is short. */
static int take_segments(struct coresource *c, const struct jp_elf_headers *h, uint64_t file_size)
{
	uint64_t pages = 0;
	for (size_t i = 0; i < h->segment_count; i++)
		if (h->segments[i].type == PT_LOAD && pages * jp_memory_page < most_of_core &&
		    take_segment(c, &h->segments[i], file_size, &pages))
			return -1;
	c->pages = calloc((size_t)(pages / 64) + 1, sizeof *c->pages);
	c->piece = malloc(jp_memory_piece);
	return c->pages && c->piece ? 0 : -1;
}

static bool is_of_zeros(const char *page)
{
	return !*page && !memcmp(page, page + 1, jp_memory_page - 1);
}

static void note_page(struct coresource *c, const struct core_segment *s, uint64_t at)
{
	uint64_t bit = s->first_page + at / jp_memory_page;
	c->pages[bit / 64] |= 1ULL << bit % 64;
	c->facts->memory += jp_memory_page;
}

/* The next run of pages of a segment that have data in the file, at or behind *at; false: there is none. A segment may
 * begin anywhere in the file, so a hole may end within a page. */
static bool next_run(const struct coresource *c, const struct core_segment *s, uint64_t *at, uint64_t *end)
{
	off_t from = (off_t)(s->offset + *at), data = lseek(c->fd, from, SEEK_DATA);
	if (*at >= s->held || (data < 0 && errno == ENXIO))
		return false;
	off_t hole = lseek(c->fd, data < 0 ? from : data, SEEK_HOLE);
	uint64_t first = data < 0 ? *at : ((uint64_t)data - s->offset) / jp_memory_page * jp_memory_page;
	uint64_t limit = hole < 0 ? s->held : (uint64_t)hole - s->offset + jp_memory_page - 1;
	limit = limit / jp_memory_page * jp_memory_page;
	*at = first > *at ? first : *at;
	*end = hole >= 0 && limit < s->held ? limit : s->held;
	return *at < *end;
}

/* In a file with holes these are the pages that were never touched; else those of zeros are. */
static void look_at_segment(struct coresource *c, const struct core_segment *s)
{
	for (uint64_t at = 0, end; next_run(c, s, &at, &end); at = end) {
		end = end - at > jp_memory_piece ? at + jp_memory_piece : end;
		if (!c->sparse && !jp_elf_read_at(c->fd, s->offset + at, c->piece, (size_t)(end - at)))
			return;
		for (uint64_t page = at; page < end; page += jp_memory_page)
			if (c->sparse || !is_of_zeros(c->piece + (page - at)))
				note_page(c, s, page);
	}
}

/* Whether the file has a hole before its end that the kernel left: it puts each segment at the begin of a page, and gdb
 * does not, whose holes are made by who copied the file. */
static bool has_kernels_holes(const struct coresource *c, uint64_t size)
{
	off_t hole = lseek(c->fd, 0, SEEK_HOLE);
	bool aligned = true;
	for (size_t i = 0; i < c->count; i++)
		aligned = aligned && c->segments[i].offset % jp_memory_page == 0;
	return aligned && hole >= 0 && (uint64_t)hole < size;
}

/* ---- notes ---------------------------------------------------------------------------------------------------- */

/* Registers of x86-64 and AArch64: struct elf_prstatus of <sys/procfs.h>. */
static int take_registers(struct coresource *c, unsigned machine, struct jp_bytes note)
{
	enum { registers_at = 112, of_x86 = 27, of_arm = 34, pointer_of_x86 = 19, pointer_of_arm = 31 };
	bool x86 = machine == EM_X86_64;
	unsigned count = x86                     ? of_x86
	                 : machine == EM_AARCH64 ? of_arm
	                                         : 0,
		 pointer = x86 ? pointer_of_x86 : pointer_of_arm;
	struct jp_memsource *m = &c->base;
	jp_bytes_seek(&note, registers_at);
	if (note.len < registers_at + 8 * count || !count || m->stack_count == most_threads)
		return 0;
	if (jp_array_push(m->stacks, m->stack_count, m->stack_cap) ||
	    jp_array_reserve(&m->registers, &m->register_cap, m->register_count + count, sizeof *m->registers))
		return -1;
	for (unsigned i = 0; i < count; i++)
		m->registers[m->register_count++] = jp_bytes_uint(&note, 8);
	m->stacks[m->stack_count++] = m->registers[m->register_count - count + pointer];
	return 0;
}

/* struct elf_prpsinfo. */
static void take_core_process(struct coresource *c, struct jp_bytes note)
{
	enum { pid_at = 24, name_at = 40 };
	if (note.len < name_at + sizeof c->facts->name)
		return;
	jp_bytes_seek(&note, pid_at);
	uint64_t pid = jp_bytes_uint(&note, 4);
	c->facts->pid = pid <= INT32_MAX ? (int)pid : 0;
	memcpy(c->facts->name, note.data + name_at, sizeof c->facts->name - 1);
	for (char *p = c->facts->name; *p; p++)
		*p = isprint((unsigned char)*p) ? *p : '?';
}

/* Where the kernel's own code is mapped: pairs of numbers (getauxval(3)). */
static void take_auxv(struct coresource *c, struct jp_bytes note)
{
	while (!note.bad && note.len - note.pos >= 16) {
		uint64_t key = jp_bytes_uint(&note, 8), value = jp_bytes_uint(&note, 8);
		c->vdso = key == AT_SYSINFO_EHDR ? value : c->vdso;
	}
}

/* The number of files and the size of a page; then of each file where it is, and its place in pages; then their names.
 */
static void take_core_files(struct coresource *c, struct jp_bytes note)
{
	uint64_t count = jp_bytes_uint(&note, 8), page = jp_bytes_uint(&note, 8);
	if (note.bad || count > most_mapped_files || note.len - note.pos < count * 24 || c->file_count)
		return;
	jp_strbuf_add(&c->names, note.data + note.pos, note.len - note.pos);
	c->files = (struct jp_bytes){ .data = (const unsigned char *)c->names.text, .len = c->names.len };
	c->file_count = c->names.failed ? 0 : count;
	c->page_size = page;
}

static int take_note(struct coresource *c, unsigned machine, uint64_t type, struct jp_bytes note)
{
	if (type == NT_PRSTATUS)
		return take_registers(c, machine, note);
	if (type == NT_PRPSINFO)
		take_core_process(c, note);
	else if (type == NT_FILE)
		take_core_files(c, note);
	else if (type == NT_AUXV)
		take_auxv(c, note);
	return 0;
}

static int take_core_notes(struct coresource *c, unsigned machine, struct jp_bytes in)
{
	while (!in.bad && in.len - in.pos >= 12) {
		uint64_t name = jp_bytes_uint(&in, 4), size = jp_bytes_uint(&in, 4), type = jp_bytes_uint(&in, 4);
		bool core = name == 5 && in.len - in.pos >= 5 && !memcmp(in.data + in.pos, "CORE", 5);
		uint64_t text = in.pos + (name + 3) / 4 * 4, next = text + (size + 3) / 4 * 4;
		jp_bytes_seek(&in, text + size);
		if (in.bad)
			return 0;
		if (core &&
		    take_note(c, machine, type, (struct jp_bytes){ .data = in.data + text, .len = (size_t)size }))
			return -1;
		jp_bytes_seek(&in, next);
	}
	return 0;
}

static int read_notes(struct coresource *c, const struct jp_elf_headers *h)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	for (size_t i = 0; i < h->segment_count; i++) {
		const struct jp_elf_segment *g = &h->segments[i];
		const struct jp_elf_section notes = { .type = SHT_NOTE, .offset = g->offset, .size = g->file_size };
		struct jp_bytes bytes;
		if (g->type != PT_NOTE)
			continue;
		bool whole = jp_elf_section_read(c->fd, h, &notes, most_of_notes, &text, &bytes);
		if (text.failed || take_core_notes(c, h->machine, bytes))
			return -1;
		c->facts->missing += whole ? 0 : 1;
		return 0;
	}
	return 0;
}

/* ---- mappings ------------------------------------------------------------------------------------------------- */

/* The file that a segment was mapped from, and the segment's place in it; "": none. */
static uint64_t file_of_segment(struct coresource *c, const struct core_segment *s, uint64_t *next, size_t *name_at,
                                char path[most_core_path])
{
	*path = 0;
	for (; *next < c->file_count; ++*next) {
		struct jp_bytes in = c->files;
		jp_bytes_seek(&in, *next * 24);
		uint64_t start = jp_bytes_uint(&in, 8), limit = jp_bytes_uint(&in, 8), place = jp_bytes_uint(&in, 8);
		size_t len = strnlen((const char *)in.data + *name_at, in.len - *name_at);
		if (start > s->start)
			return 0;
		if (s->start < limit) {
			const char *name = (const char *)in.data + *name_at;
			for (size_t i = 0; *name == '/' && i < len && i < most_core_path - 1; i++) {
				path[i] = iscntrl((unsigned char)name[i]) ? '?' : name[i];
				path[i + 1] = 0;
			}
			return place * c->page_size + (s->start - start);
		}
		*name_at += len < in.len - *name_at ? len + 1 : len;
	}
	return 0;
}

/* That of the first thread, or one that is no larger than those of threads are. */
static bool is_stack_of_core(const struct jp_memsource *m, const struct core_segment *s)
{
	static const uint64_t most_stack = (8 << 20) + (1 << 16);
	for (size_t i = 0; i < m->stack_count; i++)
		if (m->stacks[i] - s->start < s->limit - s->start && (!i || s->limit - s->start <= most_stack))
			return true;
	return false;
}

static int make_core_maps(struct coresource *c, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	char path[most_core_path];
	uint64_t next = 0;
	size_t name_at = (size_t)c->file_count * 24;
	for (size_t i = 0; i < c->count; i++) {
		const struct core_segment *s = &c->segments[i];
		uint64_t place = file_of_segment(c, s, &next, &name_at, path);
		if (!*path && s->flags & PF_W && is_stack_of_core(&c->base, s))
			strcpy(path, "[stack]");
		else if (!*path && s->start == c->vdso)
			strcpy(path, "[vdso]");
		jp_strbuf_printf(&text, "%llx-%llx %c%c%cp %08llx 00:00 0 %s\n", (unsigned long long)s->start,
		                 (unsigned long long)s->limit, s->flags & PF_R ? 'r' : '-', s->flags & PF_W ? 'w' : '-',
		                 s->flags & PF_X ? 'x' : '-', (unsigned long long)place, path);
	}
	if (text.failed)
		return jp_error_nomem(err);
	return jprof_maps_parse(text.text ? text.text : "", text.len, "maps", &c->base.maps, err);
}

void jp_coresource_smaps(struct jp_memsource *source, bool (*is_malloc)(void *context, const struct jprof_map *map),
                         void *context, struct jp_strbuf *maps, struct jp_strbuf *smaps)
{
	const struct coresource *c = (const struct coresource *)source;
	for (size_t i = 0; i < jprof_maps_count(source->maps); i++) {
		const struct jprof_map *map = jprof_maps_at(source->maps, i);
		size_t at = maps->len;
		const struct core_segment *s = segment_before(c, map->start);
		uint64_t kb = 0;
		for (uint64_t page = map->start; s && page - s->start < s->held; page += jp_memory_page)
			kb += page_is_there(c, page) ? jp_memory_page / 1024 : 0;
		jp_strbuf_printf(maps, "%llx-%llx %c%c%cp %08llx 00:00 0 %s\n", (unsigned long long)map->start,
		                 (unsigned long long)map->limit, map->readable ? 'r' : '-', map->writable ? 'w' : '-',
		                 map->executable ? 'x' : '-', (unsigned long long)map->offset, map->path);
		if (maps->failed)
			return;
		jp_strbuf_add(smaps, maps->text + at, maps->len - at);
		jp_strbuf_printf(smaps, "Rss: %llu kB\nAnonymous: %llu kB\nVmFlags:%s\n", (unsigned long long)kb,
		                 (unsigned long long)kb, is_malloc(context, map) ? " nr" : "");
	}
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

static int read_core(struct coresource *c, const char *path, uint64_t size, struct jprof_error *err)
{
	struct jp_arena jp_cleanup(jp_arena_release) arena = { 0 };
	struct jp_elf_headers h;
	int rc = jp_elf_headers_read(c->fd, path, &arena, &h, err);
	if (rc)
		return rc;
	if (h.type != ET_CORE)
		return jp_error(err, JPROF_E_FORMAT, path, 0, "is no core");
	if (h.bits != 64 || h.big_endian)
		return jp_error(err, JPROF_E_UNSUPPORTED, path, 0,
		                "is a core of a machine that is not read: jprof reads those of x86-64 and AArch64");
	if (take_segments(c, &h, size) || read_notes(c, &h))
		return jp_error_nomem(err);
	c->facts->holes = c->sparse = !c->packed && has_kernels_holes(c, size);
	for (size_t i = 0; i < c->count; i++)
		look_at_segment(c, &c->segments[i]);
	return make_core_maps(c, err);
}

int jp_coresource_open(const char *path, struct jp_memsource **out, struct jp_core_facts *facts,
                       struct jprof_error *err)
{
	struct coresource *c = calloc(1, sizeof *c);
	struct stat st;
	*facts = (struct jp_core_facts){ 0 };
	if (!c)
		return jp_error_nomem(err);
	c->base = (struct jp_memsource){ core_read, core_look, core_close, .of_core = true, .left = most_core_reading };
	c->facts = facts;
	c->fd = -1;
	int rc = jp_file_open(path, &c->fd, &st, err);
	if (!rc && !S_ISREG(st.st_mode))
		rc = jp_error(err, JPROF_E_FORMAT, path, 0, "is no regular file, and a core has to be one");
	facts->time = rc ? 0 : (int64_t)st.st_mtime;
	uint64_t size = rc ? 0 : (uint64_t)st.st_size;
	rc = rc ? rc : jprof_unpack_file(&c->fd, path, &c->packed, &size, err);
	rc = rc ? rc : read_core(c, path, size, err);
	c->facts = NULL;
	if (rc)
		jp_memsource_close(&c->base);
	else
		*out = &c->base;
	return rc;
}
