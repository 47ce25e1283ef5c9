/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions in a file's unwind table .eh_frame: each has a record there (FDE), also in a stripped file. The table's bytes
 * are untrusted. libdw's dwarf_next_cfi() reads behind them (0.188), so they are read here.
 */
#ifndef SYMBOLS_ELF_FDES_H
#define SYMBOLS_ELF_FDES_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fdes {
	const uint8_t *data;
	size_t size, next;       /* next: where the next record begins */
	uint64_t vaddr;          /* of the table */
	size_t records;          /* read so far */
	bool big, narrow;        /* big-endian; addresses of 4 bytes */
	/* the last CIE, which describes FDEs */
	size_t cie_at;
	bool cie_tried, cie_good;
	uint8_t encoding;        /* of addresses in its FDEs (DW_EH_PE_*) */
	bool augmented;          /* FDEs have bytes between addresses and instructions */
};

struct fde {
	uint64_t start, end;     /* addresses as linked; both 0: not known */
	const uint8_t *code;     /* instructions (DW_CFA_*); NULL: none */
	size_t ncode;
};

/* The table's first max_bytes, which stay valid as long as elf. False: the file has none. */
bool fdes_open(struct fdes *f, Elf *elf, size_t max_bytes);
/* The next one; false: there is no more, or the rest is damaged. */
bool fdes_next(struct fdes *f, struct fde *fde);
#endif
