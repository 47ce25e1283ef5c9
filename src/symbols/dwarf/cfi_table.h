/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a page of code keeps its caller's registers, address by address: what .eh_frame or
 * .debug_frame say, made into rows that are followed without interpreting anything. Made
 * where files are read (cfi_answer.c); on the way it is hostile bytes.
 */
#ifndef SYMBOLS_DWARF_CFI_TABLE_H
#define SYMBOLS_DWARF_CFI_TABLE_H

#include "symbols/jail/parser.h"

enum {
	CFI_PAGE = 4096,         /* bytes of code that one table is about */
	CFI_REGS = 33,           /* by DWARF's numbers: x86-64 has 17, arm64 32 */
};

enum cfi_kind {
	CFI_UNDEFINED,           /* it can't be told; of the return address: there is no caller */
	CFI_SAME,
	CFI_AT_CFA,              /* in memory at the canonical frame address plus offset */
	CFI_CFA,                 /* that address plus offset itself */
	CFI_IN_REG,              /* in another register */
	CFI_AT_REG,              /* in memory at a register plus offset */
	CFI_REG,                 /* a register plus offset; of the frame address, most often */
	CFI_PLT,                 /* register plus 8, and 8 more from the offset-th byte of 16 on */
	CFI_PUSHED,              /* in memory at another register, if it is the same as that; else as it was */
	CFI_KINDS,
};

struct cfi_place {
	uint8_t kind, reg;
	uint16_t unused;
	int32_t offset;
};

struct cfi_rule {
	struct cfi_place cfa;
	struct cfi_place regs[CFI_REGS];
	uint8_t ra;              /* the register that has the return address */
	uint8_t signal;          /* what it returns to was interrupted, and called nothing */
	uint8_t unused[2];
};

/* As a packed table begins; then nrows times from which byte of the page on, and which rule
 * holds plus 1 (0: none), then rules. */
struct cfi_head {
	uint32_t nrows, nrules;
};

struct cfi_row {
	uint16_t from, rule;
};

struct cfi_table;

/* NULL for bytes that are none, or without memory. */
struct cfi_table *cfi_table_unpack(const void *bytes, size_t size);
void cfi_table_free(struct cfi_table *t);
size_t cfi_table_bytes(const struct cfi_table *t);
/* For a byte of the page; NULL: nothing is known. */
const struct cfi_rule *cfi_table_find(const struct cfi_table *t, unsigned int byte);
#endif
