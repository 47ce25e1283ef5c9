/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/text.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stddef.h>

static bool is_indexed(unsigned int form)
{
	return form == DW_FORM_strx || (form >= DW_FORM_strx1 && form <= DW_FORM_strx4) || form == DW_FORM_GNU_str_index;
}

/* libdw 0.188 takes an index whose offset is just the size of .debug_str. */
static bool is_in_section(Dwarf *dwarf, const char *text)
{
	size_t len;
	const char *first = dwarf_getstring(dwarf, 0, &len);

	return first && text >= first && dwarf_getstring(dwarf, (Dwarf_Off)(text - first), &len);
}

const char *die_text(Dwarf_Attribute *attr)
{
	const char *text = dwarf_formstring(attr);

	return !text || !is_indexed(dwarf_whatform(attr)) || is_in_section(dwarf_cu_getdwarf(attr->cu), text) ? text : NULL;
}

const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_name, &attr) ? die_text(&attr) : NULL;
}
