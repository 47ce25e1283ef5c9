/* SPDX-License-Identifier: Apache-2.0 */
#include "report/outbuf.h"

#include "base/escape.h"
#include "report/quote.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

enum { MAX_WIDTH = 32, MAX_NUMBER = 24, MAX_PRINTED = 1024, MAX_PLAIN = 256 };

struct outbuf *outbuf_new(FILE *out)
{
	struct outbuf *b = malloc(sizeof(*b));

	if (!b)
		return NULL;
	b->out = out;
	b->len = 0;
	b->error = 0;
	b->csv_safe = false;
	return b;
}

void outbuf_free(struct outbuf *b)
{
	free(b);
}

void outbuf_flush(struct outbuf *b)
{
	errno = 0;
	if (!b->error && b->len && fwrite(b->buf, 1, b->len, b->out) != b->len)
		b->error = errno ? errno : EIO;
	b->len = 0;
}

/* ---- numbers ---------------------------------------------------------------------- */

const char outbuf_pairs[201] =
	"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
	"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
	"8081828384858687888990919293949596979899";

/* Writes two digits at a time, ending at end; returns the first. */
static char *decimal(uint64_t n, char *end)
{
	while (n >= 10000) {
		uint32_t four = (uint32_t)(n % 10000);

		n /= 10000;
		memcpy(end -= 2, outbuf_pairs + four % 100 * 2, 2);
		memcpy(end -= 2, outbuf_pairs + four / 100 * 2, 2);
	}
	if (n >= 100) {
		memcpy(end -= 2, outbuf_pairs + n % 100 * 2, 2);
		n /= 100;
	}
	if (n >= 10)
		return memcpy(end - 2, outbuf_pairs + n * 2, 2);
	*--end = (char)('0' + n);
	return end;
}

/* The MAX_NUMBER bytes from `first` on are readable. */
static void put_right(struct outbuf *b, const char *first, size_t len, unsigned int width, char pad)
{
	char *at = outbuf_room(b, MAX_WIDTH + MAX_NUMBER), *begin = at;

	for (; len < width; width--)
		*at++ = pad;
	memcpy(at, first, MAX_NUMBER);
	b->len += (size_t)(at + len - begin);
}

void outbuf_unsigned(struct outbuf *b, uint64_t n, unsigned int width, char pad)
{
	char digits[2 * MAX_NUMBER], *end = digits + MAX_NUMBER, *first = decimal(n, end);

	put_right(b, first, (size_t)(end - first), width, pad);
}

void outbuf_signed(struct outbuf *b, int64_t n, unsigned int width)
{
	char digits[2 * MAX_NUMBER], *end = digits + MAX_NUMBER;
	char *first = decimal(n < 0 ? 0 - (uint64_t)n : (uint64_t)n, end);

	if (n < 0)
		*--first = '-';
	put_right(b, first, (size_t)(end - first), width, ' ');
}

void outbuf_number(struct outbuf *b, uint64_t n)
{
	char *at = outbuf_room(b, MAX_NUMBER);
	char digits[2 * MAX_NUMBER], *end = digits + MAX_NUMBER, *first;

	if (n < 10) {
		*at = (char)('0' + n);
		b->len++;
		return;
	}
	first = decimal(n, end);
	memcpy(at, first, MAX_NUMBER);
	b->len += (size_t)(end - first);
}

void outbuf_hex(struct outbuf *b, uint64_t n, unsigned int width)
{
	char digits[2 * MAX_NUMBER], *end = digits + MAX_NUMBER, *first = end;

	do
		*--first = "0123456789abcdef"[n & 15];
	while (n >>= 4);
	put_right(b, first, (size_t)(end - first), width, ' ');
}

void outbuf_hex_bytes(struct outbuf *b, const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = data;
	size_t n = len < OUTBUF_TEXT ? len : OUTBUF_TEXT;
	char *at = outbuf_room(b, 2 * n);

	for (size_t i = 0; i < n; i++) {
		*at++ = digits[bytes[i] >> 4];
		*at++ = digits[bytes[i] & 15];
	}
	b->len += 2 * n;
}

void outbuf_pad(struct outbuf *b, size_t n)
{
	memset(outbuf_room(b, n), ' ', n);
	b->len += n;
}

void outbuf_printf(struct outbuf *b, const char *fmt, ...)
{
	char *at = outbuf_room(b, MAX_PRINTED);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(at, MAX_PRINTED, fmt, ap);
	va_end(ap);
	if (n > 0)
		b->len += (size_t)(n < MAX_PRINTED ? n : MAX_PRINTED - 1);
}

/* ---- names ------------------------------------------------------------------------ */

static size_t cut(size_t len)
{
	return len < OUTBUF_TEXT ? len : OUTBUF_TEXT;
}

size_t outbuf_escaped(struct outbuf *b, const char *text, size_t len)
{
	size_t size = 4 * cut(len) + 1, n;   /* each byte as \xNN */

	n = escape_terminal(text, cut(len), outbuf_room(b, size), size);
	b->len += n;
	return n;
}

/* A bit in each byte of w that is the byte c (and perhaps in one above such a byte). */
static inline uint64_t bytes_like(uint64_t w, char c)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), x = w ^ ones * (unsigned char)c;

	return (x - ones) & ~x;
}

/* Whether escape_terminal() leaves a word of text as it is, and none of its bytes is a special one. */
static inline bool is_plain_word(uint64_t w, const char special[2])
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	return !((w | (w - ones * 0x20) | (w + ones) | bytes_like(w, special[0]) | bytes_like(w, special[1])) & ones << 7);
}

/* All bytes of a short text, some of them twice. */
static inline uint64_t word_of(const char *text, size_t len)
{
	uint32_t low, high;

	if (len < sizeof(low)) {
		low = len ? (uint32_t)(unsigned char)text[0] << 16 | (uint32_t)(unsigned char)text[len / 2] << 8 |
			    (unsigned char)text[len - 1] : 0x202020;
		return UINT64_C(0x2020202020000000) | low;
	}
	memcpy(&low, text, sizeof(low));
	memcpy(&high, text + len - sizeof(high), sizeof(high));
	return (uint64_t)high << 32 | low;
}

/* The same of a whole text; false also if it is long, or for a few that are plain. */
static bool is_plain(const char *text, size_t len, const char special[2])
{
	uint64_t w;

	if (len < sizeof(w))
		return is_plain_word(word_of(text, len), special);
	for (size_t i = 0; i + sizeof(w) < len && len <= MAX_PLAIN; i += sizeof(w)) {
		memcpy(&w, text + i, sizeof(w));
		if (!is_plain_word(w, special))
			return false;
	}
	memcpy(&w, text + len - sizeof(w), sizeof(w));
	return len <= MAX_PLAIN && is_plain_word(w, special);
}

/* Escapes text and puts `mark` before each `special` character (at most one of the four in \xNN).
 * Mostly there is none. */
static void put_marked(struct outbuf *b, const char *text, size_t len, const char *special, char mark)
{
	size_t size = 5 * cut(len) + 1;
	char *at = outbuf_room(b, size), *begin = at;
	size_t n = escape_terminal(text, cut(len), at, size);

	if (!memchr(at, special[0], n) && (!special[1] || !memchr(at, special[1], n))) {
		b->len += n;
		return;
	}
	memcpy(b->scratch, at, n);
	for (size_t i = 0; i < n; i++) {
		if (b->scratch[i] == special[0] || b->scratch[i] == special[1])
			*at++ = mark;
		*at++ = b->scratch[i];
	}
	b->len += (size_t)(at - begin);
}

void outbuf_json(struct outbuf *b, const char *text, size_t len)
{
	char *at;

	if (is_plain(text, len, "\"\\")) {
		at = outbuf_room(b, len + 2);
		*at = at[len + 1] = '"';
		memcpy(at + 1, text, len);
		b->len += len + 2;
		return;
	}
	outbuf_char(b, '"');
	put_marked(b, text, len, "\"\\", '\\');
	outbuf_char(b, '"');
}

void outbuf_csv_inner(struct outbuf *b, const char *text, size_t len)
{
	put_marked(b, text, len, "\"", '"');
}

void outbuf_csv_begin(struct outbuf *b, const char *text, size_t len)
{
	if (b->csv_safe && quote_is_formula(text, len))
		outbuf_char(b, '\'');
	outbuf_csv_inner(b, text, len);
}

/* Spaces at the ends are protected by quotes, since some readers strip them. Newlines are escaped. */
static bool needs_quotes(const char *text, size_t len)
{
	return len && (memchr(text, ',', len) || memchr(text, '"', len) || text[0] == ' ' ||
		       text[len - 1] == ' ');
}

void outbuf_csv(struct outbuf *b, const char *text, size_t len)
{
	bool quotes;

	if (len && !b->csv_safe && text[0] != ' ' && text[len - 1] != ' ' && is_plain(text, len, ",\"")) {
		outbuf_bytes(b, text, len);
		return;
	}
	quotes = needs_quotes(text, cut(len));
	if (quotes)
		outbuf_char(b, '"');
	outbuf_csv_begin(b, text, len);
	if (quotes)
		outbuf_char(b, '"');
}
