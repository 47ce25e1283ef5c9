/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer for the text of many events, written in large pieces. Nothing is allocated after
 * outbuf_new(). The bytes of one call are contiguous, so there must be fewer than OUTBUF_PIECE.
 */
#ifndef REPORT_OUTBUF_H
#define REPORT_OUTBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
	OUTBUF_FLUSH = 256 << 10,      /* bytes per write */
	OUTBUF_TEXT = 64 << 10,        /* longer names and texts are cut off */
	OUTBUF_PIECE = 5 * OUTBUF_TEXT + 64,
	OUTBUF_BYTES = OUTBUF_FLUSH + OUTBUF_PIECE,
};

struct outbuf {
	FILE *out;
	size_t len;
	bool csv_safe;                 /* no CSV cell may be a formula: quote_is_formula() */
	int error;                     /* errno of a failed write: later output is dropped */
	char buf[OUTBUF_BYTES];
	char scratch[4 * OUTBUF_TEXT + 1];
};

/* NULL: out of memory. */
struct outbuf *outbuf_new(FILE *out);
void outbuf_free(struct outbuf *b);
/* Writes the buffer's contents. */
void outbuf_flush(struct outbuf *b);

/* ---- pieces ----------------------------------------------------------------------- */

/* Room for n bytes, n < OUTBUF_PIECE; add the number of bytes used to len. */
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

/* n < OUTBUF_PIECE. */
static inline void outbuf_bytes(struct outbuf *b, const char *text, size_t n)
{
	memcpy(outbuf_room(b, n), text, n);
	b->len += n;
}

static inline void outbuf_word(struct outbuf *b, const char *text)
{
	outbuf_bytes(b, text, strlen(text));
}

/* n bytes of a text in a buffer of `size` readable bytes: a constant size avoids a function call. */
static inline void outbuf_short(struct outbuf *b, const char *text, size_t n, size_t size)
{
	memcpy(outbuf_room(b, size), text, size);
	b->len += n;
}

void outbuf_number(struct outbuf *b, uint64_t n);
static inline void outbuf_integer(struct outbuf *b, int64_t n)
{
	if (n < 0)
		outbuf_char(b, '-');
	outbuf_number(b, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

/* Right-aligned in at least `width` columns (up to 32). */
void outbuf_unsigned(struct outbuf *b, uint64_t n, unsigned int width, char pad);
void outbuf_signed(struct outbuf *b, int64_t n, unsigned int width);
void outbuf_hex(struct outbuf *b, uint64_t n, unsigned int width);
/* Two digits for each byte; at most OUTBUF_TEXT bytes. */
void outbuf_hex_bytes(struct outbuf *b, const void *data, size_t len);
void outbuf_pad(struct outbuf *b, size_t n);
void outbuf_printf(struct outbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "00" to "99". */
extern const char outbuf_pairs[201];

/* The six digits of n < 1000000. */
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

/* ---- untrusted text ------------------------------------------------------------------ */

/* Escaped for a terminal (base/escape.h); returns the number of columns. */
size_t outbuf_escaped(struct outbuf *b, const char *text, size_t len);
/* Adds a text as a string of JSON with its quotes. */
void outbuf_json(struct outbuf *b, const char *text, size_t len);
/* Adds a text as a CSV cell (RFC 4180): quoted if needed. */
void outbuf_csv(struct outbuf *b, const char *text, size_t len);
/* Adds a text to a cell whose quotes the caller writes: a later part, and the beginning of the cell. */
void outbuf_csv_inner(struct outbuf *b, const char *text, size_t len);
void outbuf_csv_begin(struct outbuf *b, const char *text, size_t len);
#endif
