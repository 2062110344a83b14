#include "input/dwpackage.h"

#include <dwarf.h>

bool jp_dwpackage_readable(void)
{
	return true;
}

bool jp_dwpackage_lists(Dwarf_CU *unit, uint64_t *offset)
{
	Dwarf_Off at = 0;
	bool known = !dwarf_cu_dwp_section_info(unit, DW_SECT_RNGLISTS, &at, NULL);
	*offset = at;
	return known;
}
