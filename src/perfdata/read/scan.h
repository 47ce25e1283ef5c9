/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers and texts in the recorder's byte order. Each step checks that enough bytes are left. */
#ifndef PERFDATA_READ_SCAN_H
#define PERFDATA_READ_SCAN_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct scan {
	const char *p, *end;
	bool foreign;                  /* the recorder has the other byte order */
};

static inline size_t scan_left(const struct scan *s)
{
	return (size_t)(s->end - s->p);
}

static inline const char *scan_bytes(struct scan *s, uint64_t n)
{
	const char *p = s->p;

	if (n > scan_left(s))
		return NULL;
	s->p += n;
	return p;
}

#define SCAN(bits)                                                                                 \
	static inline bool scan_u##bits(struct scan *s, uint##bits##_t *v)                         \
	{                                                                                          \
		const char *p = scan_bytes(s, sizeof(*v));                                         \
                                                                                                   \
		if (!p)                                                                            \
			return false;                                                              \
		memcpy(v, p, sizeof(*v));                                                          \
		if (s->foreign)                                                                    \
			*v = bswap_##bits(*v);                                                     \
		return true;                                                                       \
	}

SCAN(16)
SCAN(32)
SCAN(64)

/* A text up to its NUL; NULL without one. */
static inline const char *scan_text(struct scan *s)
{
	const char *nul = memchr(s->p, '\0', scan_left(s)), *text = s->p;

	if (!nul)
		return NULL;
	s->p = nul + 1;
	return text;
}

/* A string as perf writes it: u32 size of the field, text, zeros. The text may fill the field. */
static inline const char *scan_string(struct scan *s, size_t *len)
{
	uint32_t room;
	const char *text = scan_u32(s, &room) ? scan_bytes(s, room) : NULL;

	if (text)
		*len = strnlen(text, room);
	return text;
}

#endif
