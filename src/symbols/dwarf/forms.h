/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The abbreviations of a compile unit, compiled to steps for walking its entries in place: some
 * 20 ns per entry; libdw takes several hundred.
 */
#ifndef SYMBOLS_DWARF_FORMS_H
#define SYMBOLS_DWARF_FORMS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Attributes of functions that are used. */
enum die_part {
	DIE_LOW_PC, DIE_HIGH_PC, DIE_RANGES, DIE_ORIGIN, DIE_SPECIFICATION, DIE_LINKAGE_NAME, DIE_NAME,
	DIE_CALL_FILE, DIE_CALL_LINE, DIE_PARTS,
};

/* Encoding of a unit. */
struct dwarf_sizes {
	uint8_t address, offset;
	uint16_t version;
	bool swapped;            /* its byte order differs from ours */
};

struct die {
	Dwarf_Attribute parts[DIE_PARTS];    /* valp NULL: missing, or in `constants` */
	int64_t constants[DIE_PARTS];        /* DW_FORM_implicit_const of the abbreviation */
};

struct abbrevs;
struct abbrev;

/* The table referred to by the unit's first entry. NULL with errno: ENOEXEC: malformed, ENOMEM. */
struct abbrevs *abbrevs_read(Dwarf_Die *unit, const struct dwarf_sizes *sizes);
void abbrevs_free(struct abbrevs *a);
size_t abbrevs_bytes(const struct abbrevs *a);
/* Whether it was made for a unit of this encoding. */
bool abbrevs_are_for(const struct abbrevs *a, const struct dwarf_sizes *sizes);
/* NULL: no such code. */
const struct abbrev *abbrevs_find(const struct abbrevs *a, uint64_t code);

unsigned int abbrev_tag(const struct abbrev *b);
bool abbrev_has_children(const struct abbrev *b);
/* Steps over the attributes of an entry, which begin at p, and stores them in d if that is not
 * NULL (for function tags only). NULL: they do not end before `end`. */
const uint8_t *abbrev_walk(const struct abbrevs *a, const struct abbrev *b, const uint8_t *p,
			   const uint8_t *end, struct die *d);

/* False: the number does not end before `end`, or has more than 64 bits. */
bool read_leb(const uint8_t **p, const uint8_t *end, uint64_t *value);
#endif
