#include "input/codenames.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "input/codeimage.h"
#include "machine/registered.h"

enum { most_symbol_names = 64 << 20 };

struct jp_codenames {
	struct jp_registered_names registered;
};

/* Whether the file has a symbol that may be one of Ruby's functions; else nothing in it is registered. */
static int may_register(const struct jp_objfile *file, bool *may)
{
	const struct jp_elf_section *symbols = jp_elf_section_find(&file->headers, NULL, SHT_DYNSYM);
	const struct jp_elf_section *names = jp_elf_section_linked(&file->headers, symbols);
	*may = false;
	if (!names || names->type == SHT_NOBITS || names->size > most_symbol_names)
		return 0;
	char *text = malloc((size_t)names->size + 1);
	if (text && jp_elf_read_at(file->fd, names->offset, text, (size_t)names->size))
		*may = memmem(text, (size_t)names->size, "rb_", 3);
	free(text);
	return text ? 0 : -1;
}

struct jp_codenames *jp_codenames_new(const struct jp_objfile *file)
{
	struct jp_codenames *names = calloc(1, sizeof *names);
	struct jp_codeimage code = { 0 };
	struct jp_references references = { 0 };
	bool may = false;
	int rc = names ? 0 : -1;
	if (!rc)
		rc = may_register(file, &may);
	if (!rc && may)
		rc = jp_codeimage_read(file, &code);
	if (!rc)
		rc = jp_registered_find(&code.image, &references, &names->registered);
	jp_references_release(&references);
	jp_codeimage_release(&code);
	if (!rc)
		return names;
	jp_codenames_free(names);
	return NULL;
}

void jp_codenames_free(struct jp_codenames *names)
{
	if (!names)
		return;
	jp_registered_release(&names->registered);
	free(names);
}

bool jp_codenames_start(const struct jp_codenames *names, size_t i, uint64_t *start)
{
	if (i >= names->registered.count)
		return false;
	*start = names->registered.items[i].start;
	return true;
}

const char *jp_codenames_at(const struct jp_codenames *names, uint64_t start)
{
	const struct jp_registered_names *r = &names->registered;
	const struct jp_registered_name *n = jp_last_up_to(r->items, r->count, sizeof *r->items, start);
	return n && n->start == start ? n->name : NULL;
}
