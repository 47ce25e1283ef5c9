/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program of a "print fmt" on an event. */
#include "tracefmt/kerneltexts.h"
#include "tracefmt/printmath.h"
#include "tracefmt/printtext.h"

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

/* As a list if a. */
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
