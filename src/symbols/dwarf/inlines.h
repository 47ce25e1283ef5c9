/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that a compiler put into others, and lines of sources, of a file with DWARF.
 * Each compile unit is read when one of its addresses is first asked for, by a parser
 * (symbols/jail/parser.h); its table is kept here, up to a bound of memory. An answer then
 * takes some 50 ns. Functions that a linker discarded are not in it.
 */
#ifndef SYMBOLS_DWARF_INLINES_H
#define SYMBOLS_DWARF_INLINES_H

#include "symbols/dwarf/inline_table.h"

struct inlines;

enum { INLINES_MAX_DEPTH = 64 };     /* more calls in each other are cut: the outer ones */
enum { ALT_BUILD_ID_MAX = 64, ALT_PATH_MAX = 512 };

/* What dwz(1) took out of several files into one: without it, functions that are named there
 * have no names here. */
struct debug_alt {
	char path[ALT_PATH_MAX];     /* as the file tells it; "": there is none */
	uint8_t build_id[ALT_BUILD_ID_MAX];
	uint32_t build_id_size;
};

/* Reads nothing yet. The descriptor stays the caller's, and open as long as it. Without a
 * parser, DWARF is read right here. NULL without memory. */
struct inlines *inlines_new(struct parser *p, int fd);
void inlines_free(struct inlines *in);
/* NULL: the file needs none, or can't be read. */
const struct debug_alt *inlines_alt(struct inlines *in);
/* That file, if it is the right one; before the first address. Copies the descriptor. */
void inlines_use_alt(struct inlines *in, int fd);
/* How many frames there are at an address of the file (as in its symbol table), as
 * inline_table_find(): innermost first, by their names in the source; 0 where the file says
 * nothing. Strings live until the next call. */
size_t inlines_find(struct inlines *in, uint64_t vaddr, struct inline_frame *out, size_t max);
/* Whether that asks nobody. */
bool inlines_has(const struct inlines *in, uint64_t vaddr);
/* What it takes of memory here: at most 64 MiB of tables, and one more. NULL: 0. */
size_t inlines_bytes(const struct inlines *in);

/* The handler of PARSER_INLINES. */
int inlines_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
void inlines_forget(void *state);
#endif
