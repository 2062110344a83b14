#include "input/splitranges.h"

#include <dwarf.h>

#include "input/dwpackage.h"

/* ---- where tables are --------------------------------------------------------------------------- */

static struct jp_bytes table_of(const struct jp_elffile *file, const char *section)
{
	const Elf_Data *data = jp_elffile_section(file, section);
	return (struct jp_bytes){ .data = data ? data->d_buf : NULL,
		                  .len = data && data->d_buf ? data->d_size : 0,
		                  .big_endian = file->object->headers.big_endian };
}

/* A section of a .dwo file, which may be named as by compilers or, compressed, as by older ones. */
static struct jp_bytes split_table(const struct jp_elffile *file, const char *plain, const char *packed)
{
	struct jp_bytes bytes = table_of(file, plain);
	return bytes.len ? bytes : table_of(file, packed);
}

/* A number that the skeleton gives by one of two names; 0: none. */
static uint64_t skeleton_number(Dwarf_Die *skeleton, unsigned name, unsigned gnu)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;
	bool given = dwarf_attr(skeleton, name, &attr) || dwarf_attr(skeleton, gnu, &attr);
	return given && !dwarf_formudata(&attr, &value) ? value : 0;
}

/* The end of the header that stands there, behind which lists have their numbers. */
static uint64_t end_of_header(struct jp_bytes lists, uint64_t at)
{
	jp_bytes_seek(&lists, at);
	if (jp_bytes_uint(&lists, 4) == UINT32_MAX)
		jp_bytes_uint(&lists, 8);
	jp_bytes_uint(&lists, 8); /* version, sizes, count */
	return lists.bad ? UINT64_MAX : lists.pos;
}

void jp_split_ranges_init(struct jp_split_ranges *r, const struct jp_elffile *holder, Dwarf_Die *skeleton,
                          const struct jp_elffile *split, Dwarf_Die *unit)
{
	Dwarf_Half version = 0;
	uint8_t address_size = 0, offset_size = 0;
	Dwarf_Addr base = 0;
	dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, &address_size, &offset_size);
	if (dwarf_lowpc(skeleton, &base))
		base = 0;
	*r = (struct jp_split_ranges){ .info = split_table(split, ".debug_info.dwo", ".zdebug_info.dwo"),
		                       .addresses = split_table(holder, ".debug_addr", ".zdebug_addr"),
		                       .first_address = skeleton_number(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base),
		                       .base = base,
		                       .version = version,
		                       .address_size = address_size,
		                       .offset_size = offset_size };
	if (version < 5) {
		r->lists = split_table(holder, ".debug_ranges", ".zdebug_ranges");
		r->first_list = skeleton_number(skeleton, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
	} else if (jp_dwpackage_lists(unit->cu, &r->first_list)) {
		r->lists = split_table(split, ".debug_rnglists.dwo", ".zdebug_rnglists.dwo");
		r->first_index = end_of_header(r->lists, r->first_list);
	}
}

/* ---- attributes --------------------------------------------------------------------------------- */

static bool address_at(const struct jp_split_ranges *r, uint64_t index, uint64_t *address)
{
	struct jp_bytes bytes = r->addresses;
	uint64_t at;
	if (__builtin_mul_overflow(index, (uint64_t)r->address_size, &at) ||
	    __builtin_add_overflow(at, r->first_address, &at))
		return false;
	jp_bytes_seek(&bytes, at);
	*address = jp_bytes_uint(&bytes, r->address_size);
	return !bytes.bad;
}

static bool is_index(unsigned form)
{
	switch (form) {
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index: return true;
	default: return false;
	}
}

static bool address_of(const struct jp_split_ranges *r, Dwarf_Attribute *attr, uint64_t *address)
{
	Dwarf_Word index;
	Dwarf_Addr direct;
	if (is_index(attr->form))
		return !dwarf_formudata(attr, &index) && address_at(r, index, address);
	if (dwarf_formaddr(attr, &direct))
		return false;
	*address = direct;
	return true;
}

/* DW_AT_low_pc and DW_AT_high_pc; the latter is a length unless it is an address. */
static bool whole_range(const struct jp_split_ranges *r, Dwarf_Die *die, struct jp_range *range)
{
	Dwarf_Attribute low, high;
	Dwarf_Word len;
	if (!dwarf_attr(die, DW_AT_low_pc, &low) || !dwarf_attr(die, DW_AT_high_pc, &high) ||
	    !address_of(r, &low, &range->start))
		return false;
	if (is_index(high.form) || high.form == DW_FORM_addr)
		return address_of(r, &high, &range->end);
	return !dwarf_formudata(&high, &len) && !__builtin_add_overflow(range->start, len, &range->end);
}

/* An offset as it stands in the DIE: libdw would look for its section in the .dwo file. */
static bool offset_of(const struct jp_split_ranges *r, const Dwarf_Attribute *attr, uint64_t *offset)
{
	struct jp_bytes bytes = r->info;
	bool inside = bytes.data && attr->valp >= bytes.data && attr->valp < bytes.data + bytes.len;
	unsigned size = attr->form == DW_FORM_data4 ? 4 : attr->form == DW_FORM_data8 ? 8 : r->offset_size;
	if (!inside)
		return false;
	jp_bytes_seek(&bytes, (uint64_t)(attr->valp - bytes.data));
	*offset = jp_bytes_uint(&bytes, size);
	return !bytes.bad;
}

/* Where the list of the DIE's ranges begins. */
static bool list_of(const struct jp_split_ranges *r, Dwarf_Die *die, uint64_t *at)
{
	Dwarf_Attribute attr;
	Dwarf_Word number;
	struct jp_bytes index = r->lists;
	if (!dwarf_attr(die, DW_AT_ranges, &attr))
		return false;
	if (attr.form != DW_FORM_rnglistx)
		return offset_of(r, &attr, at) && !__builtin_add_overflow(*at, r->first_list, at);
	if (dwarf_formudata(&attr, &number) || __builtin_mul_overflow(number, (uint64_t)r->offset_size, &number) ||
	    __builtin_add_overflow(number, r->first_index, &number))
		return false;
	jp_bytes_seek(&index, number);
	*at = jp_bytes_uint(&index, r->offset_size);
	return !index.bad && !__builtin_add_overflow(*at, r->first_index, at);
}

/* ---- lists -------------------------------------------------------------------------------------- */

/* Of DWARF 4: pairs; the largest address as the first of them sets the base. */
static bool next_pair(const struct jp_split_ranges *r, struct jp_split_cursor *c, struct jp_range *range)
{
	uint64_t largest = r->address_size == 8 ? UINT64_MAX : UINT32_MAX;
	for (;;) {
		uint64_t start = jp_bytes_uint(&c->list, r->address_size),
			 end = jp_bytes_uint(&c->list, r->address_size);
		if (c->list.bad || (!start && !end))
			return false;
		if (start != largest) {
			*range = (struct jp_range){ start + c->base, end + c->base };
			return true;
		}
		c->base = end;
	}
}

/* An address by its number. */
static uint64_t next_address(const struct jp_split_ranges *r, struct jp_split_cursor *c)
{
	uint64_t address = 0;
	c->list.bad = !address_at(r, jp_bytes_uleb(&c->list), &address) || c->list.bad;
	return address;
}

/* One entry of DWARF 5; false if it is no range. */
static bool read_entry(const struct jp_split_ranges *r, struct jp_split_cursor *c, struct jp_range *range)
{
	switch (jp_bytes_uint(&c->list, 1)) {
	case DW_RLE_base_addressx: c->base = next_address(r, c); return false;
	case DW_RLE_base_address: c->base = jp_bytes_uint(&c->list, r->address_size); return false;
	case DW_RLE_startx_endx:
		range->start = next_address(r, c);
		range->end = next_address(r, c);
		return true;
	case DW_RLE_startx_length:
		range->start = next_address(r, c);
		range->end = range->start + jp_bytes_uleb(&c->list);
		return true;
	case DW_RLE_offset_pair:
		range->start = c->base + jp_bytes_uleb(&c->list);
		range->end = c->base + jp_bytes_uleb(&c->list);
		return true;
	case DW_RLE_start_end:
		range->start = jp_bytes_uint(&c->list, r->address_size);
		range->end = jp_bytes_uint(&c->list, r->address_size);
		return true;
	case DW_RLE_start_length:
		range->start = jp_bytes_uint(&c->list, r->address_size);
		range->end = range->start + jp_bytes_uleb(&c->list);
		return true;
	default: /* DW_RLE_end_of_list, or none that is known */ c->list.bad = true; return false;
	}
}

static bool next_entry(const struct jp_split_ranges *r, struct jp_split_cursor *c, struct jp_range *range)
{
	while (!c->list.bad)
		if (read_entry(r, c, range))
			return !c->list.bad;
	return false;
}

bool jp_split_range_next(const struct jp_split_ranges *r, Dwarf_Die *die, struct jp_split_cursor *c,
                         struct jp_range *range)
{
	uint64_t at = 0;
	if (c->done)
		return false;
	if (!c->begun) {
		c->begun = true;
		c->done = whole_range(r, die, range);
		if (c->done)
			return true;
		c->list = r->lists;
		c->base = r->base;
		c->done = !list_of(r, die, &at);
		jp_bytes_seek(&c->list, c->done ? 0 : at);
	}
	c->done = c->done || !(r->version < 5 ? next_pair(r, c, range) : next_entry(r, c, range));
	return !c->done;
}
