#include "input/objnames.h"

#include <stdlib.h>
#include <string.h>

#include "input/demangle.h"
#include "input/dwarf.h"
#include "input/ehframe.h"
#include "input/minidebug.h"
#include "input/symtab.h"

/* A compiler's clone ("f.cold", "f.isra.0") is one function in DWARF and has a symbol of its own. */
static bool is_clone_of(const char *symbol, const char *name)
{
	size_t n = strlen(name);
	return !strncmp(symbol, name, n) && symbol[n] == '.';
}

/* DWARF gives C++ functions of internal linkage no linkage name: the symbol that holds the address
 * says in which namespace or function they are. */
static bool says_more(const char *symbol, const char *name)
{
	return is_clone_of(symbol, name) || (jp_is_mangled(symbol) && !jp_is_mangled(name));
}

static int name_by_symbol(struct jp_objfile *file, struct jp_lookup *lookup)
{
	const struct jp_symbol *symbol =
	    jp_symtab_find(file->names->symtab, lookup->vaddr, lookup->fde_start, lookup->fde_end);
	if (!symbol)
		return 0;
	if (!lookup->frames) {
		lookup->frames = jp_arena_alloc(&file->arena, sizeof *lookup->frames);
		if (!lookup->frames)
			return -1;
		lookup->frame_count = 1;
	}
	struct jp_symframe *physical = &lookup->frames[lookup->frame_count - 1];
	if (!physical->name || says_more(symbol->name, physical->name))
		physical->name = symbol->name;
	if (lookup->source < symbol->source)
		lookup->source = symbol->source;
	return 0;
}

static int name_rest(struct jp_objfile *file, struct jp_lookup *lookups, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct jp_lookup *l = &lookups[i];
		if (!jp_ehframe_find(file->names->ehframe, l->vaddr, &l->fde_start, &l->fde_end))
			l->fde_start = l->fde_end = 0;
		else if (l->source == JPROF_SOURCE_NONE)
			l->source = JPROF_SOURCE_FDE;
		if (name_by_symbol(file, l))
			return -1;
	}
	return 0;
}

/* The symbols beside the file's own: those of its debug file; only where .symtab is stripped and there is no
 * such file, those of MiniDebugInfo. */
static int load_symtab(struct jp_objfile *file, struct jp_objnames *names)
{
	const struct jp_objfile *separate = names->debug.separate;
	bool has_symtab = jp_objfile_has_symtab(file) || (separate && jp_objfile_has_symtab(separate));
	if (!has_symtab && !names->mini && jp_minidebug_load(file, &names->mini))
		return -1;
	Elf *more = names->mini ? jp_minidebug_elf(names->mini) : separate ? separate->elf : NULL;
	names->symtab = jp_symtab_new(file->elf, more);
	return names->symtab ? 0 : -1;
}

static void free_objnames(struct jp_objnames *names)
{
	jp_symtab_free(names->symtab);
	jp_debugfiles_release(&names->debug);
	jp_minidebug_free(names->mini);
	jp_ehframe_free(names->ehframe);
	free(names);
}

static int load_objnames(struct jp_objfile *file, const struct jp_debug_where *where)
{
	if (!file->names)
		file->names = calloc(1, sizeof *file->names);
	struct jp_objnames *names = file->names;
	if (!names)
		return -1;
	file->free_names = free_objnames;
	jp_debugfiles_release(&names->debug); /* of an earlier time, when memory was short */
	if (jp_debugfiles_find(file, where, &names->debug) || (!names->symtab && load_symtab(file, names)))
		return -1;
	names->ehframe = jp_ehframe_new(file->elf);
	names->loaded = names->ehframe;
	return names->ehframe ? 0 : -1;
}

int jp_objfile_symbolize(struct jp_objfile *file, const struct jp_debug_where *where, struct jp_lookup *lookups,
                         size_t count)
{
	if (!(file->names && file->names->loaded) && load_objnames(file, where))
		return -1;
	struct jp_dwarf *dwarf = file->names->debug.dwarf;
	if (dwarf && jp_dwarf_lookup(dwarf, file, lookups, count))
		return -1;
	return name_rest(file, lookups, count) || file->remarks.failed ? -1 : 0;
}

bool jp_objfile_function(const struct jp_objfile *file, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	uint64_t fde_start, fde_end;
	bool described = jp_ehframe_find(file->names->ehframe, vaddr, &fde_start, &fde_end);
	const struct jp_symbol *symbol =
	    jp_symtab_find(file->names->symtab, vaddr, described ? fde_start : 0, described ? fde_end : 0);
	*start = symbol && (symbol->size || !described) ? symbol->value : fde_start;
	*end = symbol && symbol->size ? symbol->value + symbol->size : fde_end;
	return described || (symbol && symbol->size);
}

static bool has_symbols(const struct jp_objfile *file)
{
	return file->names && file->names->symtab;
}

const char *jp_objfile_symbol_at(const struct jp_objfile *file, uint64_t vaddr)
{
	const struct jp_symbol *symbol = has_symbols(file) ? jp_symtab_find(file->names->symtab, vaddr, 0, 0) : NULL;
	return symbol && symbol->value == vaddr ? symbol->name : NULL;
}

bool jp_objfile_exports(const struct jp_objfile *file, const char *name)
{
	return has_symbols(file) && jp_symtab_exports(file->names->symtab, name);
}

const char *jp_objfile_symbol_ending(const struct jp_objfile *file, const char *word)
{
	const char *best = NULL;
	size_t len = strlen(word);
	const struct jp_symbol *symbol;
	for (size_t i = 0; has_symbols(file) && (symbol = jp_symtab_at(file->names->symtab, i)); i++) {
		size_t n = strlen(symbol->name);
		if (n >= len && !strcmp(symbol->name + n - len, word) && (!best || n < strlen(best)))
			best = symbol->name;
	}
	return best;
}
