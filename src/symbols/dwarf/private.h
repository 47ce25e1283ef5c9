/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations shared by the parts of dwarf_file. */
#ifndef SYMBOLS_DWARF_PRIVATE_H
#define SYMBOLS_DWARF_PRIVATE_H

#include "symbols/dwarf/file.h"

#include <libelf.h>

/* A file, kept open for libelf, which reads sections on demand. */
struct elf_source {
	int fd;                  /* our copy; -1: from memory */
	Elf *elf;
	Dwarf *dwarf;
};

/* Sections with locations of variables are read only if they are asked for. 0 or -errno. */
int elf_source_open_(struct elf_source *s, int fd, bool locations);
void elf_source_close_(struct elf_source *s);
/* An empty file with DWARF in place of a missing one, so that libdw does not open a file by a
 * name from the DWARF. 0 or -ENOMEM. */
int elf_source_empty_(struct elf_source *s);
/* Bytes of all debug sections that were read. */
size_t elf_source_bytes_(const struct elf_source *s);
#endif
