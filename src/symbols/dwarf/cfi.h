/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind rules of one file: from .eh_frame, or .debug_frame of the same file. A parser reads a
 * page of code when it is first needed; its rules are kept, up to a limit of memory.
 */
#ifndef SYMBOLS_DWARF_CFI_H
#define SYMBOLS_DWARF_CFI_H

#include "symbols/dwarf/cfi_table.h"

struct cfi;

/* Reads nothing yet. The descriptor stays the caller's and must outlive it. Without a parser the
 * file is read in this process. NULL: out of memory. */
struct cfi *cfi_new(struct parser *p, int fd);
void cfi_free(struct cfi *c);
/* The rule at an address as linked; NULL: unknown. Valid until the next call. */
const struct cfi_rule *cfi_find(struct cfi *c, uint64_t vaddr);
/* Whether the answer is known without the parser. */
bool cfi_has(const struct cfi *c, uint64_t vaddr);
/* Bytes of memory used, at most 16 MiB and one page's rules; NULL: 0. */
size_t cfi_bytes(const struct cfi *c);

/* The handler of PARSER_CFI: from a file and a page's address to a packed table. */
int cfi_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
void cfi_forget(void *state);
#endif
