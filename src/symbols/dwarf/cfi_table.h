/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind rules of a page of code, by address: .eh_frame or .debug_frame converted to rows
 * that need no interpreter. Made where files are read (cfi_answer.c); its bytes are untrusted.
 */
#ifndef SYMBOLS_DWARF_CFI_TABLE_H
#define SYMBOLS_DWARF_CFI_TABLE_H

#include "symbols/jail/parser.h"

enum {
	CFI_PAGE = 4096,         /* bytes of code per table */
	CFI_REGS = 33,           /* by DWARF's numbers: x86-64 has 17, arm64 32 */
};

enum cfi_kind {
	CFI_UNDEFINED,           /* unknown; for the return address: no caller */
	CFI_SAME,
	CFI_AT_CFA,              /* in memory at the canonical frame address (CFA) plus offset */
	CFI_CFA,                 /* the CFA plus offset itself */
	CFI_IN_REG,              /* in another register */
	CFI_AT_REG,              /* in memory at a register plus offset */
	CFI_REG,                 /* a register plus offset; mostly for the CFA */
	CFI_PLT,                 /* register plus 8, and 8 more from the offset-th of each 16 bytes of code on */
	CFI_PUSHED,              /* in memory at another register if both have the same value; else unchanged */
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
	uint8_t ra;              /* register with the return address */
	uint8_t signal;          /* signal frame: the caller was interrupted, so its address is
				  * not a return address */
	uint8_t unused[2];
};

/* Head of a packed table. Then follow nrows rows (first byte in the page, and index of the rule
 * plus 1; 0: none), then rules. */
struct cfi_head {
	uint32_t nrows, nrules;
};

struct cfi_row {
	uint16_t from, rule;
};

struct cfi_table;

/* NULL for invalid bytes, or out of memory. */
struct cfi_table *cfi_table_unpack(const void *bytes, size_t size);
void cfi_table_free(struct cfi_table *t);

/* The rule for a byte of the page; NULL: unknown. */
const struct cfi_rule *cfi_table_find(const struct cfi_table *t, unsigned int byte);
#endif
