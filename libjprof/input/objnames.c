#include "input/objnames.h"

#include <stdlib.h>
#include <string.h>

#include "input/codenames.h"
#include "input/demangle.h"
#include "input/dwarf.h"
#include "input/ehframe.h"
#include "input/minidebug.h"
#include "input/packnames.h"
#include "input/symtab.h"

/* ---- opening ------------------------------------------------------------------------------------ */

/* 0, also of a file that is damaged. JPROF_E_NOMEM, JPROF_E_IO. */
static int borrow(const struct jp_open_file *given, struct jp_elffile *file)
{
	int rc = given->fd < 0 ? 0 : jp_elffile_borrow(given->fd, given->path, file);
	return rc == JPROF_E_FORMAT ? 0 : rc;
}

/* Without the parts that dwz moved out it is not used: libdw would open the path itself, whatever is there. */
static void attach_shared(struct jp_objnames *names, const struct jp_elffile *holder)
{
	if (!jp_elffile_shares(holder) || (names->shared.object && !jp_dwarf_set_shared(names->dwarf, &names->shared)))
		return;
	jp_dwarf_free(names->dwarf);
	names->dwarf = NULL;
	names->state = JP_DWARF_SHARED_REFUSED;
}

static int open_dwarf(struct jp_objnames *names, enum jp_dwarf_in in)
{
	struct jp_elffile *holder = in == JP_DWARF_IN_OBJECT ? &names->object : &names->debug;
	if (in == JP_DWARF_NOWHERE)
		return 0;
	jp_elffile_unpack(holder);
	jp_elffile_unpack(&names->shared);
	if (holder->object && jp_dwarf_new(names->object.object, holder, &names->dwarf))
		return JPROF_E_NOMEM;
	names->state = names->dwarf ? JP_DWARF_USED : JP_DWARF_REFUSED;
	if (names->dwarf)
		attach_shared(names, holder);
	return 0;
}

int jp_objnames_open(const struct jp_name_request *request, struct jp_objnames **out)
{
	struct jp_objnames *names = calloc(1, sizeof *names);
	if (!names)
		return JPROF_E_NOMEM;
	names->splits = jp_splits_new();
	int rc =
	    names->splits ? jp_elffile_borrow(request->object.fd, request->object.path, &names->object) : JPROF_E_NOMEM;
	if (!rc)
		rc = borrow(&request->debug, &names->debug);
	if (!rc)
		rc = borrow(&request->shared, &names->shared);
	if (!rc)
		rc = open_dwarf(names, request->dwarf);
	if (rc) {
		jp_objnames_close(names);
		return rc;
	}
	jp_splits_answer(names->splits, request->splits, request->split_count);
	memcpy(names->packs, request->packs, sizeof names->packs);
	names->pack_count = request->pack_count;
	*out = names;
	return 0;
}

void jp_objnames_close(struct jp_objnames *names)
{
	if (!names)
		return;
	jp_packnames_free(names->packnames);
	jp_symtab_free(names->symtab);
	jp_ehframe_free(names->ehframe);
	jp_codenames_free(names->codenames);
	jp_minidebug_free(names->mini);
	jp_splits_free(names->splits);
	jp_dwarf_free(names->dwarf);
	jp_elffile_close(&names->shared);
	jp_elffile_close(&names->debug);
	jp_elffile_close(&names->object);
	free(names);
}

/* The symbols beside the file's own: those of its debug file; only where .symtab is stripped and there is no
 * such file, those of MiniDebugInfo. */
static int load_symtab(struct jp_objnames *names)
{
	const struct jp_objfile *debug = names->debug.object;
	bool has_symtab = jp_objfile_has_symtab(names->object.object) || (debug && jp_objfile_has_symtab(debug));
	if (!has_symtab && !names->mini && jp_minidebug_load(&names->object, &names->mini))
		return -1;
	Elf *more = names->mini ? jp_minidebug_elf(names->mini) : names->debug.elf;
	names->symtab = jp_symtab_new(names->object.elf, more);
	return names->symtab ? 0 : -1;
}

static int load_tables(struct jp_objnames *names)
{
	if (!names->symtab && load_symtab(names))
		return -1;
	if (!names->ehframe)
		names->ehframe = jp_ehframe_new(names->object.elf);
	return names->ehframe ? 0 : -1;
}

/* ---- lookups ------------------------------------------------------------------------------------ */

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

static int name_by_symbol(struct jp_objnames *names, struct jp_lookup *lookup)
{
	const struct jp_symbol *symbol =
	    jp_symtab_find(names->symtab, lookup->vaddr, lookup->fde_start, lookup->fde_end);
	if (!symbol)
		return 0;
	if (!lookup->frames) {
		lookup->frames = jp_arena_alloc(&names->object.object->arena, sizeof *lookup->frames);
		if (!lookup->frames)
			return -1;
		lookup->frame_count = 1;
	}
	struct jp_symframe *physical = &lookup->frames[lookup->frame_count - 1];
	if (!physical->name || says_more(symbol->name, physical->name)) {
		physical->name = symbol->name;
		physical->shown = NULL;
	}
	if (lookup->source < symbol->source)
		lookup->source = symbol->source;
	return 0;
}

static int name_rest(struct jp_objnames *names, struct jp_lookup *lookups, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct jp_lookup *l = &lookups[i];
		if (!jp_ehframe_find(names->ehframe, l->vaddr, &l->fde_start, &l->fde_end))
			l->fde_start = l->fde_end = 0;
		else if (l->source == JPROF_SOURCE_NONE)
			l->source = JPROF_SOURCE_FDE;
		if (name_by_symbol(names, l))
			return -1;
	}
	return 0;
}

/* ---- names of packs ----------------------------------------------------------------------------- */

/* Packs are for files that know the names of exported functions alone. */
static bool wants_packs(const struct jp_objnames *names)
{
	const struct jp_objfile *debug = names->debug.object;
	return names->pack_count && !names->dwarf && !names->mini && !jp_objfile_has_symtab(names->object.object) &&
	       !(debug && jp_objfile_has_symtab(debug));
}

static int name_by_pack(struct jp_objnames *names, struct jp_lookup *lookup)
{
	if (!names->packnames)
		names->packnames = jp_packnames_new(names->object.object, names->packs, names->pack_count);
	const char *name;
	if (!names->packnames || jp_packnames_at(names->packnames, lookup->fde_start, &name))
		return -1;
	if (!*name)
		return 0;
	lookup->frames = jp_arena_alloc(&names->object.object->arena, sizeof *lookup->frames);
	if (!lookup->frames)
		return -1;
	lookup->frames->name = name;
	lookup->frame_count = 1;
	lookup->source = JPROF_SOURCE_PACK;
	return 0;
}

static int name_by_packs(struct jp_objnames *names, struct jp_lookup *lookups, size_t count)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < count && wants_packs(names); i++)
		if (lookups[i].source == JPROF_SOURCE_FDE && !lookups[i].frame_count)
			rc = name_by_pack(names, &lookups[i]);
	return rc;
}

/* ---- names of Ruby ------------------------------------------------------------------------------ */

/* What Ruby calls it, as it is: in short, too. */
static int name_by_code(struct jp_objnames *names, struct jp_lookup *lookup)
{
	if (!names->codenames)
		names->codenames = jp_codenames_new(names->object.object);
	if (!names->codenames)
		return -1;
	const char *name = jp_codenames_at(names->codenames, lookup->fde_start);
	if (!name)
		return 0;
	lookup->frames = jp_arena_alloc(&names->object.object->arena, sizeof *lookup->frames);
	if (!lookup->frames)
		return -1;
	*lookup->frames = (struct jp_symframe){ .name = name, .shown = name, .brief = name };
	lookup->frame_count = 1;
	lookup->source = JPROF_SOURCE_REGISTERED;
	return 0;
}

/* Reading that costs half of a report, so a file that a pack fits is left alone. */
static int name_by_codes(struct jp_objnames *names, struct jp_lookup *lookups, size_t count)
{
	int rc = 0;
	if (jp_packnames_fit(names->packnames))
		return 0;
	for (size_t i = 0; !rc && i < count; i++)
		if (lookups[i].source == JPROF_SOURCE_FDE && !lookups[i].frame_count && !lookups[i].pending)
			rc = name_by_code(names, &lookups[i]);
	return rc;
}

int jp_objnames_lookup(struct jp_objnames *names, struct jp_lookup *lookups, size_t count)
{
	if (load_tables(names))
		return -1;
	if (names->dwarf && jp_dwarf_lookup(names->dwarf, names->object.object, names->splits, lookups, count))
		return -1;
	if (name_rest(names, lookups, count) || name_by_packs(names, lookups, count) ||
	    name_by_codes(names, lookups, count))
		return -1;
	return names->object.object->remarks.failed ? -1 : 0;
}

/* ---- functions ---------------------------------------------------------------------------------- */

bool jp_objnames_function(const struct jp_objnames *names, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	uint64_t fde_start, fde_end;
	bool described = jp_ehframe_find(names->ehframe, vaddr, &fde_start, &fde_end);
	const struct jp_symbol *symbol =
	    jp_symtab_find(names->symtab, vaddr, described ? fde_start : 0, described ? fde_end : 0);
	*start = symbol && (symbol->size || !described) ? symbol->value : fde_start;
	*end = symbol && symbol->size ? symbol->value + symbol->size : fde_end;
	return described || (symbol && symbol->size);
}

const char *jp_objnames_symbol_ending(const struct jp_objnames *names, const char *word)
{
	const char *best = NULL;
	size_t len = strlen(word);
	const struct jp_symbol *symbol;
	for (size_t i = 0; (symbol = jp_symtab_at(names->symtab, i)); i++) {
		size_t n = strlen(symbol->name);
		if (n >= len && !strcmp(symbol->name + n - len, word) && (!best || n < strlen(best)))
			best = symbol->name;
	}
	return best;
}
