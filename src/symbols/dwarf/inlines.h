/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inlined functions and source lines of a file with DWARF. A parser (symbols/jail/parser.h) reads
 * a compile unit at the first lookup of one of its addresses; its table is kept here, up to a
 * limit of memory. A lookup then takes some 50 ns. Functions removed by the linker are not
 * included.
 */
#ifndef SYMBOLS_DWARF_INLINES_H
#define SYMBOLS_DWARF_INLINES_H

#include "symbols/dwarf/inline_table.h"

struct inlines;

enum { INLINES_MAX_DEPTH = 64 };     /* deeper nesting is cut off: the outer calls */
enum { ALT_BUILD_ID_MAX = 64, ALT_PATH_MAX = 512 };

/* The file with DWARF that dwz(1) moved out of several files: without it, functions named there
 * have no names. */
struct debug_alt {
	char path[ALT_PATH_MAX];     /* from the file; "": none */
	uint8_t build_id[ALT_BUILD_ID_MAX];
	uint32_t build_id_size;
	uint32_t split;              /* units whose functions are in .dwo files (-gsplit-dwarf), which are not read */
};

/* Reads nothing yet. The descriptor stays the caller's and must outlive it. Without a parser,
 * DWARF is read in this process. NULL: out of memory. */
struct inlines *inlines_new(struct parser *p, int fd);
void inlines_free(struct inlines *in);
/* NULL: the file needs none, or is not readable. */
const struct debug_alt *inlines_alt(struct inlines *in);
/* Uses that file if it is the right one; call it before the first lookup. Copies the descriptor. */
void inlines_use_alt(struct inlines *in, int fd);
/* Where functions inlined in this file are described, if not in files that are read; else NULL, as before the first lookup. */
const char *inlines_elsewhere(const struct inlines *in);
/* The frames at an address as linked, as inline_table_find(): innermost first,
 * with source names; returns their number, 0: unknown. Strings are valid until the next call. */
size_t inlines_find(struct inlines *in, uint64_t vaddr, struct inline_frame *out, size_t max);
/* Whether the answer is known without the parser. */
bool inlines_has(const struct inlines *in, uint64_t vaddr);
/* Bytes of memory used here: at most 64 MiB of tables, and one more. NULL: 0. */
size_t inlines_bytes(const struct inlines *in);

/* The handler of PARSER_INLINES. */
int inlines_answer(void **state, const struct parser_question *q, struct parser_bytes *out);
void inlines_forget(void *state);
#endif
