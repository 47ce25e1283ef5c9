/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/printnode.h"

#include "tracefmt/printmath.h"

#include <string.h>

enum { MAX_HEIGHT = 400 };

static const struct ctype int_type = { .size = 4, .is_signed = true };
static const struct ctype word_type = { .size = 8 };

void *parser_fails(struct parser *p, const char *why)
{
	if (!p->tree->why)
		p->tree->why = why;
	return NULL;
}

struct node *node_new(struct parser *p, enum node_kind kind)
{
	struct node *n = arena_take(&p->tree->arena, sizeof(*n));

	if (!n)
		return parser_fails(p, "out of memory");
	n->kind = kind;
	return n;
}

struct node *node_over(struct parser *p, enum node_kind kind, struct node *a, struct node *b,
		       struct node *c)
{
	struct node *n = a ? node_new(p, kind) : NULL;

	if (!n)
		return NULL;
	n->a = a;
	n->b = b;
	n->c = c;
	n->height = a->height;
	if (b && b->height > n->height)
		n->height = b->height;
	if (c && c->height > n->height)
		n->height = c->height;
	return ++n->height <= MAX_HEIGHT ? n : parser_fails(p, "nested too deeply");
}

struct node *node_const(struct parser *p, uint64_t number, struct ctype type)
{
	struct node *n = node_new(p, NODE_CONST);

	if (n) {
		n->number = number;
		n->type = type;
	}
	return n;
}

bool node_is_number(const struct node *n)
{
	return n->kind < NODE_CHOICE || (n->kind == NODE_CHOICE && !n->is_text);
}

/* ---- types ------------------------------------------------------------------------ */

static struct ctype promoted(struct ctype t)
{
	if (t.pointer || !t.size)
		return word_type;
	return t.size < 4 || t.boolean ? int_type : t;
}

static struct ctype common(struct ctype a, struct ctype b)
{
	a = promoted(a);
	b = promoted(b);
	if (a.size != b.size)
		return a.size > b.size ? a : b;
	a.is_signed &= b.is_signed;
	return a;
}

static bool is_shift(unsigned int op)
{
	return op == OP2('<', '<') || op == OP2('>', '>');
}

static const struct operator {
	unsigned int op;
	enum math math;
	int level;
} operators[] = {
	{ '+', MATH_ADD, 9 }, { '-', MATH_SUB, 9 }, { '*', MATH_MUL, 10 }, { '/', MATH_DIV, 10 },
	{ '%', MATH_MOD, 10 }, { '&', MATH_AND, 5 }, { '|', MATH_OR, 3 }, { '^', MATH_XOR, 4 },
	{ OP2('<', '<'), MATH_SHL, 8 }, { OP2('>', '>'), MATH_SHR, 8 }, { OP2('=', '='), MATH_EQ, 6 },
	{ OP2('!', '='), MATH_NE, 6 }, { '<', MATH_LT, 7 }, { OP2('<', '='), MATH_LE, 7 },
	{ '>', MATH_GT, 7 }, { OP2('>', '='), MATH_GE, 7 }, { OP2('&', '&'), MATH_LAND, 2 },
	{ OP2('|', '|'), MATH_LOR, 1 },
};

static const struct operator *operator_of(unsigned int op)
{
	static const struct operator none = { .math = MATH_ADD };

	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (operators[i].op == op)
			return &operators[i];
	return &none;
}

unsigned int node_math_op(unsigned int op)
{
	return operator_of(op)->math;
}

int node_level(unsigned int op)
{
	return operator_of(op)->level;
}

static struct ctype operand_type(const struct node *n)
{
	return is_shift(n->op) ? promoted(n->a->type) : common(n->a->type, n->b->type);
}

unsigned int node_math_type(const struct node *n)
{
	struct ctype type = operand_type(n);

	return math_type(&type);
}

/* ---- operations ------------------------------------------------------------------- */

static bool both_numbers(struct parser *p, const struct node *a, const struct node *b)
{
	if (a && b && node_is_number(a) && node_is_number(b))
		return true;
	parser_fails(p, "a number is missing");
	return false;
}

struct node *node_binary(struct parser *p, unsigned int op, struct node *a, struct node *b)
{
	struct node *n;
	unsigned int math = node_math_op(op);

	if (!both_numbers(p, a, b))
		return NULL;
	n = node_over(p, NODE_BINARY, a, b, NULL);
	if (!n)
		return NULL;
	n->op = op;
	n->type = math >= MATH_EQ ? int_type : operand_type(n);
	if (a->kind == NODE_CONST && b->kind == NODE_CONST)
		return node_const(p, math_do(math, node_math_type(n), a->number, b->number),
				  n->type);
	return n;
}

/* &REC->field: the field's bytes. */
static struct node *address_of(struct parser *p, struct node *a)
{
	struct node *n;

	if (a->kind == NODE_BYTES)
		return a;
	if (a->kind != NODE_FIELD)
		return parser_fails(p, "an address of what isn't a field");
	n = node_new(p, NODE_BYTES);
	if (n)
		n->field = a->field;
	return n;
}

struct node *node_unary(struct parser *p, unsigned int op, struct node *a)
{
	struct node *n;

	if (!a)
		return NULL;
	if (op == '&')
		return address_of(p, a);
	if (op == '*')
		return node_elem(p, a, node_const(p, 0, int_type));
	if (!both_numbers(p, a, a))
		return NULL;
	n = node_over(p, NODE_UNARY, a, NULL, NULL);
	if (!n)
		return NULL;
	n->op = op;
	n->type = op == '!' ? int_type : promoted(a->type);
	if (a->kind == NODE_CONST)
		return node_const(p, math_unary(op, math_type(&n->type), a->number), n->type);
	return n;
}

struct node *node_cast(struct parser *p, struct ctype type, struct node *a)
{
	struct node *n;

	if (!a)
		return NULL;
	if (a->kind == NODE_TEXT)
		return a;
	if (a->kind == NODE_CONST)
		return node_const(p, math_convert(a->number, math_type(&type)), type);
	n = node_over(p, NODE_CAST, a, NULL, NULL);
	if (n)
		n->type = type;
	if (n && !node_is_number(a) && !type.pointer)
		return parser_fails(p, "a type on what isn't a number");
	return n;
}

struct node *node_choice(struct parser *p, struct node *a, struct node *b, struct node *c)
{
	bool is_text;
	struct node *n;

	if (!a || !b || !c)
		return NULL;
	if (!node_is_number(a))
		return parser_fails(p, "a number is missing");
	is_text = !node_is_number(b) || !node_is_number(c);
	if (is_text) {
		b = node_text(p, b);
		c = node_text(p, c);
	}
	if (!b || !c)
		return NULL;
	if (a->kind == NODE_CONST)
		return a->number ? b : c;
	n = node_over(p, NODE_CHOICE, a, b, c);
	if (n) {
		n->is_text = is_text;
		n->type = is_text ? (struct ctype){ 0 } : common(b->type, c->type);
	}
	return n;
}

struct node *node_bytes(struct parser *p, struct node *n)
{
	while (n && n->kind == NODE_CAST)
		n = n->a;
	return n && n->kind == NODE_BYTES ? n : parser_fails(p, "bytes of what isn't an array");
}

/* %s of a null pointer. */
static struct node *null_text(struct parser *p)
{
	struct node *n = node_new(p, NODE_TEXT);

	if (n) {
		n->text = "(null)";
		n->len = strlen(n->text);
	}
	return n;
}

struct node *node_text(struct parser *p, struct node *n)
{
	struct node *text;

	if (n && n->kind == NODE_CONST && !n->number)
		return null_text(p);
	while (n && n->kind == NODE_CAST)
		n = n->a;
	if (!n || n->kind >= NODE_TEXT || (n->kind == NODE_CHOICE && n->is_text))
		return n;
	if (n->kind != NODE_BYTES)
		return parser_fails(p, "a text of a number");
	text = node_new(p, NODE_STRING);
	if (text)
		text->field = n->field;
	return text;
}

/* "u64[4]", "__data_loc u32[]" */
static struct ctype element_type(const struct trace_field *f)
{
	struct lexer lx;
	struct ctype type;
	bool certain;

	lexer_begin(&lx, f->type, strlen(f->type));
	lexer_next(&lx);
	if (!lexer_type(&lx, &type, &certain))
		type = (struct ctype){ 0 };
	if (type.size && f->elem)   /* a long of another machine */
		type.size = f->elem;
	return type;
}

struct node *node_elem(struct parser *p, struct node *array, struct node *index)
{
	struct ctype type;
	struct node *n;

	if (!array || !index)
		return NULL;
	if (array->kind == NODE_STRING) {
		type = (struct ctype){ .size = 1, .is_signed = true };
	} else if (array->kind == NODE_CAST && array->type.pointer) {
		type = (struct ctype){ .size = array->type.elem,
				       .is_signed = array->type.elem_signed };
		array = node_bytes(p, array);
	} else {
		array = node_bytes(p, array);
		type = array ? element_type(array->field) : word_type;
	}
	if (!array || !array->field)
		return NULL;
	if (!type.size)
		return parser_fails(p, "elements of a size that isn't known");
	n = node_over(p, NODE_ELEM, array, index, NULL);
	if (n)
		n->type = type;
	return n;
}
