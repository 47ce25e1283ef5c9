/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from u64 words, as the kernel lays them out. Each sample field is one row:
 * its bit, its bytes, and what must come out of them.
 */
#ifndef TESTS_UNIT_RECORDS_H
#define TESTS_UNIT_RECORDS_H

#include "cmocka_all.h"

#include <endian.h>
#include <perfevent.h>

/* Two u32, four u16 or eight bytes in one word, first in memory first. */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define U32(a, b) ((uint64_t)(uint32_t)(a) | (uint64_t)(uint32_t)(b) << 32)
#define U16(a, b, c, d) U32((uint32_t)(a) | (uint32_t)(b) << 16, (uint32_t)(c) | (uint32_t)(d) << 16)
#define U8(a, b, c, d, e, f, g, h)                                                                 \
	U16((a) | (b) << 8, (c) | (d) << 8, (e) | (f) << 8, (g) | (h) << 8)
#else
#define U32(a, b) ((uint64_t)(uint32_t)(b) | (uint64_t)(uint32_t)(a) << 32)
#define U16(a, b, c, d) U32((uint32_t)(b) | (uint32_t)(a) << 16, (uint32_t)(d) | (uint32_t)(c) << 16)
#define U8(a, b, c, d, e, f, g, h)                                                                 \
	U16((b) | (a) << 8, (d) | (c) << 8, (f) | (e) << 8, (h) | (g) << 8)
#endif

enum { MAX_WORDS = 512 };

struct bytes {
	uint64_t word[MAX_WORDS];
	size_t n;
};

static inline struct perf_event_header *head_of(struct bytes *b)
{
	return (struct perf_event_header *)b->word;
}

static inline void begin(struct bytes *b, uint32_t type, uint16_t misc)
{
	*head_of(b) = (struct perf_event_header){ type, misc, sizeof(struct perf_event_header) };
	b->n = 1;
}

static inline void append(struct bytes *b, const uint64_t *words, size_t n)
{
	assert_true(b->n + n <= MAX_WORDS);
	memcpy(b->word + b->n, words, n * 8);
	b->n += n;
	head_of(b)->size = (uint16_t)(b->n * 8);
}

/* Appends the words given as arguments. */
#define PUT(b, ...)                                                                                \
	append(b, (const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8)

/* pev_decode() of exactly `size` bytes that end where the allocation does, so that ASan
 * sees any step beyond them. */
static inline int decode_copy(const struct bytes *b, size_t size, size_t avail,
			      const struct pev_format *fmt, struct pev_record *out, void **copy)
{
	*copy = malloc(avail ? avail : 1);
	assert_non_null(*copy);
	memcpy(*copy, b->word, avail);
	if (avail >= sizeof(struct perf_event_header))
		((struct perf_event_header *)*copy)->size = (uint16_t)size;
	return pev_decode(*copy, avail, fmt, out);
}

#endif
