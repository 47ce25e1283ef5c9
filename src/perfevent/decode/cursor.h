/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cursor walks a record. Each step is checked against the bytes left, so a wrong length or
 * count makes the record invalid and has no other effect.
 */
#ifndef PERFEVENT_DECODE_CURSOR_H
#define PERFEVENT_DECODE_CURSOR_H

#include "perfevent.h"

#include <string.h>

struct cursor {
	const char *p, *end;
};

static inline size_t left(const struct cursor *c)
{
	return (size_t)(c->end - c->p);
}

static inline bool take(struct cursor *c, void *out, size_t n)
{
	if (left(c) < n)
		return false;
	memcpy(out, c->p, n);
	c->p += n;
	return true;
}

static inline bool take_u64(struct cursor *c, uint64_t *v)
{
	return take(c, v, sizeof(*v));
}

static inline bool take_2u32(struct cursor *c, uint32_t *a, uint32_t *b)
{
	const char *both = c->p;

	if (left(c) < 8)
		return false;
	memcpy(a, both, 4);
	memcpy(b, both + 4, 4);
	c->p += 8;
	return true;
}

static inline bool take_2u16(struct cursor *c, uint16_t *a, uint16_t *b)
{
	return take(c, a, sizeof(*a)) && take(c, b, sizeof(*b));
}

/* Returns `n` bytes in place; NULL if fewer are left. */
static inline const void *take_bytes(struct cursor *c, uint64_t n)
{
	const char *bytes = c->p;

	if (n > left(c))
		return NULL;
	c->p += n;
	return bytes;
}

/* `n` words in place. Everything before has a length that is a multiple of 8, so they are aligned. */
static inline const uint64_t *take_words(struct cursor *c, uint64_t n)
{
	return n > left(c) / 8 ? NULL : take_bytes(c, n * 8);
}

/* Counter values in the layout of `read_format`. */
bool pev_take_read_(struct cursor *c, uint64_t read_format, struct pev_read *out);
/* The body of a SAMPLE; *out must be zeroed. */
bool pev_take_sample_(struct cursor *c, const struct pev_format *fmt, struct pev_sample *out);
#endif
