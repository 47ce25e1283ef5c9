/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of dwarf_file share. */
#ifndef SYMBOLS_DWARF_PRIVATE_H
#define SYMBOLS_DWARF_PRIVATE_H

#include "symbols/dwarf/file.h"

#include <libelf.h>

/* A file, kept open for libelf, which reads sections when they are asked for. */
struct elf_source {
	int fd;                  /* ours; -1: from memory */
	Elf *elf;
	Dwarf *dwarf;
};

int elf_source_open_(struct elf_source *s, int fd);
void elf_source_close_(struct elf_source *s);
/* A file that has DWARF but nothing in it: in the place of one that isn't there, lest libdw
 * looks for it by the name that a file tells. 0 or -ENOMEM. */
int elf_source_empty_(struct elf_source *s);
/* Bytes of all sections for debuggers, as they were read. */
size_t elf_source_bytes_(const struct elf_source *s);
#endif
