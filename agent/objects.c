#include "objects.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "handle.h"
#include "textbuf.h"

enum { HEADERS_MAX = 64, NOTES_MAX = 4096 };

/* A line of maps. */
struct mapping {
	uint64_t start, end, offset;
	bool readable, executable;
	const char *path; /* up to the end of the line */
	size_t path_len;
};

/* The program headers of what is mapped from its first byte on. */
struct image {
	uint64_t base; /* what is added to the file's addresses */
	size_t count;
	ElfW(Phdr) headers[HEADERS_MAX];
};

static struct image image;
static unsigned char notes[NOTES_MAX];

/* Reads memory of this process that may not be there any more. process_vm_readv lets go of the process's memory lock
 * while a page comes from a disk; a kernel or a sandbox may not have it. */
static bool read_memory(int mem, uint64_t address, void *buf, size_t len)
{
	struct iovec to = { buf, len }, from = { (void *)(uintptr_t)address, len };
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)len)
		return true;
	return errno != EFAULT && mem >= 0 && pread(mem, buf, len, (off_t)address) == (ssize_t)len;
}

static const char *read_hex(const char *s, uint64_t *value)
{
	char *end;
	*value = strtoull(s, &end, 16);
	return end;
}

/* Reads one line, START-END PERMS OFFSET DEVICE INODE   PATH. Returns the next, NULL at the end. */
static const char *next_mapping(const char *line, struct mapping *m)
{
	const char *end = line ? strchr(line, '\n') : NULL;
	if (!end)
		return NULL;
	const char *perms = read_hex(read_hex(line, &m->start) + 1, &m->end) + 1, *at = read_hex(perms + 5, &m->offset);
	m->readable = perms[0] == 'r';
	m->executable = perms[2] == 'x';
	for (int field = 0; field < 2; field++)
		for (at += *at == ' '; at < end && *at != ' '; at++)
			;
	while (at < end && *at == ' ')
		at++;
	m->path = at;
	m->path_len = (size_t)(end - at);
	return end + 1;
}

/* Is an executable mapping at the address? `line` is where to begin: addresses ascend. */
static bool is_executable_at(const char *line, uint64_t address)
{
	struct mapping m;
	while ((line = next_mapping(line, &m)) && m.start <= address)
		if (address < m.end)
			return m.executable;
	return false;
}

/* Where the segment that has the file's first byte was to be. */
static bool find_base(uint64_t start)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < image.count; i++) {
		const ElfW(Phdr) *ph = &image.headers[i];
		if (ph->p_type != PT_LOAD || ph->p_offset >= page)
			continue;
		image.base = start - (ph->p_vaddr - ph->p_offset);
		return true;
	}
	return false;
}

/* A file that is only read, and not run, has its code where none is executable. */
static bool is_loaded(const char *line)
{
	for (size_t i = 0; i < image.count; i++) {
		const ElfW(Phdr) *ph = &image.headers[i];
		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X))
			return is_executable_at(line, image.base + ph->p_vaddr);
	}
	return true;
}

/* Reads what begins at the mapping of this line. False if it is no object file that the loader, or the kernel, loaded.
 */
static bool read_image(int mem, const char *line, const struct mapping *m)
{
	ElfW(Ehdr) header;
	int class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	bool named = m->path_len && (*m->path == '/' || strncmp(m->path, "[vdso]", 6) == 0);
	if (!named || m->offset || !m->readable || !read_memory(mem, m->start, &header, sizeof header))
		return false;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != class ||
	    header.e_phentsize != sizeof *image.headers || header.e_phnum > HEADERS_MAX)
		return false;
	image.count = header.e_phnum;
	return read_memory(mem, m->start + header.e_phoff, image.headers, image.count * sizeof *image.headers) &&
	       find_base(m->start) && is_loaded(line);
}

static void add_hex(struct textbuf *text, const unsigned char *bytes, size_t len)
{
	textbuf_str(text, "\"");
	for (size_t i = 0; i < len; i++)
		textbuf_printf(text, "%02x", bytes[i]);
	textbuf_str(text, "\"");
}

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

/* Adds the build-id of a note segment's `len` bytes, if one is there. */
static bool add_build_id(struct textbuf *text, const unsigned char *p, size_t len)
{
	ElfW(Nhdr) note;
	while (len >= sizeof note) {
		memcpy(&note, p, sizeof note);
		p += sizeof note;
		len -= sizeof note;
		size_t name = padded(note.n_namesz), desc = note.n_descsz;
		if (name > len || desc > len - name)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(p, "GNU", 4) == 0) {
			add_hex(text, p + name, desc);
			return true;
		}
		size_t step = name + padded(desc);
		p += step < len ? step : len;
		len -= step < len ? step : len;
	}
	return false;
}

static void build_id(int mem, struct textbuf *text)
{
	for (size_t i = 0; i < image.count; i++) {
		const ElfW(Phdr) *ph = &image.headers[i];
		size_t len = ph->p_filesz < NOTES_MAX ? ph->p_filesz : NOTES_MAX;
		if (ph->p_type == PT_NOTE && read_memory(mem, image.base + ph->p_vaddr, notes, len) &&
		    add_build_id(text, notes, len))
			return;
	}
	textbuf_str(text, "null");
}

static void add_object(int mem, const struct mapping *m, struct textbuf *text)
{
	static const char deleted[] = " (deleted)";
	static char path[PATH_MAX];
	size_t len = m->path_len < sizeof path ? m->path_len : sizeof path - 1, ending = sizeof deleted - 1;
	memcpy(path, m->path, len);
	if (len > ending && memcmp(path + len - ending, deleted, ending) == 0)
		len -= ending;
	path[len] = 0;
	textbuf_str(text, text->data[text->len - 1] == '[' ? "{\"path\":" : ",{\"path\":");
	textbuf_json(text, path);
	textbuf_printf(text, ",\"base\":\"0x%llx\",\"build_id\":", (unsigned long long)image.base);
	build_id(mem, text);
	textbuf_str(text, "}");
}

/* Adds those that hold the address, or those that do not. */
static void add_objects(int mem, const char *maps, uint64_t address, bool hold, struct textbuf *text)
{
	struct mapping m;
	for (const char *line = maps, *next; (next = next_mapping(line, &m)); line = next)
		if ((address - m.start < m.end - m.start) == hold && read_image(mem, line, &m))
			add_object(mem, &m, text);
}

/* The program comes first: the one that has what the kernel told it of its program headers. */
void objects_json(struct textbuf *text)
{
	struct textbuf maps = { 0 };
	uint64_t headers = getauxval(AT_PHDR);
	textbuf_str(text, "[");
	int fd = handle_open(HANDLE_BRIEF, "/proc/self/maps", O_RDONLY);
	bool whole = fd >= 0 && textbuf_read(&maps, fd) == 0;
	int mem = handle_open(HANDLE_BRIEF, "/proc/self/mem", O_RDONLY);
	if (whole && !text->failed) {
		add_objects(mem, maps.data, headers, true, text);
		add_objects(mem, maps.data, headers, false, text);
	}
	handle_close(HANDLE_BRIEF);
	textbuf_free(&maps);
	textbuf_str(text, "]");
}
