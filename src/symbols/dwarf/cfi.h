/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How to come from a function to its caller, in one file: by .eh_frame, or .debug_frame of the
 * same file. A page of code is read when it is first asked for, by a parser; the rules of
 * it are kept, up to a bound of memory.
 */
#ifndef SYMBOLS_DWARF_CFI_H
#define SYMBOLS_DWARF_CFI_H

#include "symbols/dwarf/cfi_table.h"

struct cfi;

/* Reads nothing yet. The descriptor stays the caller's, and open as long as it. Without a
 * parser the file is read right here. NULL without memory. */
struct cfi *cfi_new(struct parser *p, int fd);
void cfi_free(struct cfi *c);
/* At an address of the file, as in its symbol table; NULL: nothing is known. The rule lives
 * until the next call. */
const struct cfi_rule *cfi_find(struct cfi *c, uint64_t vaddr);
/* Whether that asks nobody. */
bool cfi_has(const struct cfi *c, uint64_t vaddr);
/* What it takes of memory, at most 16 MiB and a page's; NULL: 0. */
size_t cfi_bytes(const struct cfi *c);

/* The handler of PARSER_CFI: a file and the address of a page to a packed table. */
int cfi_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
void cfi_forget(void *state);
#endif
