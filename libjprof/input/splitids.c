#include "input/splitids.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

/* DW_UT_skeleton, DW_UT_split_compile. */
enum unit_kind { skeleton_unit = 4, split_unit = 5 };

enum { longest_header = 12 + 2 + 1 + 1 + 8 + 8, most_index_bytes = 64 << 20 };

static int add_split_id(struct jp_split_ids *ids, uint64_t id)
{
	if (jp_array_push(ids->ids, ids->count, ids->cap))
		return -1;
	ids->ids[ids->count++] = id;
	return 0;
}

static void sort_split_ids(struct jp_split_ids *ids)
{
	if (ids->count)
		qsort(ids->ids, ids->count, sizeof *ids->ids, jp_by_first);
}

/* ---- headers of units --------------------------------------------------------------------------- */

/* A section, of which a part is in memory. */
struct unit_window {
	int fd;
	const struct jp_elf_section *section;
	bool big_endian;
	unsigned char part[1 << 14];
	uint64_t begins; /* where the part does in the section */
	size_t len;
};

/* What stands at `at` of the section, as much as a header takes at most. */
static struct jp_bytes unit_header_at(struct unit_window *w, uint64_t at)
{
	uint64_t rest = w->section->size - at;
	size_t wanted = rest < longest_header ? (size_t)rest : (size_t)longest_header;
	if (at < w->begins || at + wanted > w->begins + w->len) {
		w->begins = at;
		w->len = rest < sizeof w->part ? (size_t)rest : sizeof w->part;
		if (w->section->offset > UINT64_MAX - at ||
		    !jp_elf_read_at(w->fd, w->section->offset + at, w->part, w->len))
			w->len = 0;
	}
	if (!w->len)
		wanted = 0;
	return (struct jp_bytes){ .data = w->part + (at - w->begins), .len = wanted, .big_endian = w->big_endian };
}

/* Adds the unit at *at, and goes on to the next. False where it is damaged or of DWARF 4. */
static bool next_unit(struct unit_window *w, uint64_t *at, unsigned *kind, uint64_t *id)
{
	struct jp_bytes in = unit_header_at(w, *at);
	uint64_t len = jp_bytes_uint(&in, 4);
	unsigned word = 4;
	if (len == UINT32_MAX) {
		len = jp_bytes_uint(&in, 8);
		word = 8;
	}
	uint64_t begins = *at + in.pos, version = jp_bytes_uint(&in, 2);
	*kind = (unsigned)jp_bytes_uint(&in, 1);
	jp_bytes_seek(&in, in.pos + 1 + word); /* size of addresses, abbreviations */
	if (in.bad || version != 5 || len > w->section->size - begins || !len)
		return false;
	*at = begins + len;
	*id = *kind == skeleton_unit || *kind == split_unit ? jp_bytes_uint(&in, 8) : 0;
	return !in.bad;
}

static int read_units(int fd, const struct jp_elf_headers *h, const struct jp_elf_section *section,
                      enum unit_kind wanted, struct jp_split_ids *ids)
{
	struct unit_window w = { .fd = fd, .section = section, .big_endian = h->big_endian };
	uint64_t at = 0, id;
	unsigned kind;
	ids->known = !(section->flags & SHF_COMPRESSED);
	while (ids->known && at < section->size) {
		ids->known = next_unit(&w, &at, &kind, &id);
		if (ids->known && kind == wanted && add_split_id(ids, id))
			return -1;
	}
	return 0;
}

/* There may be several such sections: units of types have their own. */
static int read_unit_sections(int fd, const struct jp_elf_headers *h, const char *name, enum unit_kind wanted,
                              struct jp_split_ids *ids)
{
	bool all = true, any = false;
	for (size_t i = 0; i < h->section_count; i++) {
		const struct jp_elf_section *s = &h->sections[i];
		if (strcmp(s->name, name) || s->type == SHT_NOBITS)
			continue;
		if (read_units(fd, h, s, wanted, ids))
			return -1;
		all = all && ids->known;
		any = true;
	}
	ids->known = any && all;
	sort_split_ids(ids);
	return 0;
}

int jp_split_ids_of_skeletons(int fd, const struct jp_elf_headers *h, struct jp_split_ids *ids)
{
	return read_unit_sections(fd, h, ".debug_info", skeleton_unit, ids);
}

int jp_split_ids_of_units(int fd, const struct jp_elf_headers *h, struct jp_split_ids *ids)
{
	return read_unit_sections(fd, h, ".debug_info.dwo", split_unit, ids);
}

/* ---- packages ----------------------------------------------------------------------------------- */

/* Version (DWARF 5 has it in two bytes, the extension of DWARF 4 in four), numbers of columns, units and slots; then
 * the ids of all slots, 0 in one that is not used. */
int jp_split_ids_of_package(int fd, const struct jp_elf_headers *h, struct jp_split_ids *ids)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jp_bytes in;
	const struct jp_elf_section *s = jp_elf_section_find(h, ".debug_cu_index", SHT_NULL);
	if (!s || s->flags & SHF_COMPRESSED || !jp_elf_section_read(fd, h, s, most_index_bytes, &text, &in))
		return 0;
	if (text.failed)
		return -1;
	jp_bytes_seek(&in, 12);
	uint64_t slots = jp_bytes_uint(&in, 4);
	for (uint64_t i = 0; i < slots && !in.bad; i++) {
		uint64_t id = jp_bytes_uint(&in, 8);
		if (id && add_split_id(ids, id))
			return -1;
	}
	ids->known = !in.bad;
	sort_split_ids(ids);
	return 0;
}

/* ---- all of them -------------------------------------------------------------------------------- */

bool jp_split_ids_have(const struct jp_split_ids *ids, uint64_t id)
{
	return ids->count && bsearch(&id, ids->ids, ids->count, sizeof id, jp_by_first);
}

void jp_split_ids_release(struct jp_split_ids *ids)
{
	free(ids->ids);
	*ids = (struct jp_split_ids){ 0 };
}
