/* SPDX-License-Identifier: Apache-2.0 */
/* What inlines_read.c makes of a compile unit, and inlines.c looks up in: this head, then the
 * arrays in this order, then texts, each with a NUL. Offsets of texts are in there; 0 is none. */
#ifndef SYMBOLS_INLINES_WIRE_H
#define SYMBOLS_INLINES_WIRE_H

#include <stdint.h>

struct unit_head {
	uint32_t nranges, ncalls, nlines, text_size;
};

/* Addresses that the unit covers; sorted, without overlaps. */
struct unit_range {
	uint64_t from, to;
};

/* An interval of a function (parent: UNIT_NONE) or of a call that was put into its parent,
 * which comes before it. Sorted by `from`; one lies within its parent. */
struct unit_call {
	uint64_t from, to;
	uint32_t parent;
	uint32_t name;
	uint32_t file, line;     /* of the call */
};
#define UNIT_NONE UINT32_MAX

/* From this address on; line 0: none. Sorted. */
struct unit_line {
	uint64_t addr;
	uint32_t file, line;
};

/* The question: an address. The answer is the unit that has it; -ENOENT: none has;
 * -ENODATA: the file has no DWARF. */
struct unit_question {
	uint64_t vaddr;
};
#endif
