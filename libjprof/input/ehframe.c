/* Format: Linux Standard Base, "Exception Frames". Records of .eh_frame:
 *
 *   length (u32; 0 ends, 0xffffffff: a u64 follows), id (u32), ...
 *   id 0: a CIE: version, augmentation string, alignments, ... and in its augmentation data (R)
 *         how the pointers of its FDEs are encoded
 *   else: an FDE; id is the distance back to its CIE; first address and length of a function
 *
 * .eh_frame_hdr has a table of (first address, FDE address), sorted, for binary search. Where it
 * has none the records are walked once. */
#include "input/ehframe.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/reader.h"
#include "base/search.h"

/* Pointer encodings, DW_EH_PE_* of the standard. */
enum { longest_cie = 4096 };

enum {
	pe_absptr = 0x00,
	pe_uleb128 = 0x01,
	pe_udata2 = 0x02,
	pe_udata4 = 0x03,
	pe_udata8 = 0x04,
	pe_sleb128 = 0x09,
	pe_sdata2 = 0x0a,
	pe_sdata4 = 0x0b,
	pe_sdata8 = 0x0c,
	pe_pcrel = 0x10,
	pe_datarel = 0x30,
	pe_indirect = 0x80,
	pe_omit = 0xff,
	pe_format = 0x0f,
	pe_base = 0x70,
};

/* A section's bytes and where they are in the image. */
struct section {
	struct jp_bytes bytes;
	uint64_t vaddr;
};

struct jp_ehframe {
	struct section frames; /* .eh_frame */
	struct section header; /* .eh_frame_hdr */
	unsigned word;         /* bytes of an address */
	uint64_t table;        /* position of the search table in the header, 0: none */
	uint64_t table_count;
	struct jp_codebounds *walked; /* used when there is no table; by start */
	size_t walked_count, walked_cap;
};

static uint64_t read_encoded(struct jp_bytes *b, unsigned format, unsigned word)
{
	switch (format) {
	case pe_absptr: return jp_bytes_uint(b, word);
	case pe_uleb128: return jp_bytes_uleb(b);
	case pe_udata2: return jp_bytes_uint(b, 2);
	case pe_udata4: return jp_bytes_uint(b, 4);
	case pe_udata8: return jp_bytes_uint(b, 8);
	case pe_sleb128: return (uint64_t)jp_bytes_sleb(b);
	case pe_sdata2: return (uint64_t)jp_bytes_sint(b, 2);
	case pe_sdata4: return (uint64_t)jp_bytes_sint(b, 4);
	case pe_sdata8: return (uint64_t)jp_bytes_sint(b, 8);
	}
	b->bad = true;
	return 0;
}

/* A pointer at b's position in section `s`; one that must be fetched from memory is refused. */
static uint64_t read_pointer(struct jp_bytes *b, const struct section *s, unsigned encoding, unsigned word)
{
	uint64_t here = s->vaddr + b->pos;
	uint64_t value = read_encoded(b, encoding & pe_format, word);
	switch (encoding & pe_base) {
	case 0: break;
	case pe_pcrel: value += here; break;
	case pe_datarel: value += s->vaddr; break;
	default: b->bad = true;
	}
	if (encoding & pe_indirect)
		b->bad = true;
	return word == 4 ? (uint32_t)value : value;
}

/* A record's head; leaves b behind the id. `end` is where the next one starts. */
struct record {
	uint64_t id_pos, id, end;
};

static bool read_record(struct jp_bytes *b, struct record *record)
{
	uint64_t length = jp_bytes_uint(b, 4);
	if (length == 0xffffffff)
		length = jp_bytes_uint(b, 8);
	record->id_pos = b->pos;
	if (b->bad || !length || length > b->len - b->pos)
		return false;
	record->end = b->pos + length;
	record->id = jp_bytes_uint(b, 4);
	return !b->bad;
}

/* How the FDEs of the CIE at `pos` write pointers; pe_omit if that cannot be known. */
static unsigned cie_encoding(const struct jp_ehframe *e, uint64_t pos)
{
	struct jp_bytes b = e->frames.bytes;
	struct record record;
	jp_bytes_seek(&b, pos);
	if (b.bad || !read_record(&b, &record) || record.id)
		return pe_omit;
	b.len = (size_t)record.end - b.pos < longest_cie ? (size_t)record.end : b.pos + longest_cie;
	unsigned version = (unsigned)jp_bytes_uint(&b, 1), encoding = pe_absptr;
	const char *augmentation = jp_bytes_cstr(&b);
	if (!augmentation || *augmentation != 'z')
		return augmentation && !*augmentation ? pe_absptr : pe_omit;
	jp_bytes_uleb(&b); /* code alignment */
	jp_bytes_sleb(&b); /* data alignment */
	if (version == 1)
		jp_bytes_uint(&b, 1);
	else
		jp_bytes_uleb(&b); /* return address register */
	jp_bytes_uleb(&b);         /* length of the augmentation data */
	for (const char *a = augmentation + 1; *a && !b.bad; a++) {
		if (*a == 'R')
			encoding = (unsigned)jp_bytes_uint(&b, 1);
		else if (*a == 'L')
			jp_bytes_uint(&b, 1);
		else if (*a == 'P') {
			/* The personality routine is only skipped, wherever it points to. */
			unsigned personality = (unsigned)jp_bytes_uint(&b, 1);
			read_encoded(&b, personality & pe_format, e->word);
		} else if (*a != 'S' && *a != 'B')
			break;
	}
	return b.bad ? pe_omit : encoding;
}

/* The bounds of the FDE whose record head was just read. */
static bool fde_bounds(const struct jp_ehframe *e, struct jp_bytes b, const struct record *record,
                       struct jp_codebounds *bounds)
{
	if (!record->id || record->id > record->id_pos)
		return false;
	unsigned encoding = cie_encoding(e, record->id_pos - record->id);
	if (encoding == pe_omit)
		return false;
	b.len = (size_t)record->end;
	bounds->start = read_pointer(&b, &e->frames, encoding, e->word);
	uint64_t length = read_encoded(&b, encoding & pe_format, e->word);
	return !b.bad && !__builtin_add_overflow(bounds->start, length, &bounds->end);
}

static bool bounds_at(const struct jp_ehframe *e, uint64_t fde_vaddr, struct jp_codebounds *bounds)
{
	struct jp_bytes b = e->frames.bytes;
	struct record record;
	jp_bytes_seek(&b, fde_vaddr - e->frames.vaddr);
	return !b.bad && read_record(&b, &record) && fde_bounds(e, b, &record, bounds);
}

/* ---- set-up ------------------------------------------------------------------------------------ */

static bool load_section(Elf_Scn *scn, const GElf_Shdr *shdr, struct section *section)
{
	Elf_Data *data = shdr->sh_type == SHT_NOBITS ? NULL : elf_rawdata(scn, NULL);
	if (!data || !data->d_buf)
		return false;
	section->bytes.data = data->d_buf;
	section->bytes.len = data->d_size;
	section->vaddr = shdr->sh_addr;
	return true;
}

static void load_sections(struct jp_ehframe *e, Elf *elf)
{
	size_t names;
	Elf_Scn *scn = NULL;
	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;
		if (!name)
			continue;
		if (!strcmp(name, ".eh_frame"))
			load_section(scn, &shdr, &e->frames);
		else if (!strcmp(name, ".eh_frame_hdr"))
			load_section(scn, &shdr, &e->header);
	}
}

/* Only the table that every linker writes is used: version 1, pairs of sdata4 relative to the header. */
static void find_table(struct jp_ehframe *e)
{
	struct jp_bytes *b = &e->header.bytes;
	unsigned version = (unsigned)jp_bytes_uint(b, 1), frame_ptr = (unsigned)jp_bytes_uint(b, 1);
	unsigned count = (unsigned)jp_bytes_uint(b, 1), table = (unsigned)jp_bytes_uint(b, 1);
	if (b->bad || version != 1 || table != (pe_datarel | pe_sdata4) || count == pe_omit)
		return;
	read_pointer(b, &e->header, frame_ptr, e->word);
	e->table_count = read_pointer(b, &e->header, count, e->word);
	if (!b->bad && e->table_count && e->table_count <= (b->len - b->pos) / 8)
		e->table = b->pos;
}

static int by_fde_start(const void *a, const void *b)
{
	const struct jp_codebounds *x = a, *y = b;
	return jp_order_by(x->start, y->start, jp_order(x->end, y->end));
}

static int walk_records(struct jp_ehframe *e)
{
	struct jp_bytes b = e->frames.bytes;
	struct record record;
	while (b.pos < b.len && read_record(&b, &record)) {
		struct jp_codebounds bounds;
		if (fde_bounds(e, b, &record, &bounds)) {
			if (jp_array_push(e->walked, e->walked_count, e->walked_cap))
				return -1;
			e->walked[e->walked_count++] = bounds;
		}
		jp_bytes_seek(&b, record.end);
	}
	if (e->walked_count)
		qsort(e->walked, e->walked_count, sizeof *e->walked, by_fde_start);
	return 0;
}

int jp_ehframe_walk(struct jp_bytes frames, uint64_t vaddr, unsigned word, struct jp_codebounds **bounds, size_t *count)
{
	struct jp_ehframe e = { .frames = { frames, vaddr }, .word = word };
	int rc = walk_records(&e);
	*bounds = e.walked;
	*count = e.walked_count;
	return rc;
}

struct jp_ehframe *jp_ehframe_new(Elf *elf)
{
	struct jp_ehframe *e = calloc(1, sizeof *e);
	size_t size;
	const char *ident = elf_getident(elf, &size);
	if (!e || !ident || size < EI_NIDENT)
		return e;
	e->word = ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	e->frames.bytes.big_endian = e->header.bytes.big_endian = ident[EI_DATA] == ELFDATA2MSB;
	load_sections(e, elf);
	if (!e->frames.bytes.data)
		return e;
	if (e->header.bytes.data)
		find_table(e);
	if (!e->table && walk_records(e)) {
		jp_ehframe_free(e);
		return NULL;
	}
	return e;
}

/* ---- asking -------------------------------------------------------------------------------------- */

/* Field 0 or 1 of the table's i-th pair: an address relative to the header. */
static uint64_t table_entry(const struct jp_ehframe *e, uint64_t i, unsigned field)
{
	struct jp_bytes b = e->header.bytes;
	jp_bytes_seek(&b, e->table + i * 8 + field * 4);
	uint64_t value = e->header.vaddr + (uint64_t)jp_bytes_sint(&b, 4);
	return e->word == 4 ? (uint32_t)value : value;
}

static bool find_in_table(const struct jp_ehframe *e, uint64_t vaddr, struct jp_codebounds *bounds)
{
	uint64_t lo = 0, hi = e->table_count;
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;
		if (table_entry(e, mid, 0) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && bounds_at(e, table_entry(e, lo - 1, 1), bounds);
}

static bool find_in_walked(const struct jp_ehframe *e, uint64_t vaddr, struct jp_codebounds *bounds)
{
	const struct jp_codebounds *last = jp_last_up_to(e->walked, e->walked_count, sizeof *e->walked, vaddr);
	if (last)
		*bounds = *last;
	return last;
}

bool jp_ehframe_find(const struct jp_ehframe *e, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	struct jp_codebounds bounds;
	bool found = e->table ? find_in_table(e, vaddr, &bounds) : find_in_walked(e, vaddr, &bounds);
	if (!found || vaddr < bounds.start || vaddr >= bounds.end)
		return false;
	*start = bounds.start;
	*end = bounds.end;
	return true;
}

void jp_ehframe_free(struct jp_ehframe *e)
{
	if (e)
		free(e->walked);
	free(e);
}
