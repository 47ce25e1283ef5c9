/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one compile unit says of its addresses: which functions were inlined there into
 * which, and from which lines of the source the code came. Made where DWARF is read
 * (inline_unit.h), asked where names are shown; on the way it is hostile bytes.
 */
#ifndef SYMBOLS_DWARF_INLINE_TABLE_H
#define SYMBOLS_DWARF_INLINE_TABLE_H

#include "symbols/jail/parser.h"

struct inline_frame {
	const char *name;        /* NULL: it has none */
	const char *file;        /* of the source; NULL: not known */
	uint32_t line;           /* 0: not known */
	bool inlined;            /* into the next one */
};

struct inline_table;

/* As a packed table begins; behind it stand `starts` and `nodes_at` of spans, nodes, `rows_at`
 * and rows, each without a gap, then strings. */
struct inline_head {
	uint64_t base;           /* that all other addresses are relative to */
	uint32_t nspans, nnodes, nrows, nstrings;
};

/* A function at a place where it is inlined, or one that isn't inlined: then parent is 0.
 * The first node stands for none. Names and files are offsets into strings, 0 for none. */
struct inline_node {
	uint32_t parent;         /* what it is inlined into, always a node before it */
	uint32_t name;
	uint32_t call_file, call_line;
};

/* From its address on; line 0 where there is none. */
struct inline_row {
	uint32_t file, line;
};

/* NULL for bytes that are none or without memory. */
struct inline_table *inline_table_unpack(const void *bytes, size_t size);
void inline_table_free(struct inline_table *t);
size_t inline_table_bytes(const struct inline_table *t);
/* The functions around an address, the innermost first; the last one is that which isn't
 * inlined, unless there are more than max. Strings live as long as the table. 0: nothing is
 * known. Where only the line is known, one frame without a name. */
size_t inline_table_find(const struct inline_table *t, uint64_t addr, struct inline_frame *out,
			 size_t max);
#endif
