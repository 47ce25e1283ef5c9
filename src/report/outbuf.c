/* SPDX-License-Identifier: Apache-2.0 */
#include "report/outbuf.h"

#include "base/escape.h"
#include "report/quote.h"

#include <endian.h>
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

enum { EIGHT_DIGITS = 100000000 };

/* The digits of n < 100000000 as bytes, the first in the lowest. In each step, the parts of the number are split alike. */
static inline uint64_t digits_of(uint32_t n)
{
	uint64_t x = n / 10000 | (uint64_t)(n % 10000) << 32, q;

	q = x * 10486 >> 20 & UINT64_C(0x7f0000007f);          /* 10486 / 2^20: 1 / 100, exact for x < 10000 */
	x = q | (x - q * 100) << 16;
	q = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);      /* 103 / 2^10: 1 / 10, exact for x < 100 */
	return q | (x - q * 10) << 8;
}

static inline unsigned int count_digits(uint32_t n)
{
	static const uint32_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, EIGHT_DIGITS };
	unsigned int least = (unsigned int)(32 - __builtin_clz(n | 1)) * 1233 >> 12;   /* 1233 / 2^12: log10(2) */

	return least + ((n | 1) >= powers[least]);
}

/* The last digits of n < 100000000. Eight bytes may be written. Returns their end. */
static inline char *put_digits(char *at, uint32_t n, unsigned int count)
{
	uint64_t digits = htole64((digits_of(n) | UINT64_C(0x3030303030303030)) >> 8 * (8 - count));

	memcpy(at, &digits, sizeof(digits));
	return at + count;
}

/* Returns its end; MAX_NUMBER bytes may be written. */
static char *put_decimal(char *at, uint64_t n)
{
	uint64_t first = n / EIGHT_DIGITS;

	if (!first)
		return put_digits(at, (uint32_t)n, count_digits((uint32_t)n));
	at = first < EIGHT_DIGITS ? put_digits(at, (uint32_t)first, count_digits((uint32_t)first)) : put_decimal(at, first);
	return put_digits(at, (uint32_t)(n % EIGHT_DIGITS), 8);
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
	char digits[MAX_NUMBER];

	put_right(b, digits, (size_t)(put_decimal(digits, n) - digits), width, pad);
}

void outbuf_signed(struct outbuf *b, int64_t n, unsigned int width)
{
	char digits[1 + MAX_NUMBER] = "-", *first = digits + (n >= 0);
	char *end = put_decimal(digits + 1, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);

	put_right(b, first, (size_t)(end - first), width, ' ');
}

void outbuf_number(struct outbuf *b, uint64_t n)
{
	char *at = outbuf_room(b, MAX_NUMBER);

	if (n < 10) {
		*at = (char)('0' + n);
		b->len++;
		return;
	}
	b->len += (size_t)(put_decimal(at, n) - at);
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

typedef int8_t piece __attribute__((vector_size(16)));

/* Whether escape_terminal() leaves these bytes as they are, and none of them is a special one. */
static inline bool is_plain_piece(piece p, const char special[2])
{
	piece other = (p < 0x20) | (p == 0x7f) | (p == (int8_t)special[0]) | (p == (int8_t)special[1]);
	uint64_t any[2];

	memcpy(any, &other, sizeof(any));
	return !(any[0] | any[1]);
}

static inline piece piece_at(const void *bytes)
{
	piece p;

	memcpy(&p, bytes, sizeof(p));
	return p;
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

/* piece_at() for a text of less than a piece. */
static inline piece short_piece(const char *text, size_t len)
{
	uint64_t words[2];

	if (len < sizeof(*words)) {
		words[0] = words[1] = word_of(text, len);
	} else {
		memcpy(&words[0], text, sizeof(*words));
		memcpy(&words[1], text + len - sizeof(*words), sizeof(*words));
	}
	return piece_at(words);
}

/* Whether a whole text is plain; false also if it is long. */
static bool is_plain(const char *text, size_t len, const char special[2])
{
	if (len < sizeof(piece))
		return is_plain_piece(short_piece(text, len), special);
	for (size_t i = 0; i + sizeof(piece) < len && len <= MAX_PLAIN; i += sizeof(piece))
		if (!is_plain_piece(piece_at(text + i), special))
			return false;
	return len <= MAX_PLAIN && is_plain_piece(piece_at(text + len - sizeof(piece)), special);
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
