/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of inline_unit: a table under construction. */
#ifndef SYMBOLS_DWARF_INLINE_PRIVATE_H
#define SYMBOLS_DWARF_INLINE_PRIVATE_H

#include "symbols/dwarf/inline_unit.h"
#include "symbols/dwarf/spans.h"
#include "symbols/dwarf/text.h"
#include "symbols/elf/strings.h"

enum {
	MAX_NODES = 1 << 22, MAX_RANGES = 1 << 22, MAX_ROWS_OF_UNIT = 1 << 22,
	UNIT_SECONDS = 10,
};

struct inline_address_row {
	uint64_t addr;
	struct inline_row row;
};

/* An entry whose entries may be functions: a namespace, class or function. */
struct inline_scope {
	const uint8_t *begin, *end;
	uint32_t parent;         /* the scope around it; 0: none */
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
	bool scoped;             /* functions may be in scopes: not in C */
	struct inline_scope *scopes;     /* by their beginning; the first one means none */
	size_t nscopes, scopes_cap;
	Dwarf_Die *unscoped;     /* functions whose name has no scope yet */
	size_t nunscoped, unscoped_cap;
	Dwarf_Files *files;      /* of its line table; NULL: none */
	size_t nfiles, nranges;
	uint64_t work, deadline; /* CLOCK_MONOTONIC, ns */
};

/* Each returns 0 or what inline_unit_pack() returns. */
/* inline_lines.c: rows of the line table, and names of its files. */
int inline_read_lines_(struct inline_maker *m);
int inline_file_name_(struct inline_maker *m, uint64_t index, uint32_t *at);
/* inline_names.c: the name of a function, or of its abstract origin; or UNSCOPED and an index in m->unscoped. `entry`:
 * the function's own. */
enum { UNSCOPED = 1u << 31 };
int inline_name_(struct inline_maker *m, struct die *die, const uint8_t *entry, uint32_t *at);
/* The name that is found from an entry; NULL: it has none. *from: the last entry of the way, its declaration. *whole: the
 * name has its scope. */
const char *inline_find_name_(Dwarf_Die *from, bool *whole);
/* The last entry of that way, whatever has the name. */
void inline_find_declaration_(Dwarf_Die *die);
/* inline_scopes.c */
int inline_begin_scopes_(struct inline_maker *m);
/* If entries of this tag may have functions: adds it to the scopes, and sets *scope, the one around it, to it. */
int inline_open_scope_(struct inline_maker *m, unsigned int tag, const uint8_t *begin, uint32_t *scope);
/* When all is read: the names of m->unscoped, in all nodes. */
int inline_name_scopes_(struct inline_maker *m);
/* inline_unit.c: counts steps, and checks the time limit. */
int inline_work_(struct inline_maker *m, unsigned int steps);
#endif
