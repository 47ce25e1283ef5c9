/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions in a file's unwind table .eh_frame: each has a record there (FDE), also in a stripped file. Needs libdw.
 */
#ifndef SYMBOLS_ELF_FDES_H
#define SYMBOLS_ELF_FDES_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fdes {
	const unsigned char *ident;
	Elf_Data *data;
	uint64_t vaddr;          /* of the table */
	Dwarf_Off next;
	Dwarf_CFI_Entry cie;     /* the last one */
	uint64_t cie_at;
	uint8_t encoding;        /* of addresses in its FDEs (DW_EH_PE_*) */
	bool has_cie, augmented; /* FDEs have bytes between addresses and instructions */
};

struct fde {
	uint64_t start, end;     /* addresses as linked; both 0: of an encoding that is not known */
	const uint8_t *code;     /* instructions (DW_CFA_*); NULL: none */
	size_t ncode;
};

/* The table's first max_bytes, which stay valid as long as elf. False: the file has none. */
bool fdes_open(struct fdes *f, Elf *elf, size_t max_bytes);
/* The next one; false: there is no more, or the rest is damaged. */
bool fdes_next(struct fdes *f, struct fde *fde);
#endif
