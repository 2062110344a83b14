/* Units are found by their own ranges (DW_AT_ranges, DW_AT_low_pc): .debug_aranges may be missing
 * or partial. In a unit that holds wanted addresses the tree of DIEs is walked once, from the root;
 * every subprogram or inlined subroutine that covers an address is put in front of that address's
 * list, so that in the end each list runs from the innermost function outwards. */
#include "input/dwarf.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "input/dwarfnames.h"
#include "input/dwarfsource.h"
#include "input/inflate.h"

enum { max_tree_depth = 512, max_inline_depth = 256 };

struct jp_dwarf {
	Dwarf *dbg;
	Dwarf *shared; /* what dwz moved out, or NULL */
	const struct jp_elffile *holder;
};

/* A function that covers an address; `outer` is what it was inlined into. */
struct scope {
	Dwarf_Die die;
	const void *function; /* the subprogram it is part of, or is */
	struct scope *outer;
	bool inlined;
	unsigned depth;
};

/* An address in the unit under way. */
struct wanted {
	uint64_t vaddr; /* of the lookup */
	struct jp_lookup *lookup;
	struct scope *innermost;
};

struct dwarf_walk {
	struct jp_objfile *file;
	const struct jp_elffile *holder; /* of the debug information */
	struct jp_splits *splits;
	struct jp_arena arena; /* scopes of one unit */
	Dwarf_Die unit;
	Dwarf_Die skeleton;            /* of a unit from a .dwo file, which has its lines; else the unit */
	struct jp_split_ranges ranges; /* of its functions */
	bool split;
	struct wanted *wanted; /* sorted by address */
	size_t count, cap;
	struct jp_dwarf_source source; /* of the unit */
	struct jp_dwarf_names names;   /* of its functions */
	bool failed;                   /* memory was short */
};

/* ---- opening ------------------------------------------------------------------------------------ */

/* Sections without which the answers would be wrong or nameless. */
static bool is_needed(const char *name)
{
	static const char *const needed[] = { "info", "abbrev", "str",      "line",       "line_str",
		                              "addr", "ranges", "rnglists", "str_offsets" };
	size_t skip = !strncmp(name, ".debug_", 7) ? 7 : !strncmp(name, ".zdebug_", 8) ? 8 : 0;
	for (size_t i = 0; skip && i < jp_count(needed); i++)
		if (!strcmp(name + skip, needed[i]))
			return true;
	return false;
}

/* Whether a section that libdw left packed is sound: then it was memory that libdw lacked, or that is lacking here. */
static bool can_be_unpacked(Elf *elf, Elf_Scn *scn, const GElf_Chdr *chdr)
{
	enum { largest_ratio = 1040 }; /* of zlib */
	const Elf_Data *packed = elf_rawdata(scn, NULL);
	size_t head = gelf_fsize(elf, ELF_T_CHDR, 1, EV_CURRENT),
	       len = packed && packed->d_size > head ? packed->d_size - head : 0;
	if (!len || !packed->d_buf || chdr->ch_size > (uint64_t)len * largest_ratio)
		return false;
	void *out = malloc(chdr->ch_size ? chdr->ch_size : 1);
	int result = out ? jp_inflate((const char *)packed->d_buf + head, len, out, chdr->ch_size) : -1;
	free(out);
	return result != 0;
}

static const char no_memory_to_unpack[] = "is compressed, and memory is short to unpack it";

/* libdw unpacks sections when it opens a file, and goes on without those that it cannot. */
static const char *why_packed(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	GElf_Chdr chdr;
	if (!(shdr->sh_flags & SHF_COMPRESSED))
		return dwelf_scn_gnu_compressed_size(scn) >= 0 ? "is compressed and damaged, or memory is short" : NULL;
	if (!gelf_getchdr(scn, &chdr))
		return "is compressed and damaged";
	switch (chdr.ch_type) {
	case 1: return can_be_unpacked(elf, scn, &chdr) ? no_memory_to_unpack : "is compressed with zlib and damaged";
	case 2: return "is compressed with zstd, which this libdw cannot read (elfutils 0.189 can), or damaged";
	default: return "is compressed in a way that this libdw cannot read";
	}
}

/* Whether it is .debug_sup of a file from which dwz --dwarf-5 moved parts out: libdw does not follow it. */
static bool is_sup(const char *name, Elf_Scn *scn)
{
	Elf_Data *data = strcmp(name, ".debug_sup") ? NULL : elf_rawdata(scn, NULL);
	return data && data->d_buf && data->d_size > 2 && !((const char *)data->d_buf)[2];
}

/* 1, 0 where it cannot be read, which is remarked, or -1 when memory is short. */
static int is_readable(struct jp_objfile *file, const struct jp_elffile *holder)
{
	size_t names;
	Elf_Scn *scn = NULL;
	Elf *elf = jp_elffile_debug(holder);
	if (elf_getshdrstrndx(elf, &names))
		return 1;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		if (!name || shdr.sh_type == SHT_NOBITS || !(is_needed(name) || is_sup(name, scn)))
			continue;
		const char *why = is_sup(name, scn) ? "names a file of shared parts (dwz --dwarf-5); that is not read"
		                                    : why_packed(elf, scn, &shdr);
		if (why) {
			jp_objfile_remark(file, "%s of %s %s", name, holder->object->path, why);
			return why == no_memory_to_unpack ? -1 : 0;
		}
	}
	return 1;
}

static bool has_units(Dwarf *dbg)
{
	Dwarf_CU *unit = NULL;
	return !dwarf_get_units(dbg, NULL, &unit, NULL, NULL, NULL, NULL);
}

int jp_dwarf_new(struct jp_objfile *file, const struct jp_elffile *holder, struct jp_dwarf **out)
{
	*out = NULL;
	Dwarf *dbg = dwarf_begin_elf(jp_elffile_debug(holder), DWARF_C_READ, NULL);
	int readable = is_readable(file, holder);
	if (readable <= 0 || !dbg || !has_units(dbg)) {
		dwarf_end(dbg);
		return readable < 0 ? -1 : 0;
	}
	struct jp_dwarf *dwarf = calloc(1, sizeof *dwarf);
	if (!dwarf) {
		dwarf_end(dbg);
		return -1;
	}
	*dwarf = (struct jp_dwarf){ .dbg = dbg, .holder = holder };
	*out = dwarf;
	return 0;
}

int jp_dwarf_set_shared(struct jp_dwarf *dwarf, const struct jp_elffile *shared)
{
	/* One that shares in turn would have libdw open another path. */
	dwarf->shared =
	    jp_elffile_shares(shared) ? NULL : dwarf_begin_elf(jp_elffile_debug(shared), DWARF_C_READ, NULL);
	if (!dwarf->shared)
		return -1;
	dwarf_setalt(dwarf->dbg, dwarf->shared);
	return 0;
}

void jp_dwarf_free(struct jp_dwarf *dwarf)
{
	if (!dwarf)
		return;
	dwarf_end(dwarf->dbg);
	dwarf_end(dwarf->shared);
	free(dwarf);
}

/* ---- the tree --------------------------------------------------------------------------------- */

/* Where two subprograms claim one address the first one keeps it, with what is inlined there. */
static void push_scope(struct dwarf_walk *walk, struct wanted *wanted, const Dwarf_Die *die, const void *function)
{
	bool inlined = die->addr != function;
	struct scope *outer = wanted->innermost;
	if (inlined ? !outer || outer->function != function || outer->depth >= max_inline_depth : outer != NULL)
		return;
	/* Ranges of one DIE may overlap; it still is one function. */
	if (outer && outer->die.addr == die->addr)
		return;
	struct scope *scope = jp_arena_alloc(&walk->arena, sizeof *scope);
	if (!scope) {
		walk->failed = true;
		return;
	}
	*scope = (struct scope){ *die, function, outer, inlined, outer ? outer->depth + 1 : 1 };
	wanted->innermost = scope;
}

/* Ranges of functions that the linker threw away begin at 0 or in no segment. */
static bool is_live(const struct dwarf_walk *walk, uint64_t start)
{
	return jp_objfile_is_code(walk->file, start);
}

/* Where a walk over the ranges of a DIE is. */
struct range_cursor {
	ptrdiff_t at;
	Dwarf_Addr base; /* libdw's, from one call to the next */
	struct jp_split_cursor split;
};

static bool next_range(const struct dwarf_walk *walk, Dwarf_Die *die, struct range_cursor *cursor,
                       struct jp_range *range)
{
	Dwarf_Addr start, end;
	if (walk->split)
		return jp_split_range_next(&walk->ranges, die, &cursor->split, range);
	cursor->at = dwarf_ranges(die, cursor->at, &cursor->base, &start, &end);
	if (cursor->at <= 0)
		return false;
	*range = (struct jp_range){ start, end };
	return true;
}

/* How many wanted addresses the DIE covers, or -1 if it has no addresses at all. With `function`,
 * the subprogram it is part of, it is put in front of the list of each. */
static long cover(struct dwarf_walk *walk, Dwarf_Die *die, const void *function)
{
	struct range_cursor cursor = { 0 };
	struct jp_range range;
	long hits = -1;
	while (next_range(walk, die, &cursor, &range)) {
		if (hits < 0)
			hits = 0;
		if (!is_live(walk, range.start))
			continue;
		for (size_t i = jp_count_below(walk->wanted, walk->count, sizeof *walk->wanted, range.start);
		     i < walk->count && walk->wanted[i].vaddr < range.end; i++) {
			hits++;
			if (function)
				push_scope(walk, &walk->wanted[i], die, function);
		}
	}
	return hits;
}

static void walk_children(struct dwarf_walk *walk, Dwarf_Die *parent, const void *function, unsigned depth);

/* The children of something that gives them a scope. */
static void walk_scope(struct dwarf_walk *walk, Dwarf_Die *die, const void *function, unsigned depth)
{
	const struct jp_dwarf_scope before = jp_dwarf_names_enter(&walk->names, die);
	walk_children(walk, die, function, depth);
	jp_dwarf_names_leave(&walk->names, &before);
}

/* `function` is the subprogram under way if it holds a wanted address. One that holds none is
 * still looked into: functions nested in it (of GNU C, Ada, or members of a local class) have
 * addresses of their own. */
static void visit_die(struct dwarf_walk *walk, Dwarf_Die *die, const void *function, unsigned depth)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		jp_dwarf_names_visit(&walk->names, die);
		walk_scope(walk, die, cover(walk, die, die->addr) > 0 ? die->addr : NULL, depth);
		break;
	case DW_TAG_inlined_subroutine:
		if (function && cover(walk, die, function) > 0)
			walk_children(walk, die, function, depth);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		/* A block may come without addresses of its own, and lambdas stand in blocks of functions that hold no
		 * wanted address. */
		if (function && cover(walk, die, NULL))
			walk_children(walk, die, function, depth);
		else if (walk->names.language == JP_DWARF_CPLUSPLUS)
			walk_children(walk, die, NULL, depth);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type: walk_scope(walk, die, NULL, depth); break;
	default: break;
	}
}

static void walk_children(struct dwarf_walk *walk, Dwarf_Die *parent, const void *function, unsigned depth)
{
	Dwarf_Die die;
	if (depth >= max_tree_depth || walk->failed || dwarf_child(parent, &die))
		return;
	do
		visit_die(walk, &die, function, depth + 1);
	while (!walk->failed && !dwarf_siblingof(&die, &die));
}

/* ---- answers ------------------------------------------------------------------------------------ */

/* The address's own line belongs to the innermost function; where that one was called is the
 * line of the next. */
static void answer_from_scopes(struct dwarf_walk *walk, struct wanted *wanted)
{
	struct jp_lookup *lookup = wanted->lookup;
	const char *file;
	unsigned line, count = wanted->innermost ? wanted->innermost->depth : 0;
	jp_dwarf_source_line(&walk->source, lookup->vaddr, &file, &line);
	if (!count && !file)
		return;
	struct jp_symframe *frames = jp_arena_alloc(&walk->file->arena, (count ? count : 1) * sizeof *frames);
	if (!frames) {
		walk->failed = true;
		return;
	}
	if (!count)
		frames[0] = (struct jp_symframe){ .file = file, .line = line };
	struct jp_symframe *frame = frames;
	for (struct scope *scope = wanted->innermost; scope; scope = scope->outer, frame++) {
		*frame = (struct jp_symframe){ .file = file, .line = line, .inlined = scope->inlined };
		jp_dwarf_names_put(&walk->names, &scope->die, frame);
		if (scope->inlined) {
			file = jp_dwarf_source_file(&walk->source, &scope->die, DW_AT_call_file);
			line = jp_dwarf_number(&scope->die, DW_AT_call_line);
		}
	}
	lookup->frames = frames;
	lookup->frame_count = count ? count : 1;
	if (count && frame[-1].name)
		lookup->source = JPROF_SOURCE_DWARF;
}

/* ---- units ---------------------------------------------------------------------------------------- */

static int want(struct dwarf_walk *walk, struct jp_lookup *lookup)
{
	if (lookup->source == JPROF_SOURCE_DWARF || lookup->pending)
		return 0;
	if (jp_array_push(walk->wanted, walk->count, walk->cap))
		return -1;
	walk->wanted[walk->count++] = (struct wanted){ .vaddr = lookup->vaddr, .lookup = lookup };
	return 0;
}

static int by_wanted_vaddr(const void *a, const void *b)
{
	const struct jp_lookup *x = ((const struct wanted *)a)->lookup, *y = ((const struct wanted *)b)->lookup;
	return jp_order(x, y);
}

/* Collects the lookups in the unit's ranges. `ranged` tells whether it has any. */
static int collect_wanted(struct dwarf_walk *walk, struct jp_lookup *lookups, size_t count, bool *ranged)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	*ranged = false;
	while ((at = dwarf_ranges(&walk->unit, at, &base, &start, &end)) > 0) {
		*ranged = true;
		if (!is_live(walk, start))
			continue;
		size_t lo = jp_count_below(lookups, count, sizeof *lookups, start);
		for (; lo < count && lookups[lo].vaddr < end; lo++)
			if (want(walk, &lookups[lo]))
				return -1;
	}
	if (walk->count)
		qsort(walk->wanted, walk->count, sizeof *walk->wanted, by_wanted_vaddr);
	return 0;
}

static int resolve_unit(struct dwarf_walk *walk)
{
	walk->source = jp_dwarf_source_of(&walk->file->arena, &walk->unit, &walk->skeleton);
	jp_dwarf_names_begin(&walk->names, &walk->source, &walk->unit);
	walk_children(walk, &walk->unit, NULL, 0);
	for (size_t i = 0; i < walk->count && !walk->failed; i++)
		answer_from_scopes(walk, &walk->wanted[i]);
	jp_arena_release(&walk->arena);
	if (walk->split)
		jp_dwarf_names_forget(&walk->names);
	return walk->failed || walk->names.failed || walk->source.failed ? -1 : 0;
}

/* Goes on from a skeleton to where its functions are. Without that its lines still are of use. */
static int resolve_split_unit(struct dwarf_walk *walk)
{
	struct jp_split_unit split;
	enum jp_split_state state;
	if (jp_splits_find(walk->splits, walk->holder, &walk->skeleton, &split, &state))
		return -1;
	if (state == JP_SPLIT_WANTED) {
		for (size_t i = 0; i < walk->count; i++) {
			walk->wanted[i].lookup->pending = true;
			walk->wanted[i].lookup->want = split.want;
		}
		return 0;
	}
	walk->split = state == JP_SPLIT_FOUND;
	jp_dwarf_names_forget(&walk->names);
	if (walk->split) {
		walk->unit = split.die;
		walk->ranges = split.ranges;
	}
	int rc = resolve_unit(walk);
	walk->split = false;
	return rc;
}

/* One pass over all units: those with ranges, or those without, which may hold anything. */
static int pass(struct dwarf_walk *walk, Dwarf *dbg, struct jp_lookup *lookups, size_t count, bool with_ranges)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	int rc = 0;
	while (!rc && !dwarf_get_units(dbg, unit, &unit, NULL, &type, &die, NULL)) {
		bool ranged;
		if (type != DW_UT_compile && type != DW_UT_skeleton)
			continue;
		walk->unit = walk->skeleton = die;
		walk->count = 0;
		rc = collect_wanted(walk, lookups, count, &ranged);
		for (size_t i = 0; !rc && !ranged && !with_ranges && i < count; i++)
			rc = want(walk, &lookups[i]);
		if (rc || ranged != with_ranges || !walk->count)
			continue;
		rc = type == DW_UT_skeleton ? resolve_split_unit(walk) : resolve_unit(walk);
	}
	return rc;
}

int jp_dwarf_lookup(struct jp_dwarf *dwarf, struct jp_objfile *file, struct jp_splits *splits,
                    struct jp_lookup *lookups, size_t count)
{
	struct dwarf_walk walk = { .file = file, .holder = dwarf->holder, .splits = splits };
	int rc = pass(&walk, dwarf->dbg, lookups, count, true);
	bool left = false;
	for (size_t i = 0; i < count; i++)
		left = left || (lookups[i].source != JPROF_SOURCE_DWARF && !lookups[i].pending);
	if (!rc && left)
		rc = pass(&walk, dwarf->dbg, lookups, count, false);
	free(walk.wanted);
	jp_dwarf_names_release(&walk.names);
	return rc;
}
