/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF of an ELF file as libdw reads it: its compile units, and which of them covers an
 * address. Files are hostile. Nothing is opened by a path that a file names: neither what
 * dwz(1) shares among files, which the caller hands over, nor split units (.dwo).
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

/* Keep a copy of the descriptors; alt is -1 or the file that dwz made. NULL with errno:
 * ENOEXEC for what is no ELF file, or has no DWARF. */
struct dwarf_file *dwarf_file_open(int fd, int alt);
/* From memory that outlives it. */
struct dwarf_file *dwarf_file_from_image(void *image, size_t size);
void dwarf_file_free(struct dwarf_file *f);
/* About what it takes of memory. */
size_t dwarf_file_bytes(const struct dwarf_file *f);

/* The name of the file that dwz made, NULL for none; its build id. */
const char *dwarf_file_alt(const struct dwarf_file *f, const void **build_id, size_t *size);

size_t dwarf_file_units(const struct dwarf_file *f);
/* False for one that can't be read. It is valid until the next call. */
bool dwarf_file_unit(struct dwarf_file *f, size_t i, struct dwarf_unit *unit);
/* The unit whose first entry is there. */
bool dwarf_file_unit_at(const struct dwarf_file *f, Dwarf_Off at, size_t *i);
/* As dwarf_getaranges(). */
int dwarf_file_aranges(struct dwarf_file *f, Dwarf_Aranges **ranges, size_t *n);
/* Its abbreviations, which live until the next call; NULL with errno. */
const struct abbrevs *dwarf_file_abbrevs(struct dwarf_file *f, const struct dwarf_unit *unit);
/* To be told of rows of line tables that were read: libdw keeps them all. */
void dwarf_file_count_rows(struct dwarf_file *f, size_t n);

/* Whether the file has code at the address: functions that a linker left out are at address
 * 0, at the very end of the address space, or at their offset in a section that isn't. */
bool dwarf_file_is_code(const struct dwarf_file *f, uint64_t addr);
/* Cuts what begins in code to where that ends; false: it doesn't begin there. */
bool dwarf_file_clip(const struct dwarf_file *f, uint64_t start, uint64_t *end);

/* A name for people; lives until the next call. */
const char *dwarf_file_demangle(struct dwarf_file *f, const char *name);
#endif
