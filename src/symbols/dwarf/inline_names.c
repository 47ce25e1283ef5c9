/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instance of a function refers to its abstract origin, a definition to its declaration. One
 * of these entries has a linkage name, or else a name. Many instances refer to the same entry, so
 * its name is cached.
 */
#include "symbols/dwarf/inline_private.h"

#include <dwarf.h>

enum { MAX_WAY = 16, NAME_STEPS = 16 };

static const char *text_of(struct inline_maker *m, Dwarf_Attribute *attr)
{
	if (!attr->valp)
		return NULL;
	attr->cu = m->unit.die.cu;
	return dwarf_formstring(attr);
}

static const char *attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static bool follow(Dwarf_Die *die, unsigned int name, Dwarf_Die *to)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) && dwarf_formref_die(&attr, to);
}

/* The name found from an entry; NULL: it has none. */
static const char *find_name(Dwarf_Die *from)
{
	Dwarf_Die die = *from, next;
	const char *name = NULL, *linkage;

	for (int i = 0; i < MAX_WAY; i++) {
		linkage = attribute(&die, DW_AT_linkage_name);
		if (!linkage)
			linkage = attribute(&die, DW_AT_MIPS_linkage_name);
		if (linkage)
			return linkage;
		if (!name)
			name = attribute(&die, DW_AT_name);
		if (!follow(&die, DW_AT_abstract_origin, &next) && !follow(&die, DW_AT_specification, &next))
			break;
		die = next;
	}
	return name;
}

/* The key is the name's address in the file, where linkers store equal strings once. */
static int put_name(struct inline_maker *m, const char *name, uint32_t *at)
{
	*at = 0;
	if (!name || strings_find(&m->strings, name, at))
		return 0;
	return strings_put(&m->strings, name, dwarf_file_demangle(m->file, name), at);
}

static int name_of_origin(struct inline_maker *m, Dwarf_Die *origin, uint32_t *at)
{
	int rc;

	if (strings_find(&m->strings, origin->addr, at))
		return 0;
	rc = inline_work_(m, NAME_STEPS);
	if (!rc)
		rc = put_name(m, find_name(origin), at);
	return rc ? rc : strings_alias(&m->strings, origin->addr, *at);
}

int inline_name_(struct inline_maker *m, struct die *die, uint32_t *at)
{
	const char *name = text_of(m, &die->parts[DIE_LINKAGE_NAME]);
	int rc;

	*at = 0;
	if (name)
		return put_name(m, name, at);
	for (int part = DIE_ORIGIN; part <= DIE_SPECIFICATION; part++) {
		Dwarf_Attribute *attr = &die->parts[part];
		Dwarf_Die origin;

		attr->cu = m->unit.die.cu;
		if (!attr->valp || !dwarf_formref_die(attr, &origin))
			continue;
		rc = name_of_origin(m, &origin, at);
		if (rc || *at)
			return rc;
	}
	return put_name(m, text_of(m, &die->parts[DIE_NAME]), at);
}
