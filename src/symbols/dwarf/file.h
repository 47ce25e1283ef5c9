/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF of an ELF file, by libdw: its compile units, and the unit of an address. Files are
 * untrusted. No path named in a file is opened: the caller passes the file that dwz(1) shares
 * among files; split units (.dwo) are not read.
 */
#ifndef SYMBOLS_DWARF_FILE_H
#define SYMBOLS_DWARF_FILE_H

#include "symbols/dwarf/forms.h"
#include "symbols/jail/parser.h"

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
