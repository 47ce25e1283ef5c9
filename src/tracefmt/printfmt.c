/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a print tree to a program. */
#include "base/room.h"
#include "tracefmt/printcode.h"
#include "tracefmt/printmath.h"
#include "tracefmt/printnode.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- conversions ------------------------------------------------------------------------ */

/* A conversion of a format: printf's, and the kernel's extensions of %p. */

static const char *read_flags(struct spec *spec, const char *at, const char *end)
{
	static const char letters[] = "-0#+ ";
	bool *const flags[] = { &spec->left, &spec->zero, &spec->alternate, &spec->plus, &spec->space };
	const char *letter;

	for (; at < end && *at && (letter = strchr(letters, *at)); at++)
		*flags[letter - letters] = true;
	return at;
}

static const char *read_count(const char *at, const char *end, uint16_t *n, bool *star)
{
	if (at < end && *at == '*') {
		*star = true;
		return at + 1;
	}
	for (; at < end && isdigit((unsigned char)*at); at++)
		if (*n <= PRINT_MAX_WIDTH)
			*n = (uint16_t)(*n * 10 + (*at - '0'));
	return at;
}

static const char *read_size(struct spec *spec, const char *at, const char *end)
{
	int longer = 0;

	for (; at < end && strchr("hlLzZtjq", *at) && *at; at++)
		longer += *at == 'h' ? -1 : 1;
	spec->size = longer > 0 ? 8 : longer == 0 ? 4 : longer == -1 ? 2 : 1;
	return at;
}

/* Letters that may follow the first two letters after %p. */
static const char *third_letters(const char *variant)
{
	if (*variant != 'I' && *variant != 'i')
		return "";
	return variant[1] == '4' ? "hnlb" : variant[1] == '6' ? "c" : "pfsc";
}

/* Takes the letters after %p that belong to the conversion. */
static const char *read_variant(struct spec *spec, const char *at, const char *end)
{
	static const struct {
		char first;
		const char *second;
	} variants[] = {
		{ 'F', "" }, { 'f', "" }, { 'S', "" }, { 's', "" }, { 'B', "" }, { 'K', "" },
		{ 'x', "" }, { 'M', "RF" }, { 'm', "R" }, { 'I', "46S" }, { 'i', "46S" },
		{ 'U', "bBlL" }, { 'h', "CDN" }, { 'b', "l" },
	};
	size_t n = 0, most;

	for (size_t i = 0; at < end && i < sizeof(variants) / sizeof(*variants); i++) {
		if (*at != variants[i].first)
			continue;
		spec->variant[n++] = *at++;
		if (at == end || !*at || !strchr(variants[i].second, *at))
			break;
		spec->variant[n++] = *at++;
		most = spec->variant[1] == 'S' ? 4 : 3;
		while (n < most && at < end && *at && strchr(third_letters(spec->variant), *at))
			spec->variant[n++] = *at++;
		break;
	}
	return at;
}

const char *spec_read(struct spec *spec, const char *at, const char *end)
{
	*spec = (struct spec){ 0 };
	at = read_flags(spec, at, end);
	at = read_count(at, end, &spec->width, &spec->width_arg);
	if (at < end && *at == '.') {
		spec->has_precision = true;
		at = read_count(at + 1, end, &spec->precision, &spec->precision_arg);
	}
	at = read_size(spec, at, end);
	if (at == end)
		return NULL;
	spec->letter = *at == 'i' ? 'd' : *at;
	if (spec->width > PRINT_MAX_WIDTH || spec->precision > PRINT_MAX_WIDTH)
		return NULL;
	return spec->letter == 'p' ? read_variant(spec, at + 1, end) : at + 1;
}

enum { MAX_PARTS = 1 << 20 };

struct compiler {
	struct printfmt *out;
	struct node *arg;            /* the next argument */
	const char *why;
	uint32_t depth;              /* of the stack */
	struct {
		uint32_t code, constants, specs, regions, names, tables, pool;
	} room;
};

static bool fails(struct compiler *c, const char *why)
{
	if (!c->why)
		c->why = why;
	return false;
}

/* The first of `more` new elements of a vector; NULL if there is no memory. */
#define ADD(c, member, more)                                                                   \
	({                                                                                     \
		struct printfmt *out_ = (c)->out;                                              \
		uint32_t at_ = out_->n##member;                                                \
		bool fits_ = (uint64_t)at_ + (more) <= MAX_PARTS &&                            \
			     ROOM_FOR(out_->member, (c)->room.member, at_, (more));            \
                                                                                               \
		if (fits_)                                                                     \
			out_->n##member += (more);                                             \
		else                                                                           \
			fails((c), "too large");                                               \
		fits_ ? &out_->member[at_] : NULL;                                             \
	})

/* Adds one element; false if there is no memory. */
#define PUT(c, member, ...)                                                                    \
	({                                                                                     \
		__typeof__((c)->out->member) to_ = ADD((c), member, 1);                        \
                                                                                               \
		if (to_)                                                                       \
			*to_ = (__VA_ARGS__);                                                  \
		to_ != NULL;                                                                   \
	})

static bool emit(struct compiler *c, enum opcode op, unsigned int a, unsigned int b, uint32_t at)
{
	return PUT(c, code, (struct code){ (uint8_t)op, (uint8_t)a, (uint16_t)b, at });
}

/* Adds text to the pool; equal texts are not merged. */
static bool pool_add(struct compiler *c, const char *text, size_t len, uint32_t *at)
{
	char *to;

	if (len > UINT16_MAX)
		return fails(c, "a text too long");
	to = ADD(c, pool, (uint32_t)len);
	if (!to)
		return false;
	memcpy(to, text, len);
	*at = c->out->npool - (uint32_t)len;
	return true;
}

static bool emit_text(struct compiler *c, const char *text, size_t len)
{
	uint32_t at;

	return !len || (pool_add(c, text, len, &at) && emit(c, CODE_TEXT, 0, (unsigned int)len, at));
}

static bool add_region(struct compiler *c, const struct trace_field *field, uint32_t *at)
{
	*at = c->out->nregions;
	return PUT(c, regions, (struct region){ field, field->kind >= FIELD_DYN_STR });
}

static bool add_spec(struct compiler *c, const struct spec *spec, uint32_t *at)
{
	*at = c->out->nspecs;
	return PUT(c, specs, *spec);
}

/* ---- numbers ---------------------------------------------------------------------- */

static bool number_code(struct compiler *c, const struct node *n);

static bool pushes(struct compiler *c)
{
	return ++c->depth < PRINT_STACK - 4 || fails(c, "nested too deeply");
}

static bool const_code(struct compiler *c, const struct node *n)
{
	return PUT(c, constants, n->number) && pushes(c) && emit(c, CODE_CONST, 0, 0, c->out->nconstants - 1);
}

static bool elem_code(struct compiler *c, const struct node *n)
{
	uint32_t region;

	return number_code(c, n->b) && add_region(c, n->a->field, &region) &&
	       emit(c, CODE_ELEM, math_type(&n->type), n->type.size, region);
}

static bool length_code(struct compiler *c, const struct node *n)
{
	uint32_t region;

	return pushes(c) && add_region(c, n->field, &region) && emit(c, CODE_LENGTH, 0, 0, region);
}

static bool binary_code(struct compiler *c, const struct node *n)
{
	if (!number_code(c, n->a) || !number_code(c, n->b))
		return false;
	c->depth--;
	return emit(c, CODE_MATH, node_math_type(n), node_math_op(n->op), 0);
}

static bool convert_code(struct compiler *c, const struct node *from, const struct ctype *type)
{
	unsigned int to = math_type(type);

	if (!number_code(c, from))
		return false;
	return to == MATH_U64 || to == MATH_S64 || to == math_type(&from->type) ||
	       emit(c, CODE_CONVERT, to, 0, 0);
}

typedef bool branch_fn(struct compiler *c, const struct node *n, const struct ctype *type);

/* Code for a ? b : c, with the branches compiled by the function. */
static bool choice_code(struct compiler *c, const struct node *n, branch_fn *branch)
{
	uint32_t otherwise, end, depth;

	if (!number_code(c, n->a))
		return false;
	depth = --c->depth;
	otherwise = c->out->ncode;
	if (!emit(c, CODE_JUMP_IF_NOT, 0, 0, 0) || !branch(c, n->b, &n->type))
		return false;
	end = c->out->ncode;
	c->depth = depth;
	if (!emit(c, CODE_JUMP, 0, 0, 0))
		return false;
	c->out->code[otherwise].c = c->out->ncode;
	if (!branch(c, n->c, &n->type))
		return false;
	c->out->code[end].c = c->out->ncode;
	return true;
}

static bool unary_code(struct compiler *c, const struct node *n)
{
	return number_code(c, n->a) && emit(c, CODE_UNARY, math_type(&n->type), n->op, 0);
}

static bool number_code(struct compiler *c, const struct node *n)
{
	switch (n->kind) {
	case NODE_CONST:
		return const_code(c, n);
	case NODE_FIELD:
		return pushes(c) && emit(c, CODE_LOAD, math_type(&n->type), n->field->offset, 0);
	case NODE_ELEM:
		return elem_code(c, n);
	case NODE_LENGTH:
		return length_code(c, n);
	case NODE_UNARY:
		return unary_code(c, n);
	case NODE_BINARY:
		return binary_code(c, n);
	case NODE_CAST:
		return convert_code(c, n->a, &n->type);
	case NODE_CHOICE:
		return n->is_text ? fails(c, "a number of a text") : choice_code(c, n, convert_code);
	default:
		return fails(c, "a number of what isn't one");
	}
}

/* ---- texts ------------------------------------------------------------------------ */

static bool add_names(struct compiler *c, const struct node *n)
{
	for (size_t i = 0; i < n->nvalues; i++) {
		struct value_name *name = ADD(c, names, 1);
		uint32_t at;

		if (!name || !pool_add(c, n->values[i].name, n->values[i].len, &at))
			return false;
		*name = (struct value_name){ n->values[i].value, at, (uint32_t)n->values[i].len };
	}
	return true;
}

static bool table_code(struct compiler *c, const struct node *n, enum opcode op)
{
	struct value_table table = { .first = c->out->nnames, .count = (uint32_t)n->nvalues,
				     .delimiter_len = (uint32_t)n->len };

	if (!add_names(c, n) || !number_code(c, n->a) ||
	    (n->len && !pool_add(c, n->text, n->len, &table.delimiter)))
		return false;
	c->depth--;
	return PUT(c, tables, table) && emit(c, op, 0, 0, c->out->ntables - 1);
}

static bool region_code(struct compiler *c, enum opcode op, const struct trace_field *field,
			unsigned int a, unsigned int b)
{
	uint32_t region;

	return add_region(c, field, &region) && emit(c, op, a, b, region);
}

static bool counted_code(struct compiler *c, const struct node *n, enum opcode op, uint64_t a)
{
	if (!number_code(c, n->b))
		return false;
	c->depth--;
	return region_code(c, op, n->a->field, (unsigned int)a,
			   n->len ? (unsigned char)*n->text : 0);
}

static bool text_code(struct compiler *c, const struct node *n, const struct ctype *type)
{
	switch (n->kind) {
	case NODE_TEXT:
		return emit_text(c, n->text, n->len);
	case NODE_STRING:
		return region_code(c, CODE_STRING, n->field, 0, 0);
	case NODE_FLAGS:
		return table_code(c, n, CODE_FLAGS);
	case NODE_SYMBOLIC:
		return table_code(c, n, CODE_SYMBOLIC);
	case NODE_HEX:
		return counted_code(c, n, CODE_HEX, 0);
	case NODE_ARRAY:
		return counted_code(c, n, CODE_ARRAY, n->c->number);
	case NODE_BITMASK:
		return region_code(c, CODE_BITMASK, n->field, 0, 0);
	case NODE_CPUMASK:
		return region_code(c, CODE_BITMASK, n->field, 1, 0);
	case NODE_CHOICE:
		return choice_code(c, n, text_code);
	default:
		return fails(c, "a text of a number");
	}
}

/* ---- conversions ------------------------------------------------------------------ */

static struct node *next_arg(struct compiler *c)
{
	struct node *n = c->arg;

	if (!n)
		fails(c, "an argument is missing");
	else
		c->arg = n->next;
	return n;
}

/* Number of stack words taken by width and precision. */
static uint32_t star_args(const struct spec *spec)
{
	return (uint32_t)spec->width_arg + spec->precision_arg;
}

static bool plain(const struct spec *spec)
{
	return !spec->width && !spec->width_arg && !spec->has_precision && !spec->precision_arg;
}

static bool integer(struct compiler *c, const struct spec *spec, const struct node *n)
{
	bool decimal = spec->letter == 'd' || spec->letter == 'u';
	unsigned int type = math_type(&(struct ctype){ .size = spec->size,
						       .is_signed = spec->letter == 'd' });
	uint32_t at;

	if (!number_code(c, n))
		return false;
	c->depth -= 1 + star_args(spec);
	if (decimal && plain(spec) && !spec->plus && !spec->space)
		return emit(c, CODE_DECIMAL, type, 0, 0);
	return add_spec(c, spec, &at) && emit(c, CODE_INT, type, 0, at);
}

static bool character(struct compiler *c, const struct spec *spec, const struct node *n)
{
	uint32_t at;

	if (!number_code(c, n))
		return false;
	c->depth -= 1 + star_args(spec);
	return add_spec(c, spec, &at) && emit(c, CODE_CHAR, 0, 0, at);
}

/* A pointer to a string in kernel memory: only the address is known. */
static bool is_address(const struct node *n)
{
	return node_is_number(n) && n->type.size == sizeof(void *) && n->kind == NODE_FIELD;
}

/* Converts a node to text, as the parser would. */
static const struct node *as_text(struct compiler *c, struct node *n, struct node *own)
{
	struct node *bytes = n;

	if (n->kind >= NODE_TEXT || (n->kind == NODE_CHOICE && n->is_text))
		return n;
	while (bytes->kind == NODE_CAST)
		bytes = bytes->a;
	if (bytes->kind >= NODE_TEXT)
		return bytes;
	if (bytes->kind != NODE_BYTES) {
		fails(c, "a text of a number");
		return NULL;
	}
	*own = (struct node){ .kind = NODE_STRING, .field = bytes->field };
	return own;
}

static bool string(struct compiler *c, const struct spec *spec, struct node *n)
{
	const struct node *text;
	struct node own;
	uint32_t at;

	if (is_address(n) && !star_args(spec)) {
		if (!number_code(c, n))
			return false;
		c->depth--;
		return emit(c, CODE_KERNEL_TEXT, 0, 0, 0);
	}
	text = as_text(c, n, &own);
	if (!text)
		return false;
	if (plain(spec))
		return text_code(c, text, NULL);
	if (!emit(c, CODE_BEGIN, 0, 0, 0) || !text_code(c, text, NULL))
		return false;
	c->depth -= star_args(spec);
	return add_spec(c, spec, &at) && emit(c, CODE_END, 0, 0, at);
}

/* %*ph and %*pb print as many bytes or bits as their width says. */
static bool counted_pointer(struct compiler *c, const struct spec *spec,
			    const struct trace_field *field)
{
	static const char between[][2] = { { 'C', ':' }, { 'D', '-' }, { 'N', 0 } };
	unsigned int sep = ' ';

	if (!spec->width_arg &&
	    (!const_code(c, &(struct node){ .number = spec->width ? spec->width : 1 })))
		return false;
	c->depth--;
	if (spec->variant[0] == 'b')
		return region_code(c, CODE_BITS, field, spec->variant[1] == 'l', 0);
	for (size_t i = 0; i < sizeof(between) / sizeof(*between); i++)
		if (spec->variant[1] == between[i][0])
			sep = (unsigned char)between[i][1];
	return region_code(c, CODE_HEX, field, 0, sep);
}

static const struct trace_field *bytes_field(struct compiler *c, const struct node *n)
{
	while (n->kind == NODE_CAST)
		n = n->a;
	if (n->kind == NODE_BYTES || n->kind == NODE_FIELD)
		return n->field;
	fails(c, "an address of what isn't a field");
	return NULL;
}

static bool bytes_pointer(struct compiler *c, const struct spec *spec, const struct node *n)
{
	const struct trace_field *field = bytes_field(c, n);
	enum opcode op;

	if (!field)
		return false;
	switch (spec->variant[0]) {
	case 'h':
	case 'b':
		return counted_pointer(c, spec, field);
	case 'M':
	case 'm':
		op = CODE_MAC;
		break;
	case 'U':
		op = CODE_UUID;
		break;
	default:
		op = spec->variant[1] == '4' ? CODE_IP4 : spec->variant[1] == '6' ? CODE_IP6
									     : CODE_SOCKADDR;
	}
	return region_code(c, op, field, (unsigned char)spec->variant[0],
			   OP2(spec->variant[op == CODE_MAC || op == CODE_UUID ? 1 : 2],
			       spec->variant[3]));
}

static bool pointer(struct compiler *c, const struct spec *spec, const struct node *n)
{
	char kind = spec->variant[0];
	bool counted = kind == 'h' || kind == 'b';

	if (spec->precision_arg || (spec->width_arg && !counted))
		return fails(c, "a width of a pointer");
	if (kind && strchr("MmIiUhb", kind))
		return bytes_pointer(c, spec, n);
	if (!number_code(c, n))
		return false;
	c->depth--;
	if (kind && strchr("FfSsB", kind))
		return emit(c, CODE_FUNCTION, kind != 's' && kind != 'f', 0, 0);
	return emit(c, kind == 'x' ? CODE_HEX_NUMBER : CODE_POINTER, 0, 0, 0);
}

/* ---- format ----------------------------------------------------------------------- */

static bool star_code(struct compiler *c, const struct spec *spec)
{
	for (uint32_t i = 0; i < star_args(spec); i++) {
		struct node *n = next_arg(c);

		if (!n || !number_code(c, n))
			return false;
	}
	return true;
}

static bool conversion(struct compiler *c, const struct spec *spec)
{
	struct node *n;

	if (!spec->letter || !strchr("dxXuocsp", spec->letter))
		return fails(c, "a conversion that isn't known");
	if (!star_code(c, spec))
		return false;
	n = next_arg(c);
	if (!n)
		return false;
	if (n->is_unknown)
		return string(c, spec, n);
	switch (spec->letter) {
	case 's':
		return string(c, spec, n);
	case 'p':
		return pointer(c, spec, n);
	case 'c':
		return character(c, spec, n);
	default:
		return integer(c, spec, n);
	}
}

static bool format_code(struct compiler *c, const char *at, const char *end)
{
	while (at < end) {
		const char *percent = memchr(at, '%', (size_t)(end - at));
		struct spec spec;

		if (!percent)
			percent = end;
		if (!emit_text(c, at, (size_t)(percent - at)))
			return false;
		at = percent;
		if (end - at > 1 && at[1] == '%') {
			if (!emit_text(c, "%", 1))
				return false;
			at += 2;
		} else if (at < end) {
			at = spec_read(&spec, at + 1, end);
			if (!at)
				return fails(c, "a conversion that isn't known");
			if (!conversion(c, &spec))
				return false;
		}
	}
	return true;
}

void printfmt_free(struct printfmt *p)
{
	if (!p)
		return;
	free(p->code);
	free(p->constants);
	free(p->specs);
	free(p->regions);
	free(p->names);
	free(p->tables);
	free(p->pool);
	free(p);
}

/* Ensures that no vector is NULL, even if it is empty. */
static bool has_vectors(struct compiler *c)
{
	return ADD(c, pool, 1) && ADD(c, names, 1) && ADD(c, tables, 1);
}

struct printfmt *printfmt_compile(const struct tracefmt *fmt, const char *text, size_t len,
				  const char **why)
{
	struct compiler c = { .out = calloc(1, sizeof(*c.out)) };
	struct print_tree tree;
	bool good = c.out && print_tree_parse(&tree, fmt, text, len) && has_vectors(&c);

	if (good) {
		c.arg = tree.args;
		good = format_code(&c, tree.format, tree.format + tree.len);
	}
	*why = !c.out ? "out of memory" : tree.why ? tree.why : c.why;
	if (c.out)
		print_tree_free(&tree);
	if (good)
		return c.out;
	printfmt_free(c.out);
	return NULL;
}
