/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fifo.h"

#include <stdlib.h>
#include <string.h>

int fifo_init(struct fifo *f, size_t size, size_t longest)
{
	*f = (struct fifo){ .bytes = malloc(size & ~(size_t)7), .copy = malloc(longest), .size = size & ~(size_t)7 };
	return f->bytes && f->copy ? 0 : -1;
}

void fifo_free(struct fifo *f)
{
	free(f->bytes);
	free(f->copy);
}

void fifo_put(struct fifo *f, const void *from, size_t n)
{
	size_t begin = f->head % f->size, first = f->size - begin < n ? f->size - begin : n;

	memcpy(f->bytes + begin, from, first);
	memcpy(f->bytes, (const char *)from + first, n - first);
	f->head += n;
}

void *fifo_at(struct fifo *f, uint64_t at, size_t n)
{
	size_t begin = at % f->size, first = f->size - begin;

	if (first >= n)
		return f->bytes + begin;
	memcpy(f->copy, f->bytes + begin, first);
	memcpy(f->copy + first, f->bytes, n - first);
	return f->copy;
}
