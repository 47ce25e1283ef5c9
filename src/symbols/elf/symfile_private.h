/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of symfile share. */
#ifndef SYMBOLS_ELF_SYMFILE_PRIVATE_H
#define SYMBOLS_ELF_SYMFILE_PRIVATE_H

#include "symbols/elf/symfile.h"

#include <gelf.h>
#include <libelf.h>

#define MAX_SECTION (512ull << 20)   /* bytes of a table of symbols or names */

enum { SYMFILE_STUBS = 1 };      /* the group of symbols that no table has */

struct segment {
	uint64_t offset, filesz, vaddr, memsz;
	uint64_t code;           /* 0 or not */
};

struct symfile {
	struct segment *segments;
	size_t nsegments;
	struct symtab *tab;          /* NULL: no function has a name */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;
	struct debug_link link;      /* no name: none */
	bool complete;               /* all functions are in tab, static ones, too */
};

/* symfile.c: the build id among the notes of the sections; 0: none. Debug files have it there, and what
 * Go's linker made (1.24 and later), whose one segment of notes is of its own note alone. */
size_t symfile_section_build_id_(Elf *elf, uint8_t id[BUILD_ID_MAX]);

/* symfile_symbols.c: fills tab from the tables of the file itself. */
int symfile_read_symbols_(struct symfile *f, Elf *elf);
/* Adds those of one table (SHT_SYMTAB, SHT_DYNSYM) of an ELF file of the same addresses to a
 * table that isn't finished. 0 or -ENOMEM. */
int symfile_add_table_(const struct symfile *f, struct symtab *tab, Elf *elf, uint32_t type);

/* symfile_stubs.c: adds names of the stubs of the file itself; a debug file has not got them. 0 or -ENOMEM. */
int symfile_add_stubs_(struct symtab *tab, Elf *elf);

/* symfile_debug.c: where a stripped file says that its debug file is. */
void symfile_read_link_(struct symfile *f, Elf *elf);
/* Adds what .gnu_debugdata holds. 0 or -ENOMEM. */
int symfile_add_mini_(const struct symfile *f, struct symtab *tab, Elf *elf);
#endif
