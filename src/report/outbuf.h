/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of many events on its way out: collected, and written in large pieces. Nothing is
 * allocated once it is there; the pieces of one call are contiguous, so each must be below
 * OUTBUF_PIECE.
 */
#ifndef REPORT_OUTBUF_H
#define REPORT_OUTBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	OUTBUF_FLUSH = 64 << 10,       /* so much is written as one */
	OUTBUF_TEXT = 64 << 10,        /* of a longer name or text the rest is cut */
	OUTBUF_PIECE = 5 * OUTBUF_TEXT + 64,
	OUTBUF_BYTES = OUTBUF_FLUSH + OUTBUF_PIECE,
};

struct outbuf {
	FILE *out;
	size_t len;
	bool csv_safe;                 /* no cell of CSV is a formula: quote_is_formula() */
	int error;                     /* errno of a write that failed: the rest is dropped */
	char buf[OUTBUF_BYTES];
	char scratch[4 * OUTBUF_TEXT + 1];
};

/* NULL without memory. */
struct outbuf *outbuf_new(FILE *out);
void outbuf_free(struct outbuf *b);
/* Writes what is there. */
void outbuf_flush(struct outbuf *b);

/* ---- pieces ----------------------------------------------------------------------- */

/* Where n bytes have room, n below OUTBUF_PIECE; add what was used to len. */
static inline char *outbuf_room(struct outbuf *b, size_t n)
{
	if (__builtin_expect(b->len + n > OUTBUF_BYTES, 0))
		outbuf_flush(b);
	return b->buf + b->len;
}

static inline void outbuf_char(struct outbuf *b, char c)
{
	*outbuf_room(b, 1) = c;
	b->len++;
}

/* n below OUTBUF_PIECE. */
static inline void outbuf_bytes(struct outbuf *b, const char *text, size_t n)
{
	memcpy(outbuf_room(b, n), text, n);
	b->len += n;
}

static inline void outbuf_word(struct outbuf *b, const char *text)
{
	outbuf_bytes(b, text, strlen(text));
}

/* n bytes of a text that lies in `size` readable ones: where size is a constant, no call. */
static inline void outbuf_short(struct outbuf *b, const char *text, size_t n, size_t size)
{
	memcpy(outbuf_room(b, size), text, size);
	b->len += n;
}

/* In at least `width` columns (up to 32), to the right. */
void outbuf_unsigned(struct outbuf *b, uint64_t n, unsigned int width, char pad);
void outbuf_signed(struct outbuf *b, int64_t n, unsigned int width);
void outbuf_hex(struct outbuf *b, uint64_t n, unsigned int width);
void outbuf_pad(struct outbuf *b, size_t n);
void outbuf_printf(struct outbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "00" to "99". */
extern const char outbuf_pairs[201];

/* The six digits of n, which is below a million. */
static inline void outbuf_put_six(char *at, uint32_t n)
{
	memcpy(at, outbuf_pairs + n / 10000 * 2, 2);
	memcpy(at + 2, outbuf_pairs + n / 100 % 100 * 2, 2);
	memcpy(at + 4, outbuf_pairs + n % 100 * 2, 2);
}

static inline void outbuf_six(struct outbuf *b, uint32_t n)
{
	outbuf_put_six(outbuf_room(b, 6), n);
	b->len += 6;
}

/* ---- names that others gave ------------------------------------------------------- */

/* Safe for a terminal, as base/escape.h has it; the columns it takes. */
size_t outbuf_escaped(struct outbuf *b, const char *text, size_t len);
/* The same, as a string of JSON with its quotes. */
void outbuf_json(struct outbuf *b, const char *text, size_t len);
/* The same, as a cell of CSV (RFC 4180): quoted where it has to be. */
void outbuf_csv(struct outbuf *b, const char *text, size_t len);
/* The same, for a cell whose quotes the caller writes, where it goes on; how one begins. */
void outbuf_csv_inner(struct outbuf *b, const char *text, size_t len);
void outbuf_csv_begin(struct outbuf *b, const char *text, size_t len);
#endif
