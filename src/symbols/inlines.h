/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that a compiler put into others, and lines of sources: for an address, which
 * calls lie one in the other there. Made of the DWARF of one compile unit at a time, when
 * an address in it is first asked for: a table of intervals, in which a look-up takes some
 * 30 ns. Discarded functions, whose addresses a linker left at 0, are not in it.
 */
#ifndef SYMBOLS_INLINES_H
#define SYMBOLS_INLINES_H

#include "symbols/parser.h"

struct inlines;

/* One call in the chain at an address, innermost first. */
struct inline_frame {
	const char *name;        /* as the compiler has it, perhaps mangled; NULL: not known */
	const char *file;        /* where in it the address or the next inner call is; or NULL */
	uint32_t line;
	bool inlined;            /* into the frame behind it; the last one never is */
};

enum { INLINES_MAX_DEPTH = 64 };

/* What a file has, of a descriptor that stays the caller's, and open as long as it. p reads
 * the file. NULL without memory. */
struct inlines *inlines_new(struct parser *p, int fd);
void inlines_free(struct inlines *in);
/* How many frames there are at an address of the file (as in its symbol table): 0 where it
 * says nothing. Names live as long as `in`. */
size_t inlines_find(struct inlines *in, uint64_t vaddr, struct inline_frame *out, size_t max);
/* What it takes of memory. */
size_t inlines_bytes(const struct inlines *in);

/* The handler of PARSER_INLINES. */
int inlines_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
void inlines_forget(void *state);
#endif
