/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The abbreviations of a compile unit, made into steps by which its entries are walked in
 * place: some 20 ns each, where libdw's own walk takes the time of hundreds.
 */
#ifndef SYMBOLS_DWARF_FORMS_H
#define SYMBOLS_DWARF_FORMS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is taken of the entries that are functions. */
enum die_part {
	DIE_LOW_PC, DIE_HIGH_PC, DIE_RANGES, DIE_ORIGIN, DIE_SPECIFICATION, DIE_LINKAGE_NAME, DIE_NAME,
	DIE_CALL_FILE, DIE_CALL_LINE, DIE_PARTS,
};

/* How a unit was written. */
struct dwarf_sizes {
	uint8_t address, offset;
	uint16_t version;
	bool swapped;            /* its byte order isn't ours */
};

struct die {
	Dwarf_Attribute parts[DIE_PARTS];    /* valp NULL: it has none, or a constant: */
	int64_t constants[DIE_PARTS];        /* of the abbreviation, where form says so */
};

struct abbrevs;
struct abbrev;

/* The table that the unit's first entry refers to. NULL with errno: ENOEXEC for one that
 * can't be right, ENOMEM. */
struct abbrevs *abbrevs_read(Dwarf_Die *unit, const struct dwarf_sizes *sizes);
void abbrevs_free(struct abbrevs *a);
size_t abbrevs_bytes(const struct abbrevs *a);
/* Whether it was made for a unit written like that. */
bool abbrevs_are_for(const struct abbrevs *a, const struct dwarf_sizes *sizes);
/* NULL: there is none by this code. */
const struct abbrev *abbrevs_find(const struct abbrevs *a, uint64_t code);

unsigned int abbrev_tag(const struct abbrev *b);
bool abbrev_has_children(const struct abbrev *b);
/* Steps over the attributes of an entry, which begin at p; where d isn't NULL, it gets
 * what they are (for tags of functions only). NULL: they don't end before `end`. */
const uint8_t *abbrev_walk(const struct abbrevs *a, const struct abbrev *b, const uint8_t *p,
			   const uint8_t *end, struct die *d);

/* False: it doesn't end before `end`, or is no number of 64 bits. */
bool read_leb(const uint8_t **p, const uint8_t *end, uint64_t *value);
#endif
