#include "input/answerer.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

/* Looking at what is loaded. */
struct loaded_code {
	struct jp_strbuf *text;
	uintptr_t own; /* an address of this library */
	bool found;
};

static bool holds_address(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		if (info->dlpi_phdr[i].p_type == PT_LOAD && address >= start &&
		    address - start < info->dlpi_phdr[i].p_memsz)
			return true;
	}
	return false;
}

/* Libraries whose answers are in ours. */
static bool reads_for_us(const char *path)
{
	static const char *const names[] = { "libdw", "libelf", "libstdc++" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Adds the build-id that stands in the notes, which are loaded, and those of a loader that took them. */
static bool add_own_build_id(struct jp_strbuf *text, const unsigned char *notes, size_t len)
{
	ElfW(Nhdr) note;
	for (size_t at = 0; len - at >= sizeof note;) {
		memcpy(&note, notes + at, sizeof note);
		size_t name = at + sizeof note, id = name + (note.n_namesz + 3u) / 4 * 4;
		if (id > len || note.n_descsz > len - id)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(notes + name, "GNU", 4)) {
			for (size_t i = 0; i < note.n_descsz; i++)
				jp_strbuf_printf(text, "%02x", notes[id + i]);
			jp_strbuf_str(text, "\n");
			return true;
		}
		at = id + (note.n_descsz + 3u) / 4 * 4;
		if (at > len)
			return false;
	}
	return false;
}

static int describe_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct loaded_code *code = context;
	bool own = holds_address(info, code->own), any = false;
	(void)size;
	if (!own && !reads_for_us(info->dlpi_name))
		return 0;
	for (int i = 0; i < info->dlpi_phnum && !any; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			any = add_own_build_id(code->text,
			                       (const unsigned char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
			                       info->dlpi_phdr[i].p_memsz);
	code->found = code->found || (own && any);
	return 0;
}

bool jp_answerer_describe(struct jp_strbuf *text)
{
	struct loaded_code code = { .text = text, .own = (uintptr_t)&jp_answerer_describe };
	dl_iterate_phdr(describe_object, &code);
	return code.found && !text->failed;
}
