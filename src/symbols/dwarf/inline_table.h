/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The addresses of one compile unit: the functions inlined there, and the source lines. Made
 * where DWARF is read (inline_unit.c), used where names are shown; its bytes are untrusted.
 */
#ifndef SYMBOLS_DWARF_INLINE_TABLE_H
#define SYMBOLS_DWARF_INLINE_TABLE_H

#include "symbols/jail/parser.h"

struct inline_frame {
	const char *name;        /* NULL: unknown */
	const char *file;        /* source file; NULL: unknown */
	uint32_t line;           /* 0: unknown */
	bool inlined;            /* into the next one */
};

struct inline_table;

/* Head of a packed table. Then follow `starts` and `nodes_at` of spans, nodes, `rows_at` and
 * rows, all without gaps, then strings. */
struct inline_head {
	uint64_t base;           /* all other addresses are relative to it */
	uint32_t nspans, nnodes, nrows, nstrings;
};

/* An inlined instance of a function, or a function itself: then parent is 0. The first node means
 * none. Names and files are offsets into strings, 0: none. */
struct inline_node {
	uint32_t parent;         /* the function it is inlined into; always a lower index */
	uint32_t name;
	uint32_t call_file, call_line;
};

/* The source line from an address on; line 0: none. */
struct inline_row {
	uint32_t file, line;
};

/* NULL for invalid bytes or out of memory. */
struct inline_table *inline_table_unpack(const void *bytes, size_t size);
void inline_table_free(struct inline_table *t);
size_t inline_table_bytes(const struct inline_table *t);
/* The functions at an address, innermost first. The last one is not inlined, unless there are more than max.
 * Strings are valid as long as the table. 0: unknown. If only the line is known: one frame without a name. */
size_t inline_table_find(const struct inline_table *t, uint64_t addr, struct inline_frame *out,
			 size_t max);
#endif
