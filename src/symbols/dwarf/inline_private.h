/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of inline_unit: a table under construction. */
#ifndef SYMBOLS_DWARF_INLINE_PRIVATE_H
#define SYMBOLS_DWARF_INLINE_PRIVATE_H

#include "symbols/dwarf/inline_unit.h"
#include "symbols/dwarf/spans.h"
#include "symbols/elf/strings.h"

enum {
	MAX_NODES = 1 << 22, MAX_RANGES = 1 << 22, MAX_ROWS_OF_UNIT = 1 << 22,
	UNIT_SECONDS = 10,
};

struct inline_address_row {
	uint64_t addr;
	struct inline_row row;
};

struct inline_maker {
	struct dwarf_file *file;
	struct dwarf_unit unit;
	const struct abbrevs *abbrevs;
	struct strings strings;
	struct spans spans;
	struct inline_node *nodes;
	size_t nnodes, nodes_cap;
	struct inline_address_row *rows;
	size_t nrows, rows_cap;
	struct inline_address_row ended;     /* the end of the last sequence, and the sequence's last row */
	Dwarf_Files *files;      /* of its line table; NULL: none */
	size_t nfiles, nranges;
	uint64_t work, deadline; /* CLOCK_MONOTONIC, ns */
};

/* Each returns 0 or what inline_unit_pack() returns. */
/* inline_lines.c: rows of the line table, and names of its files. */
int inline_read_lines_(struct inline_maker *m);
int inline_file_name_(struct inline_maker *m, uint64_t index, uint32_t *at);
/* inline_names.c: the name of a function, or of its abstract origin. */
int inline_name_(struct inline_maker *m, struct die *die, uint32_t *at);
/* inline_unit.c: counts steps, and checks the time limit. */
int inline_work_(struct inline_maker *m, unsigned int steps);
#endif
