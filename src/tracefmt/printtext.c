/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/printtext.h"

#include <arpa/inet.h>
#include <sys/socket.h>

static const char digits[] = "0123456789abcdef";

void out_cut(struct out *o, const char *text, size_t len)
{
	size_t room = (size_t)(o->end - o->at);

	if (len > room) {
		o->cut += len - room;
		len = room;
	}
	memcpy(o->at, text, len);
	o->at += len;
}

void out_fill(struct out *o, char c, size_t n)
{
	size_t room = (size_t)(o->end - o->at);

	if (n > room) {
		o->cut += n - room;
		n = room;
	}
	memset(o->at, c, n);
	o->at += n;
}

/* ---- numbers ---------------------------------------------------------------------- */

/* Writes digits that end at `end`; returns their start. */
static char *digits_before(char *end, uint64_t n, unsigned int base, bool upper)
{
	do {
		char c = digits[n % base];

		*--end = upper && c >= 'a' ? (char)(c - 0x20) : c;
		n /= base;
	} while (n);
	return end;
}

static char *decimal_before(char *end, uint64_t n)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";

	for (; n >= 100; n /= 100)
		memcpy(end -= 2, pairs + n % 100 * 2, 2);
	if (n >= 10)
		memcpy(end -= 2, pairs + n * 2, 2);
	else
		*--end = (char)('0' + n);
	return end;
}

void out_decimal(struct out *o, uint64_t n)
{
	char buf[24], *end = buf + sizeof(buf), *at = decimal_before(end, n);

	out_text(o, at, (size_t)(end - at));
}

void out_hex(struct out *o, uint64_t n)
{
	char buf[24], *end = buf + sizeof(buf), *at = digits_before(end, n, 16, false);

	out_text(o, at, (size_t)(end - at));
}

static const char *sign_of(const struct spec *spec, bool negative)
{
	if (spec->letter != 'd')
		return "";
	return negative ? "-" : spec->plus ? "+" : spec->space ? " " : "";
}

static char *spec_digits(char *end, const struct spec *spec, uint64_t n)
{
	switch (spec->letter) {
	case 'x':
	case 'X':
		return digits_before(end, n, 16, spec->letter == 'X');
	case 'o':
		return digits_before(end, n, 8, false);
	default:
		return decimal_before(end, n);
	}
}

void out_int(struct out *o, const struct spec *spec, uint64_t n, bool negative, size_t width,
	     bool has_precision, size_t precision)
{
	char buf[32], *end = buf + sizeof(buf), *at = spec_digits(end, spec, n);
	const char *before = sign_of(spec, negative);
	size_t len, zeros, used;

	if (has_precision && !precision && !n)
		at = end;
	if (spec->alternate && (spec->letter | 0x20) == 'x')   /* the kernel does so also for 0 */
		before = spec->letter == 'x' ? "0x" : "0X";
	len = (size_t)(end - at);
	zeros = precision > len ? precision - len : 0;
	if (spec->alternate && spec->letter == 'o' && !zeros && (at == end || *at != '0'))
		zeros = 1;
	used = strlen(before) + zeros + len;
	if (spec->zero && !spec->left && !has_precision && width > used) {
		zeros += width - used;
		used = width;
	}
	if (!spec->left && width > used)
		out_fill(o, ' ', width - used);
	out_text(o, before, strlen(before));
	out_fill(o, '0', zeros);
	out_text(o, at, len);
	if (spec->left && width > used)
		out_fill(o, ' ', width - used);
}

/* ---- bytes ------------------------------------------------------------------------ */

static void out_byte(struct out *o, unsigned int byte)
{
	const char two[2] = { digits[byte >> 4 & 15], digits[byte & 15] };

	out_text(o, two, 2);
}

void out_hex_bytes(struct out *o, struct bytes b, char between)
{
	for (size_t i = 0; i < b.len; i++) {
		if (i && between)
			out_char(o, between);
		out_byte(o, b.at[i]);
	}
}

void out_array(struct out *o, struct bytes b, size_t count, unsigned int size)
{
	if (count > b.len / size)
		count = b.len / size;
	out_char(o, '{');
	for (size_t i = 0; i < count; i++) {
		if (i)
			out_char(o, ',');
		out_text(o, "0x", 2);
		out_hex(o, trace_number(b.at + i * size, size));
	}
	out_char(o, '}');
}

/* ---- masks: words of the kernel, little-endian ------------------------------------ */

static bool bit(struct bytes b, size_t i)
{
	return b.at[i / 8] >> (i & 7) & 1;
}

static size_t bits_of(struct bytes b, size_t nbits)
{
	return nbits < b.len * 8 ? nbits : b.len * 8;
}

static unsigned int nibble(struct bytes b, size_t i, size_t nbits)
{
	unsigned int value = b.at[i / 2] >> (i & 1 ? 4 : 0) & 15;

	return nbits - i * 4 < 4 ? value & ((1u << (nbits - i * 4)) - 1) : value;
}

void out_mask(struct out *o, struct bytes b, size_t nbits)
{
	nbits = bits_of(b, nbits);
	for (size_t i = (nbits + 3) / 4; i-- > 0;) {
		out_char(o, digits[nibble(b, i, nbits)]);
		if (i && i % 8 == 0)
			out_char(o, ',');
	}
}

void out_list(struct out *o, struct bytes b, size_t nbits)
{
	bool first = true;

	nbits = bits_of(b, nbits);
	for (size_t i = 0, last; i < nbits; i++) {
		if (!(i & 7) && !b.at[i / 8]) {
			i += 7;
			continue;
		}
		if (!bit(b, i))
			continue;
		for (last = i; last + 1 < nbits && bit(b, last + 1);)
			last++;
		if (!first)
			out_char(o, ',');
		first = false;
		out_decimal(o, i);
		if (last > i) {
			out_char(o, '-');
			out_decimal(o, last);
		}
		i = last;
	}
}

/* ---- addresses -------------------------------------------------------------------- */

static void out_words(struct out *o, const char *text)
{
	out_text(o, text, strlen(text));
}

void out_mac(struct out *o, struct bytes b, char letter, const char *more)
{
	char between = letter == 'm' ? 0 : *more == 'F' ? '-' : ':';

	if (b.len < 6) {
		out_words(o, "INVALIDMAC");
		return;
	}
	for (size_t i = 0; i < 6; i++) {
		if (i && between)
			out_char(o, between);
		out_byte(o, b.at[*more == 'R' ? 5 - i : i]);
	}
}

void out_ip4(struct out *o, struct bytes b, char letter, const char *more)
{
	bool reverse = *more == 'h' || *more == 'l';   /* 'h': this machine's byte order, little-endian */
	static const struct spec padded = { .letter = 'u', .zero = true };

	if (b.len < 4) {
		out_words(o, "INVALIDIPv4");
		return;
	}
	for (size_t i = 0; i < 4; i++) {
		if (i)
			out_char(o, '.');
		out_int(o, &padded, b.at[reverse ? 3 - i : i], false, letter == 'i' ? 3 : 0, false, 0);
	}
}

static unsigned int ip6_word(const unsigned char *a, size_t i)
{
	return (unsigned int)a[2 * i] << 8 | a[2 * i + 1];
}

/* ::ffff:1.2.3.4, and ISATAP addresses. */
static bool ends_in_ip4(const unsigned char *a)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(a, mapped, 12) ||
	       ((a[8] | 2) == 2 && a[9] == 0 && a[10] == 0x5e && a[11] == 0xfe);
}

/* The longest run of at least two zero words; returns its length, 0: none. */
static size_t zero_run(const unsigned char *a, size_t words, size_t *begin)
{
	size_t best = 1;

	for (size_t i = 0, n; i < words; i += n + 1) {
		for (n = 0; i + n < words && !ip6_word(a, i + n);)
			n++;
		if (n > best) {
			best = n;
			*begin = i;
		}
	}
	return best > 1 ? best : 0;
}

static void out_ip6_short(struct out *o, const unsigned char *a)
{
	bool ip4 = ends_in_ip4(a), colon = false;
	size_t words = ip4 ? 6 : 8, begin = 0, run = zero_run(a, words, &begin);

	for (size_t i = 0; i < words; i++) {
		if (run && i == begin) {
			out_words(o, "::");
			colon = false;
			i += run - 1;
			continue;
		}
		if (colon)
			out_char(o, ':');
		out_hex(o, ip6_word(a, i));
		colon = true;
	}
	if (colon && ip4)
		out_char(o, ':');
	if (ip4)
		out_ip4(o, (struct bytes){ a + 12, 4 }, 'I', "");
}

void out_ip6(struct out *o, struct bytes b, char letter, const char *more)
{
	if (b.len < 16) {
		out_words(o, "INVALIDIPv6");
		return;
	}
	if (letter == 'I' && *more == 'c') {
		out_ip6_short(o, b.at);
		return;
	}
	for (size_t i = 0; i < 16; i += 2) {
		if (i && letter == 'I')
			out_char(o, ':');
		out_byte(o, b.at[i]);
		out_byte(o, b.at[i + 1]);
	}
}

/* sockaddr_in: family, port, 4 bytes; sockaddr_in6: family, port, flow, 16 bytes. */
void out_sockaddr(struct out *o, struct bytes b, char letter, const char *more)
{
	bool port = more[0] == 'p' || more[1] == 'p', shorter = more[0] == 'c' || more[1] == 'c';
	uint16_t family;

	if (b.len < 16)
		return;
	memcpy(&family, b.at, 2);
	if (family == AF_INET) {
		out_ip4(o, (struct bytes){ b.at + 4, 4 }, letter, "");
	} else if (family == AF_INET6) {
		if (port && b.len >= 28)
			out_char(o, '[');
		out_ip6(o, (struct bytes){ b.at + 8, b.len < 28 ? 0 : 16 }, letter,
			shorter ? "c" : "");
		if (b.len < 28)
			return;
		if (port)
			out_char(o, ']');
	} else {
		return;
	}
	if (port) {
		out_char(o, ':');
		out_decimal(o, ip6_word(b.at, 1));
	}
}

void out_uuid(struct out *o, struct bytes b, char letter, const char *more)
{
	static const uint8_t guid[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	bool upper = *more == 'L' || *more == 'B', little = *more == 'L' || *more == 'l';

	if (b.len < 16) {
		out_words(o, "INVALIDUUID");
		return;
	}
	for (size_t i = 0; i < 16; i++) {
		unsigned int byte = b.at[little ? guid[i] : i];
		char two[2], *end = two + 2;

		digits_before(digits_before(end, byte & 15, 16, upper), byte >> 4, 16, upper);
		out_text(o, two, 2);
		if (i == 3 || i == 5 || i == 7 || i == 9)
			out_char(o, '-');
	}
}
