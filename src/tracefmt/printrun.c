/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program of a "print fmt" on an event. */
#include "tracefmt/kerneltexts.h"
#include "tracefmt/printcode.h"
#include "tracefmt/printmath.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

/* Numbers, addresses and masks as text, in a buffer that may be too small. */

struct out {
	char *at, *end;
	size_t cut;              /* bytes that did not fit */
};

struct bytes {
	const unsigned char *at;
	size_t len;
};

static void out_cut(struct out *o, const char *text, size_t len)
{
	size_t room = (size_t)(o->end - o->at);

	if (len > room) {
		o->cut += len - room;
		len = room;
	}
	memcpy(o->at, text, len);
	o->at += len;
}

static inline void out_text(struct out *o, const void *text, size_t len)
{
	if ((size_t)(o->end - o->at) < len) {
		out_cut(o, text, len);
		return;
	}
	memcpy(o->at, text, len);
	o->at += len;
}

static inline void out_char(struct out *o, char c)
{
	out_text(o, &c, 1);
}

static const char digits[] = "0123456789abcdef";

static void out_fill(struct out *o, char c, size_t n)
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

static void out_decimal(struct out *o, uint64_t n)
{
	char buf[24], *end = buf + sizeof(buf), *at = decimal_before(end, n);

	out_text(o, at, (size_t)(end - at));
}

static void out_hex(struct out *o, uint64_t n)
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

/* Applies all flags of spec; `negative`: print a minus sign before n. */
static void out_int(struct out *o, const struct spec *spec, uint64_t n, bool negative, size_t width,
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

static void out_hex_bytes(struct out *o, struct bytes b, char between)
{
	for (size_t i = 0; i < b.len; i++) {
		if (i && between)
			out_char(o, between);
		out_byte(o, b.at[i]);
	}
}

static void out_array(struct out *o, struct bytes b, size_t count, unsigned int size)
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

/* "00000000,0000000f", and "0-3,7". */
static void out_mask(struct out *o, struct bytes b, size_t nbits)
{
	nbits = bits_of(b, nbits);
	for (size_t i = (nbits + 3) / 4; i-- > 0;) {
		out_char(o, digits[nibble(b, i, nbits)]);
		if (i && i % 8 == 0)
			out_char(o, ',');
	}
}

static void out_list(struct out *o, struct bytes b, size_t nbits)
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

/* %pM %pI4 %pI6 %pIS %pU: the first letter, and the optional letters after it: two for %pIS, else one. */
static void out_mac(struct out *o, struct bytes b, char letter, const char *more)
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

static void out_ip4(struct out *o, struct bytes b, char letter, const char *more)
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

static void out_ip6(struct out *o, struct bytes b, char letter, const char *more)
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
static void out_sockaddr(struct out *o, struct bytes b, char letter, const char *more)
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

static void out_uuid(struct out *o, struct bytes b, char letter, const char *more)
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

struct run {
	const struct printfmt *p;
	const char *raw;
	uint32_t raw_size;
	const struct tracefmt_symbols *symbols;
	struct out out;
	const char *start;       /* of the output */
	bool unquotes;           /* the quote of a text that could not be read is left out: the one behind it follows */
	char *begin;             /* start of the output to be padded */
	size_t begin_cut;
	uint64_t *sp;            /* the next free word */
	uint64_t stack[PRINT_STACK + 1];
};

static uint64_t load(const char *at, unsigned int type)
{
	return math_convert(trace_number(at, math_size(type)), type);
}

/* A region outside the raw data is empty. */
static struct bytes region(const struct run *r, uint32_t number)
{
	const struct trace_field *f = r->p->regions[number].field;
	uint32_t at = f->offset, len = f->size, loc;

	if (r->p->regions[number].dynamic) {
		memcpy(&loc, r->raw + f->offset, 4);
		at = loc & 0xffff;
		len = loc >> 16;
		if (f->kind == FIELD_REL_STR || f->kind == FIELD_REL_BYTES)
			at += f->offset + 4u;
	}
	if (at > r->raw_size || len > r->raw_size - at)
		at = len = 0;
	return (struct bytes){ (const unsigned char *)r->raw + at, len };
}

static uint64_t load_elem(const struct run *r, const struct code *code, uint64_t i)
{
	struct bytes b = region(r, code->c);

	return i < b.len / code->b ? load((const char *)b.at + i * code->b, code->a) : 0;
}

/* ---- texts ------------------------------------------------------------------------ */

static uint64_t pop(struct run *r)
{
	return *--r->sp;
}

static void text(struct run *r, const struct code *code)
{
	const char *at = r->p->pool + code->c;
	const bool skip = __builtin_expect(r->unquotes, 0) && code->b && *at == '"';

	r->unquotes = false;
	out_text(&r->out, at + skip, code->b - skip);
}

/* A width or precision from an argument, limited to PRINT_MAX_WIDTH in either direction. */
static int64_t pop_count(struct run *r)
{
	int32_t n = (int32_t)pop(r);

	return n > PRINT_MAX_WIDTH ? PRINT_MAX_WIDTH : n < -PRINT_MAX_WIDTH ? -PRINT_MAX_WIDTH : n;
}

struct padding {
	size_t width, precision;
	bool has_precision, left;
};

static struct padding pop_padding(struct run *r, const struct spec *spec)
{
	struct padding pad = { spec->width, spec->precision, spec->has_precision, spec->left };
	int64_t n;

	if (spec->precision_arg) {
		n = pop_count(r);
		pad.has_precision = n >= 0;
		pad.precision = n >= 0 ? (size_t)n : 0;
	}
	if (spec->width_arg) {
		n = pop_count(r);
		pad.left |= n < 0;
		pad.width = (size_t)(n < 0 ? -n : n);
	}
	return pad;
}

static void integer(struct run *r, const struct code *code)
{
	struct spec spec = r->p->specs[code->c];
	uint64_t n = math_convert(pop(r), code->a);
	struct padding pad = pop_padding(r, &spec);
	bool negative = spec.letter == 'd' && (int64_t)n < 0;

	spec.left = pad.left;
	out_int(&r->out, &spec, negative ? 0 - n : n, negative, pad.width, pad.has_precision,
		pad.precision);
}

static void decimal(struct run *r, const struct code *code)
{
	uint64_t n = math_convert(pop(r), code->a);

	if ((code->a & 1) && (int64_t)n < 0) {
		out_char(&r->out, '-');
		n = 0 - n;
	}
	out_decimal(&r->out, n);
}

static void begin(struct run *r, const struct code *code)
{
	r->begin = r->out.at;
	r->begin_cut = r->out.cut;
}

/* Truncates and pads the output since begin(). */
static void end_padded(struct run *r, const struct code *code)
{
	struct padding pad = pop_padding(r, &r->p->specs[code->c]);
	size_t len = (size_t)(r->out.at - r->begin), fill;

	if (r->out.cut != r->begin_cut)
		return;
	if (pad.has_precision && len > pad.precision) {
		len = pad.precision;
		r->out.at = r->begin + len;
	}
	if (pad.width <= len)
		return;
	fill = pad.width - len;
	out_fill(&r->out, ' ', fill);
	if (!pad.left && r->out.cut == r->begin_cut) {
		memmove(r->begin + fill, r->begin, len);
		memset(r->begin, ' ', fill);
	}
}

/* A NUL is skipped: it would end the text. */
static void character(struct run *r, const struct code *code)
{
	char c = (char)pop(r);

	begin(r, code);
	if (c)
		out_char(&r->out, c);
	end_padded(r, code);
}

static void pointer(struct run *r, const struct code *code)
{
	uint64_t n = pop(r);

	out_text(&r->out, n ? "0x" : "(nil)", n ? 2 : 5);
	if (n)
		out_hex(&r->out, n);
}

static void hex_number(struct run *r, const struct code *code)
{
	out_hex(&r->out, pop(r));
}

static void kernel_text(struct run *r, const struct code *code)
{
	const uint64_t address = pop(r);
	const char *known = r->symbols && r->symbols->texts ? kerneltexts_find(r->symbols->texts, address) : NULL;

	if (known)
		out_text(&r->out, known, strlen(known));
	else
		out_hex(&r->out, address);
}

static void out_prefixed(struct run *r, const char *prefix, uint64_t n)
{
	out_text(&r->out, prefix, strlen(prefix));
	out_hex(&r->out, n);
}

static void function(struct run *r, const struct code *code)
{
	const struct tracefmt_symbols *s = r->symbols;
	uint64_t addr = pop(r), offset = 0;
	const char *name = s && s->find ? s->find(s->ctx, addr, &offset) : NULL;

	if (!name) {
		out_prefixed(r, "0x", addr);
		return;
	}
	out_text(&r->out, name, strlen(name));
	if (code->a)
		out_prefixed(r, "+0x", offset);
}

/* As the kernel prints it: name=(fault), not name="(fault)", which is a text. */
static void fault(struct run *r)
{
	if (r->out.at > r->start && r->out.at[-1] == '"' && !r->out.cut) {
		r->out.at--;
		r->unquotes = true;
	}
	out_text(&r->out, TRACE_FAULT_TEXT, strlen(TRACE_FAULT_TEXT));
}

static void string(struct run *r, const struct code *code)
{
	struct bytes b = region(r, code->c);

	if (__builtin_expect(trace_text_is_fault(r->p->regions[code->c].field, r->raw, b.len), 0))
		fault(r);
	else
		out_text(&r->out, b.at, strnlen((const char *)b.at, b.len));
}

static void out_name(struct run *r, const struct value_name *name)
{
	out_text(&r->out, r->p->pool + name->at, name->len);
}

/* Prints the names of the bits that are set, then the other bits as a number. */
static void flags(struct run *r, const struct code *code)
{
	const struct value_table *t = &r->p->tables[code->c];
	const struct value_name *name = r->p->names + t->first, *end = name + t->count;
	const char *delimiter = r->p->pool + t->delimiter;
	uint64_t n = pop(r);
	bool any = false;

	for (; n && name < end; name++) {
		if (!name->value || (n & name->value) != name->value)
			continue;
		n &= ~name->value;
		if (any)
			out_text(&r->out, delimiter, t->delimiter_len);
		any = true;
		out_name(r, name);
	}
	if (!n)
		return;
	if (any)
		out_text(&r->out, delimiter, t->delimiter_len);
	out_prefixed(r, "0x", n);
}

static void symbolic(struct run *r, const struct code *code)
{
	const struct value_table *t = &r->p->tables[code->c];
	const struct value_name *name = r->p->names + t->first, *end = name + t->count;
	uint64_t n = pop(r);

	for (; name < end; name++)
		if (name->value == n) {
			out_name(r, name);
			return;
		}
	out_prefixed(r, "0x", n);
}

/* A length from the event, limited to the bytes available. */
static size_t pop_length(struct run *r, size_t most)
{
	int32_t n = (int32_t)pop(r);

	return n < 0 ? 0 : (size_t)n < most ? (size_t)n : most;
}

static void hex_bytes(struct run *r, const struct code *code)
{
	struct bytes b = region(r, code->c);

	b.len = pop_length(r, b.len);
	out_hex_bytes(&r->out, b, (char)code->b);
}

static void array(struct run *r, const struct code *code)
{
	struct bytes b = region(r, code->c);

	out_array(&r->out, b, pop_length(r, b.len), code->a);
}

/* code->a: as a list of bits, not as a mask. */
static void mask(struct run *r, const struct code *code)
{
	struct bytes b = region(r, code->c);
	size_t nbits = code->op == CODE_BITS ? pop_length(r, b.len * 8) : b.len * 8;

	(code->a ? out_list : out_mask)(&r->out, b, nbits);
}

static void address(struct run *r, const struct code *code)
{
	static void (*const kinds[])(struct out *o, struct bytes b, char letter, const char *more) = {
		[CODE_MAC] = out_mac, [CODE_IP4] = out_ip4, [CODE_IP6] = out_ip6, [CODE_SOCKADDR] = out_sockaddr,
		[CODE_UUID] = out_uuid,
	};
	const char more[2] = { (char)code->b, (char)(code->b >> 8) };

	kinds[code->op](&r->out, region(r, code->c), (char)code->a, more);
}

typedef void text_fn(struct run *r, const struct code *code);

static text_fn *const texts[] = {
	[CODE_TEXT] = text,
	[CODE_INT] = integer,
	[CODE_DECIMAL] = decimal,
	[CODE_CHAR] = character,
	[CODE_POINTER] = pointer,
	[CODE_HEX_NUMBER] = hex_number,
	[CODE_KERNEL_TEXT] = kernel_text,
	[CODE_FUNCTION] = function,
	[CODE_STRING] = string,
	[CODE_FLAGS] = flags,
	[CODE_SYMBOLIC] = symbolic,
	[CODE_HEX] = hex_bytes,
	[CODE_ARRAY] = array,
	[CODE_BITMASK] = mask,
	[CODE_BITS] = mask,
	[CODE_MAC ... CODE_UUID] = address,
	[CODE_BEGIN] = begin,
	[CODE_END] = end_padded,
};

/* ---- the program ------------------------------------------------------------------ */

static void execute(struct run *r)
{
	for (uint32_t pc = 0; pc < r->p->ncode; pc++) {
		const struct code *code = &r->p->code[pc];
		uint64_t *top = r->sp - 1;

		switch (code->op) {
		case CODE_CONST:
			*r->sp++ = r->p->constants[code->c];
			break;
		case CODE_LOAD:
			*r->sp++ = load(r->raw + code->b, code->a);
			break;
		case CODE_ELEM:
			*top = load_elem(r, code, *top);
			break;
		case CODE_LENGTH:
			*r->sp++ = region(r, code->c).len;
			break;
		case CODE_CONVERT:
			*top = math_convert(*top, code->a);
			break;
		case CODE_UNARY:
			*top = math_unary(code->b, code->a, *top);
			break;
		case CODE_MATH:
			top[-1] = math_do(code->b, code->a, top[-1], *top);
			r->sp--;
			break;
		case CODE_JUMP:
			pc = code->c - 1;
			break;
		case CODE_JUMP_IF_NOT:
			if (!pop(r))
				pc = code->c - 1;
			break;
		default:
			texts[code->op](r, code);
		}
	}
}

size_t printfmt_write(const struct printfmt *p, const void *raw, uint32_t raw_size,
		      const struct tracefmt_symbols *symbols, char *buf, size_t size)
{
	struct run r;

	r.p = p;
	r.raw = raw;
	r.raw_size = raw_size;
	r.symbols = symbols;
	r.out = (struct out){ buf, buf + size, 0 };
	r.start = buf;
	r.unquotes = false;
	r.sp = r.stack + 1;   /* one word before the first, so that there is always a top */
	execute(&r);
	return (size_t)(r.out.at - buf) + r.out.cut;
}
