/* SPDX-License-Identifier: Apache-2.0 */
#include "report/outbuf.h"

#include "base/escape.h"
#include "report/quote.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

enum { MAX_WIDTH = 32, MAX_NUMBER = 24, MAX_PRINTED = 1024 };

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
	while (n >= 100) {
		memcpy(end -= 2, outbuf_pairs + n % 100 * 2, 2);
		n /= 100;
	}
	if (n >= 10)
		return memcpy(end - 2, outbuf_pairs + n * 2, 2);
	*--end = (char)('0' + n);
	return end;
}

static void put_right(struct outbuf *b, const char *first, size_t len, unsigned int width, char pad)
{
	char *at = outbuf_room(b, MAX_WIDTH + MAX_NUMBER), *begin = at;

	for (; len < width; width--)
		*at++ = pad;
	memcpy(at, first, len);
	b->len += (size_t)(at + len - begin);
}

void outbuf_unsigned(struct outbuf *b, uint64_t n, unsigned int width, char pad)
{
	char digits[MAX_NUMBER], *end = digits + sizeof(digits), *first = decimal(n, end);

	put_right(b, first, (size_t)(end - first), width, pad);
}

void outbuf_signed(struct outbuf *b, int64_t n, unsigned int width)
{
	char digits[MAX_NUMBER], *end = digits + sizeof(digits);
	char *first = decimal(n < 0 ? 0 - (uint64_t)n : (uint64_t)n, end);

	if (n < 0)
		*--first = '-';
	put_right(b, first, (size_t)(end - first), width, ' ');
}

void outbuf_hex(struct outbuf *b, uint64_t n, unsigned int width)
{
	char digits[MAX_NUMBER], *end = digits + sizeof(digits), *first = end;

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
	bool quotes = needs_quotes(text, cut(len));

	if (quotes)
		outbuf_char(b, '"');
	outbuf_csv_begin(b, text, len);
	if (quotes)
		outbuf_char(b, '"');
}
