/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF of an ELF file, by libdw: its compile units, and the unit of an address. Files are
 * untrusted. No path named in a file is opened: the caller passes the file that dwz(1) shares
 * among files; split units (.dwo) are not read.
 */
#ifndef SYMBOLS_DWARF_FILE_H
#define SYMBOLS_DWARF_FILE_H

#include "symbols/jail/parser.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The abbreviations of a compile unit, compiled to steps for walking its entries in place: some
 * 20 ns per entry; libdw takes several hundred.
 */

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

struct dwarf_file;

struct dwarf_unit {
	Dwarf_Die die;           /* its first entry */
	const uint8_t *begin, *end;  /* of its entries */
	struct dwarf_sizes sizes;
};

/* Keeps copies of the descriptors; alt is -1 or the file made by dwz. NULL with errno: ENOEXEC:
 * not an ELF file, or without DWARF. */
struct dwarf_file *dwarf_file_open(int fd, int alt);
/* From memory, which must outlive it. */
struct dwarf_file *dwarf_file_from_image(void *image, size_t size);
void dwarf_file_free(struct dwarf_file *f);
/* Approximate bytes of memory used. */
size_t dwarf_file_bytes(const struct dwarf_file *f);

/* The name of the file made by dwz, NULL: none; its build id. */
const char *dwarf_file_alt(const struct dwarf_file *f, const void **build_id, size_t *size);

/* How many of the units only name the file that has their functions (.dwo). */
uint32_t dwarf_file_split(const struct dwarf_file *f);
size_t dwarf_file_units(const struct dwarf_file *f);
/* False if the unit is not readable. Valid until the next call. */
bool dwarf_file_unit(struct dwarf_file *f, size_t i, struct dwarf_unit *unit);
/* The unit whose first entry is at that offset. */
bool dwarf_file_unit_at(const struct dwarf_file *f, Dwarf_Off at, size_t *i);
/* As dwarf_getaranges(). */
int dwarf_file_aranges(struct dwarf_file *f, Dwarf_Aranges **ranges, size_t *n);
/* The unit's abbreviations, valid until the next call; NULL with errno. */
const struct abbrevs *dwarf_file_abbrevs(struct dwarf_file *f, const struct dwarf_unit *unit);
/* Counts rows of line tables that were read: libdw keeps them all in memory. */
void dwarf_file_count_rows(struct dwarf_file *f, size_t n);

/* Whether the file has code at the address. Functions removed by the linker remain at address 0,
 * at the end of the address space, or at their offset in a section that is gone. */
bool dwarf_file_is_code(const struct dwarf_file *f, uint64_t addr);
/* Limits a range that begins in code to the end of that code; false: it does not begin in code. */
bool dwarf_file_clip(const struct dwarf_file *f, uint64_t start, uint64_t *end);

/* The name to show; valid until the next call. */
const char *dwarf_file_demangle(struct dwarf_file *f, const char *name);
#endif
