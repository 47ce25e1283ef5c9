/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The newest bytes of what was put: a ring of whole entries, in which the caller drops the oldest to make room.
 *
 *	 tail                      head            offsets only grow; tail <= head <= tail + size
 *	 | entry | entry | entry   |               an entry that wraps around is read from a copy
 *
 * Sizes of entries are multiples of 8, so their first 8 bytes never wrap.
 */
#ifndef BASE_FIFO_H
#define BASE_FIFO_H

#include <stddef.h>
#include <stdint.h>

struct fifo {
	char *bytes, *copy;
	size_t size;
	uint64_t head, tail;
};

/* longest: the largest entry. 0, or -1 without memory; free it in either case. */
int fifo_init(struct fifo *f, size_t size, size_t longest);
void fifo_free(struct fifo *f);
/* Appends n bytes, at most fifo_room(). */
void fifo_put(struct fifo *f, const void *from, size_t n);
/* n bytes at an offset, at most `longest`: in place, or a copy until the next call. */
void *fifo_at(struct fifo *f, uint64_t at, size_t n);

static inline size_t fifo_room(const struct fifo *f)
{
	return f->size - (size_t)(f->head - f->tail);
}
#endif
