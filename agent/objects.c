#include "objects.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

struct list {
	struct text *text;
	bool any;
};

/* Are [start, start+len) bytes of memory that the loader mapped, and that can be read? */
static bool is_loaded(const struct dl_phdr_info *info, ElfW(Addr) start, size_t len)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_R) && start >= ph->p_vaddr && len <= ph->p_filesz &&
		    start - ph->p_vaddr <= ph->p_filesz - len)
			return true;
	}
	return false;
}

static void add_hex(struct text *text, const unsigned char *bytes, size_t len)
{
	text_str(text, "\"");
	for (size_t i = 0; i < len; i++)
		text_printf(text, "%02x", bytes[i]);
	text_str(text, "\"");
}

static size_t padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

/* Adds the build-id of a note segment's `len` bytes, if one is there. */
static bool add_build_id(struct text *text, const unsigned char *p, size_t len)
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

static void build_id(struct text *text, const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_NOTE || !is_loaded(info, ph->p_vaddr, ph->p_filesz))
			continue;
		if (add_build_id(text, (const unsigned char *)(info->dlpi_addr + ph->p_vaddr), ph->p_filesz))
			return;
	}
	text_str(text, "null");
}

/* The program has no name here; in musl the vdso has none either. */
static const char *path_of(const struct dl_phdr_info *info, bool first, char *buf, size_t size)
{
	if (!first)
		return *info->dlpi_name ? info->dlpi_name : "[vdso]";
	ssize_t len = readlink("/proc/self/exe", buf, size - 1);
	if (len <= 0)
		return info->dlpi_name;
	buf[len] = 0;
	return buf;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct list *list = arg;
	char path[PATH_MAX];
	(void)size;
	text_str(list->text, list->any ? ",{\"path\":" : "{\"path\":");
	text_json(list->text, path_of(info, !list->any, path, sizeof path));
	text_printf(list->text, ",\"base\":\"0x%llx\",\"build_id\":", (unsigned long long)info->dlpi_addr);
	build_id(list->text, info);
	text_str(list->text, "}");
	list->any = true;
	return 0;
}

void objects_json(struct text *text)
{
	struct list list = { .text = text };
	text_str(text, "[");
	dl_iterate_phdr(add_object, &list);
	text_str(text, "]");
}
