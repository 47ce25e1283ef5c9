/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the parts of symfile. */
#ifndef SYMBOLS_ELF_SYMFILE_PRIVATE_H
#define SYMBOLS_ELF_SYMFILE_PRIVATE_H

#include "symbols/elf/symfile.h"

#include <gelf.h>
#include <libelf.h>

#define MAX_SECTION (512ull << 20)   /* limit in bytes for a table of symbols or names */

enum { SYMFILE_STUBS = 1 };      /* the group of stubs, which are in no symbol table */

struct segment {
	uint64_t offset, filesz, vaddr, memsz;
	uint64_t used;           /* 1: it has what the file is read for: code, or variables */
	uint64_t code;           /* 1: it has code */
};

struct symfile {
	struct segment *segments;
	size_t nsegments;
	struct symtab *tab;          /* NULL: no function has a name */
	struct symtab *unnamed;      /* functions that tab may lack; NULL: tab has all, or they are not known */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;
	struct debug_link link;      /* empty name: none */
	bool complete;               /* tab has all functions, also static ones */
	enum symfile_what what;
};

/* symfile.c: the build id in the note sections; 0: none. Debug files have it there, and so do
 * files from Go's linker (1.24 and later), whose only note segment has just its own note. */
size_t symfile_section_build_id_(Elf *elf, uint8_t id[BUILD_ID_MAX]);

/* symfile_symbols.c: fills both tables from the file's own. */
int symfile_read_symbols_(struct symfile *f, Elf *elf, const char *file);
/* Adds the symbols of a table (SHT_SYMTAB, SHT_DYNSYM) in an ELF file with the same addresses to
 * an unfinished table. 0 or -ENOMEM. */
int symfile_add_table_(const struct symfile *f, struct symtab *tab, Elf *elf, uint32_t type);

/* symfile_stubs.c: adds names of the file's PLT stubs, which a debug file does not have. 0 or
 * -ENOMEM. */
int symfile_add_stubs_(struct symtab *tab, Elf *elf);

/* symfile_unnamed.c: fills f->unnamed, for a file of that name. 0 or -ENOMEM. */
int symfile_read_unnamed_(struct symfile *f, Elf *elf, const char *file);

/* symfile_debug.c: reads the debug link of a stripped file. */
void symfile_read_link_(struct symfile *f, Elf *elf);
/* Adds the symbols in .gnu_debugdata. 0 or -ENOMEM. */
int symfile_add_mini_(const struct symfile *f, struct symtab *tab, Elf *elf);
#endif
