/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An instance of a function refers to its abstract origin, a definition to its declaration. One
 * of these entries has a linkage name, or else a name, to which inline_scopes.c adds its scope. Many
 * instances refer to the same entry, so its name is cached.
 */
#include "symbols/dwarf/inline_private.h"

#include "base/room.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

enum { MAX_WAY = 16, NAME_STEPS = 16 };

static const char *text_of(struct inline_maker *m, Dwarf_Attribute *attr)
{
	if (!attr->valp)
		return NULL;
	attr->cu = m->unit.die.cu;
	return die_text(attr);
}

static const char *attribute(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) ? die_text(&attr) : NULL;
}

static bool follow(Dwarf_Die *die, unsigned int name, Dwarf_Die *to)
{
	Dwarf_Attribute attr;

	return dwarf_attr(die, name, &attr) && dwarf_formref_die(&attr, to);
}

void inline_find_declaration_(Dwarf_Die *die)
{
	Dwarf_Die next;

	for (int i = 0; i < MAX_WAY && (follow(die, DW_AT_abstract_origin, &next) || follow(die, DW_AT_specification, &next)); i++)
		*die = next;
}

const char *inline_find_name_(Dwarf_Die *die, bool *whole)
{
	const char *name = NULL, *linkage;
	Dwarf_Die next;

	*whole = true;
	for (int i = 0; i < MAX_WAY; i++) {
		linkage = attribute(die, DW_AT_linkage_name);
		if (!linkage)
			linkage = attribute(die, DW_AT_MIPS_linkage_name);
		if (linkage)
			return linkage;
		if (!name)
			name = attribute(die, DW_AT_name);
		if (!follow(die, DW_AT_abstract_origin, &next) && !follow(die, DW_AT_specification, &next))
			break;
		*die = next;
	}
	*whole = false;
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

/* Some compilers give lambdas linkage names, with a number instead of a place: _ZZ4mainENK3$_0clEv */
static bool may_be_lambda(const char *linkage)
{
	return linkage && !strncmp(linkage, "_ZZ", 3) && strstr(linkage, "cl") && (strstr(linkage, "$_") || strstr(linkage, "Ul"));
}

/* An entry's name without its scope: that is added when all scopes are known. */
static int put_unscoped(struct inline_maker *m, Dwarf_Die *die, const char *name, uint32_t *at)
{
	if (!m->scoped || !name || (const uint8_t *)die->addr < m->unit.begin || (const uint8_t *)die->addr >= m->unit.end)
		return put_name(m, name, at);
	if (!ROOM_FOR(m->unscoped, m->unscoped_cap, m->nunscoped, 1))
		return -ENOMEM;
	*at = UNSCOPED | (uint32_t)m->nunscoped;
	m->unscoped[m->nunscoped++] = *die;
	return 0;
}

static int name_of_origin(struct inline_maker *m, Dwarf_Die *origin, uint32_t *at)
{
	Dwarf_Die die = *origin;
	const char *name;
	bool whole;
	int rc;

	if (strings_find(&m->strings, origin->addr, at))
		return 0;
	rc = inline_work_(m, NAME_STEPS);
	name = rc ? NULL : inline_find_name_(&die, &whole);
	if (!rc)
		rc = whole && !may_be_lambda(name) ? put_name(m, name, at) : put_unscoped(m, &die, name, at);
	return rc ? rc : strings_alias(&m->strings, origin->addr, *at);
}

int inline_name_(struct inline_maker *m, struct die *die, const uint8_t *entry, uint32_t *at)
{
	const char *name = text_of(m, &die->parts[DIE_LINKAGE_NAME]);
	Dwarf_Die own = { .addr = (void *)(uintptr_t)entry, .cu = m->unit.die.cu };
	int rc;

	*at = 0;
	if (name)
		return may_be_lambda(name) ? put_unscoped(m, &own, name, at) : put_name(m, name, at);
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
	return put_unscoped(m, &own, text_of(m, &die->parts[DIE_NAME]), at);
}
