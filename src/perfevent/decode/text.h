/* SPDX-License-Identifier: Apache-2.0 */
/* Text in a caller's buffer: like snprintf(), counts what does not fit. */
#ifndef PERFEVENT_DECODE_TEXT_H
#define PERFEVENT_DECODE_TEXT_H

#include "perfevent.h"

struct text {
	char *buf;
	size_t size;
	size_t n;        /* length of the whole text, whether it fits or not */
};

struct bit_name {
	uint64_t bit;
	const char *name;
};

/* Terminates an empty buffer. */
struct text pev_text_(char *buf, size_t size);
void pev_text_put_(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A name from the kernel or another process. Blanks, quotes and control characters put it in
 * quotes; control characters are written as \xNN. */
void pev_text_name_(struct text *t, const char *name);
/* At most `max` of `n` bytes in hex, then the number of the others. */
void pev_text_bytes_(struct text *t, const void *bytes, uint64_t n, uint64_t max);
/* "a|b": names of the bits that are set, bits without a name as 0x…; "" for 0. */
void pev_text_bits_(struct text *t, uint64_t word, const struct bit_name *names, size_t count);

/* The fields of a sample (sample_text.c). */
void pev_text_sample_(struct text *t, const struct pev_sample *s, const struct pev_format *fmt);
void pev_text_read_(struct text *t, const struct pev_read *read);
void pev_text_callchain_(struct text *t, const uint64_t *ips, uint64_t nr);
#endif
