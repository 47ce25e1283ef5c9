/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of call stacks by number, each different one once, with texts of its own: they outlive the processes and the
 * files that they are from. */
#ifndef SESSION_FRAMETABLE_H
#define SESSION_FRAMETABLE_H

#include "columns/batch.h"
#include "engine/callstacks.h"

/* What equal frames have in common. Texts are numbers in the dictionaries of the table; -1: none. */
struct frame_row {
	uint64_t addr, offset;
	int32_t symbol, dso, file;
	uint32_t line;
	uint8_t kernel, inlined;
	uint8_t unused[6];              /* 0: rows are compared as bytes */
};

struct frame_number;

struct frametable {
	struct dictionary symbols, dsos, files;
	struct frame_row *v;
	size_t n, room;
	struct frame_number *numbers;   /* by content */
};

/* 0 or -ENOMEM. */
int frametable_begin(struct frametable *t);
void frametable_end(struct frametable *t);
/* The number of a frame with that content; -1: no memory. */
int32_t frametable_number(struct frametable *t, const struct frame *frame);
/* The frames from number `from` on. NULL: no memory. */
struct batch *frametable_batch(struct frametable *t, size_t from);
size_t frametable_bytes(const struct frametable *t);
#endif
