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

static inline bool scan_u32(struct scan *s, uint32_t *v)
{
	const char *p = scan_bytes(s, 4);

	if (!p)
		return false;
	memcpy(v, p, 4);
	if (s->foreign)
		*v = bswap_32(*v);
	return true;
}

static inline bool scan_u64(struct scan *s, uint64_t *v)
{
	const char *p = scan_bytes(s, 8);

	if (!p)
		return false;
	memcpy(v, p, 8);
	if (s->foreign)
		*v = bswap_64(*v);
	return true;
}

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
