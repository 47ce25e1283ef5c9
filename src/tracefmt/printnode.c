/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/printnode.h"

#include "tracefmt/enumerators.h"
#include "tracefmt/printmath.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ----------------------------------------------------------------------- */

enum { CHUNK = 8192 - sizeof(void *) * 2, MAX_DEPTH = 100 };

struct chunk {
	struct chunk *next;
	size_t used;
	char bytes[CHUNK];
};

/* Zeroed; NULL if out of memory. */
static void *arena_take(struct arena *a, size_t size)
{
	struct chunk *c = a->chunks;
	size_t room = size > CHUNK ? size - CHUNK : 0;

	size = (size + 7) & ~(size_t)7;
	if (!c || c->used + size > CHUNK) {
		c = calloc(1, sizeof(*c) + room + 8);
		if (!c)
			return NULL;
		c->next = a->chunks;
		a->chunks = c;
	}
	c->used += size;
	return c->bytes + c->used - size;
}

void print_tree_free(struct print_tree *tree)
{
	while (tree->arena.chunks) {
		struct chunk *c = tree->arena.chunks;

		tree->arena.chunks = c->next;
		free(c);
	}
}

/* ---- strings ---------------------------------------------------------------------- */

/* Adjacent literals are one. */
static bool take_string(struct parser *p, const char **text, size_t *len)
{
	struct lexer ahead = p->lx;
	size_t room = 0;
	char *out;

	if (p->lx.token != TOKEN_STRING)
		return parser_fails(p, "a string is missing") != NULL;
	for (; ahead.token == TOKEN_STRING; lexer_next(&ahead))
		room += ahead.len;
	out = arena_take(&p->tree->arena, room + 1);
	if (!out)
		return parser_fails(p, "out of memory") != NULL;
	*text = out;
	for (; p->lx.token == TOKEN_STRING; lexer_next(&p->lx))
		for (size_t i = 0; i < p->lx.len; i++) {
			bool escaped = p->lx.text[i] == '\\' && i + 1 < p->lx.len;

			*out++ = escaped ? unescaped(p->lx.text[++i]) : p->lx.text[i];
		}
	*len = (size_t)(out - *text);
	return true;
}

/* ---- functions -------------------------------------------------------------------- */

static struct node *choice(struct parser *p);

static const struct trace_field *take_field(struct parser *p)
{
	const struct tracefmt *fmt = p->fmt;

	for (size_t i = 0; p->lx.token == TOKEN_NAME && i < fmt->nfields; i++)
		if (lexer_is_name(&p->lx, fmt->fields[i].name)) {
			lexer_next(&p->lx);
			return &fmt->fields[i];
		}
	parser_fails(p, "no such field");
	return NULL;
}

static bool is_dynamic(const struct trace_field *f)
{
	return f && f->kind >= FIELD_DYN_STR && f->size == 4;
}

/* "name", the argument of __get_str() and the like: a dynamic field. */
static struct node *dynamic_node(struct parser *p, enum node_kind kind)
{
	const struct trace_field *f = take_field(p);
	struct node *n;

	if (!is_dynamic(f))
		return parser_fails(p, "a dynamic field is missing");
	n = node_new(p, kind);
	if (n)
		n->field = f;
	return n;
}

static struct node *call_length(struct parser *p, enum node_kind kind)
{
	struct node *n = dynamic_node(p, kind);

	if (n)
		n->type = (struct ctype){ .size = 4 };
	return n;
}

static struct node *number(struct parser *p)
{
	struct node *n = choice(p);

	return n && !node_is_number(n) ? parser_fails(p, "a number is missing") : n;
}

/* The softirqs, which kernels before 4.1 did not write as numbers, never changed; the running kernel tells its other values. */
static bool known_enumerator(const struct parser *p, uint64_t *number)
{
	const struct lexer *lx = &p->lx;
	static const char *const softirqs[] = { "HI_SOFTIRQ", "TIMER_SOFTIRQ", "NET_TX_SOFTIRQ", "NET_RX_SOFTIRQ", "BLOCK_SOFTIRQ", "",
						"TASKLET_SOFTIRQ", "SCHED_SOFTIRQ", "HRTIMER_SOFTIRQ", "RCU_SOFTIRQ" };

	for (*number = 0; *number < sizeof(softirqs) / sizeof(*softirqs); ++*number)
		if (lexer_is_name(lx, softirqs[*number]))
			return true;
	*number = 5;
	return lexer_is_name(lx, "IRQ_POLL_SOFTIRQ") || lexer_is_name(lx, "BLOCK_IOPOLL_SOFTIRQ") ||
	       (p->fmt->is_running && enumerator_of_kernel(lx->text, lx->len, number));
}

/* { value, "name" }; entries with an unknown value or name are ignored. */
static bool take_value(struct parser *p, struct named_value *out)
{
	const unsigned int before = p->unknown_names;
	struct node *value;
	bool known;

	if (!lexer_take(&p->lx, '{'))
		return parser_fails(p, "{ is missing") != NULL;
	if (lexer_take(&p->lx, '}'))
		return true;
	p->unknown_names = 0;
	value = number(p);
	known = value && value->kind == NODE_CONST && !p->unknown_names;
	p->unknown_names = before;
	if (!value || !lexer_take(&p->lx, ','))
		return parser_fails(p, "a value without a name") != NULL;
	out->value = value->number;
	if (p->lx.token != TOKEN_STRING) {
		known = false;
		if (!choice(p))
			return false;
	} else if (!take_string(p, &out->name, &out->len)) {
		return false;
	}
	if (!known)
		out->name = NULL;
	return lexer_take(&p->lx, '}') || parser_fails(p, "} is missing");
}

/* Parses values up to ")". */
static bool take_values(struct parser *p, struct node *n)
{
	size_t room = 0;

	while (lexer_take(&p->lx, ',') && !lexer_is(&p->lx, ')')) {
		if (n->nvalues == room) {
			struct named_value *more;

			room = room ? room * 2 : 16;
			more = arena_take(&p->tree->arena, room * sizeof(*more));
			if (!more)
				return parser_fails(p, "out of memory") != NULL;
			if (n->nvalues)
				memcpy(more, n->values, n->nvalues * sizeof(*more));
			n->values = more;
		}
		if (!take_value(p, &n->values[n->nvalues]))
			return false;
		n->nvalues += n->values[n->nvalues].name != NULL;
	}
	return true;
}

static struct node *call_flags(struct parser *p, enum node_kind kind)
{
	struct node *n = node_over(p, kind, number(p), NULL, NULL);

	if (!n || !lexer_take(&p->lx, ','))
		return parser_fails(p, "flags are missing");
	if (!take_string(p, &n->text, &n->len) || !take_values(p, n))
		return NULL;
	return n;
}

static struct node *call_symbolic(struct parser *p, enum node_kind kind)
{
	struct node *n = node_over(p, kind, number(p), NULL, NULL);

	return n && take_values(p, n) ? n : NULL;
}

/* Bytes, and after a comma their number. */
static struct node *call_counted(struct parser *p, enum node_kind kind)
{
	struct node *bytes = node_bytes(p, choice(p)), *count;

	if (!bytes || !lexer_take(&p->lx, ','))
		return parser_fails(p, "a count is missing");
	count = number(p);
	return count ? node_over(p, kind, bytes, count, NULL) : NULL;
}

static struct node *call_hex(struct parser *p, enum node_kind kind)
{
	struct node *n = call_counted(p, kind);

	if (n) {
		n->text = " ";
		n->len = 1;
	}
	return n;
}

static bool good_elem(const struct node *size)
{
	return size && size->kind == NODE_CONST &&
	       (size->number == 1 || size->number == 2 || size->number == 4 || size->number == 8);
}

static struct node *call_array(struct parser *p, enum node_kind kind)
{
	struct node *n = call_counted(p, kind);

	if (!n || !lexer_take(&p->lx, ','))
		return parser_fails(p, "a size is missing");
	n->c = number(p);
	return good_elem(n->c) ? n : parser_fails(p, "elements of a strange size");
}

static struct node *call_dynamic_array(struct parser *p, enum node_kind kind)
{
	struct node *bytes = dynamic_node(p, NODE_BYTES), *count, *size;

	if (!bytes || !lexer_take(&p->lx, ','))
		return parser_fails(p, "a size is missing");
	size = number(p);
	if (!good_elem(size))
		return parser_fails(p, "elements of a strange size");
	count = node_new(p, NODE_LENGTH);
	if (!count)
		return NULL;
	count->field = bytes->field;
	count->type = (struct ctype){ .size = 4 };
	return node_over(p, kind, bytes, node_binary(p, '/', count, size), size);
}

static struct node *call_expect(struct parser *p, enum node_kind kind)
{
	struct node *n = number(p);

	if (!n || !lexer_take(&p->lx, ',') || !number(p))
		return parser_fails(p, "arguments of __builtin_expect");
	return n;
}

static struct node *call_sizeof(struct parser *p, enum node_kind kind)
{
	struct lexer before = p->lx;
	struct ctype type;
	bool certain;
	struct node *n;

	if (lexer_type(&p->lx, &type, &certain) && lexer_is(&p->lx, ')') && type.size)
		return node_const(p, type.size, (struct ctype){ .size = 8 });
	p->lx = before;
	n = choice(p);
	if (!n || !n->field || (n->kind != NODE_FIELD && n->kind != NODE_BYTES))
		return parser_fails(p, "the size of what isn't known");
	return node_const(p, n->field->size, (struct ctype){ .size = 8 });
}

static struct node *call(struct parser *p)
{
	static const struct {
		const char *name;
		struct node *(*args)(struct parser *p, enum node_kind kind);
		enum node_kind kind;     /* that the call makes */
	} functions[] = {
		{ "__builtin_expect", call_expect },
		{ "__get_bitmask", dynamic_node, NODE_BITMASK },
		{ "__get_cpumask", dynamic_node, NODE_CPUMASK },
		{ "__get_dynamic_array", dynamic_node, NODE_BYTES },
		{ "__get_dynamic_array_len", call_length, NODE_LENGTH },
		{ "__get_rel_bitmask", dynamic_node, NODE_BITMASK },
		{ "__get_rel_cpumask", dynamic_node, NODE_CPUMASK },
		{ "__get_rel_dynamic_array", dynamic_node, NODE_BYTES },
		{ "__get_rel_dynamic_array_len", call_length, NODE_LENGTH },
		{ "__get_rel_sockaddr", dynamic_node, NODE_BYTES },
		{ "__get_rel_str", dynamic_node, NODE_STRING },
		{ "__get_sockaddr", dynamic_node, NODE_BYTES },
		{ "__get_str", dynamic_node, NODE_STRING },
		{ "__print_array", call_array, NODE_ARRAY },
		{ "__print_dynamic_array", call_dynamic_array, NODE_ARRAY },
		{ "__print_flags", call_flags, NODE_FLAGS },
		{ "__print_flags_u64", call_flags, NODE_FLAGS },
		{ "__print_hex", call_hex, NODE_HEX },
		{ "__print_hex_str", call_counted, NODE_HEX },
		{ "__print_symbolic", call_symbolic, NODE_SYMBOLIC },
		{ "__print_symbolic_u64", call_symbolic, NODE_SYMBOLIC },
		{ "sizeof", call_sizeof },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		struct node *n;

		if (!lexer_is_name(&p->lx, functions[i].name))
			continue;
		lexer_next(&p->lx);
		if (!lexer_take(&p->lx, '('))
			return parser_fails(p, "( is missing");
		n = functions[i].args(p, functions[i].kind);
		return !n || lexer_take(&p->lx, ')') ? n : parser_fails(p, ") is missing");
	}
	return NULL;
}

/* ---- expressions ------------------------------------------------------------------ */

/* Parses the text after REC. */
static struct node *record_field(struct parser *p)
{
	const struct trace_field *f;
	struct node *n;

	if (!lexer_take(&p->lx, OP2('-', '>')))
		return parser_fails(p, "-> is missing behind REC");
	f = take_field(p);
	if (!f)
		return NULL;
	if (f->kind >= FIELD_DYN_STR)
		return parser_fails(p, "where a dynamic field lies");
	n = node_new(p, f->kind > FIELD_SINT ? NODE_BYTES : NODE_FIELD);
	if (n) {
		n->field = f;
		n->type = (struct ctype){ .size = (uint8_t)f->size,
					  .is_signed = f->kind == FIELD_SINT };
	}
	return n;
}

/* An unknown enumerator, or a variable of the kernel: what depends on it is not known either. */
static struct node *unknown(struct parser *p)
{
	p->unknown_names++;
	return node_const(p, UINT64_MAX, (struct ctype){ .size = 8 });
}

/* For an argument that depends on such a name. */
static struct node *unknown_text(struct parser *p)
{
	struct node *n = node_new(p, NODE_TEXT);

	if (n) {
		n->text = "?";
		n->len = 1;
		n->is_unknown = true;
	}
	return n;
}

static struct node *name(struct parser *p)
{
	struct node *n;
	uint64_t number;

	if (lexer_is_name(&p->lx, "REC")) {
		lexer_next(&p->lx);
		return record_field(p);
	}
	n = call(p);
	if (n || p->tree->why)
		return n;
	if (known_enumerator(p, &number)) {
		lexer_next(&p->lx);
		return node_const(p, number, (struct ctype){ .size = (int64_t)number == (int32_t)number ? 4 : 8, .is_signed = true });
	}
	lexer_next(&p->lx);
	if (lexer_is(&p->lx, '('))
		return parser_fails(p, "a function of the kernel");
	return unknown(p);
}

static struct node *unary(struct parser *p);

static bool begins_operand(const struct lexer *lx)
{
	return lx->token == TOKEN_NAME || lx->token == TOKEN_NUMBER || lx->token == TOKEN_STRING ||
	       lexer_is(lx, '(');
}

/* "REC)" */
static bool take_record(struct parser *p)
{
	struct lexer before = p->lx;

	if (lexer_is_name(&p->lx, "REC")) {
		lexer_next(&p->lx);
		if (lexer_take(&p->lx, ')'))
			return true;
	}
	p->lx = before;
	return false;
}

/* Parses the text after "(": a cast, or an expression. */
static struct node *parenthesis(struct parser *p)
{
	struct lexer before = p->lx;
	struct ctype type;
	bool certain;
	struct node *n;

	if (take_record(p))
		return record_field(p);
	if (lexer_type(&p->lx, &type, &certain) && lexer_take(&p->lx, ')') &&
	    (certain || begins_operand(&p->lx)))
		return node_cast(p, type, unary(p));
	p->lx = before;
	n = choice(p);
	return !n || lexer_take(&p->lx, ')') ? n : parser_fails(p, ") is missing");
}

static struct node *primary(struct parser *p)
{
	struct node *n;

	switch (p->lx.token) {
	case TOKEN_NUMBER:
		n = node_const(p, p->lx.number, p->lx.type);
		lexer_next(&p->lx);
		return n;
	case TOKEN_STRING:
		n = node_new(p, NODE_TEXT);
		return n && take_string(p, &n->text, &n->len) ? n : NULL;
	case TOKEN_NAME:
		return name(p);
	default:
		return lexer_take(&p->lx, '(') ? parenthesis(p) : parser_fails(p, "an operand is missing");
	}
}

static struct node *postfix(struct parser *p)
{
	struct node *n = primary(p);

	while (n && lexer_take(&p->lx, '[')) {
		n = node_elem(p, n, number(p));
		if (n && !lexer_take(&p->lx, ']'))
			return parser_fails(p, "] is missing");
	}
	return n;
}

static struct node *unary(struct parser *p)
{
	struct node *n = NULL;
	unsigned int op = p->lx.op;

	if (++p->depth > MAX_DEPTH)
		return parser_fails(p, "nested too deeply");
	if (p->lx.token != TOKEN_OP || !strchr("!~-+&*", (int)(op & 0xff)) || op > 0xff || !op)
		n = postfix(p);
	else
		lexer_next(&p->lx), n = node_unary(p, op, unary(p));
	p->depth--;
	return n;
}

static struct node *binary(struct parser *p, int least)
{
	struct node *n = unary(p);
	int level;

	while (n && p->lx.token == TOKEN_OP && (level = node_level(p->lx.op)) >= least) {
		unsigned int op = p->lx.op;

		lexer_next(&p->lx);
		n = node_binary(p, op, n, binary(p, level + 1));
	}
	return n;
}

static struct node *choice(struct parser *p)
{
	struct node *n, *yes;

	if (++p->depth > MAX_DEPTH)
		return parser_fails(p, "nested too deeply");
	n = binary(p, 1);
	if (n && lexer_take(&p->lx, '?')) {
		yes = choice(p);
		if (yes && !lexer_take(&p->lx, ':'))
			return parser_fails(p, ": is missing");
		n = yes ? node_choice(p, n, yes, choice(p)) : NULL;
	}
	p->depth--;
	return n;
}

/* ---- print fmt -------------------------------------------------------------------- */

bool print_tree_parse(struct print_tree *tree, const struct tracefmt *fmt, const char *text,
		      size_t len)
{
	struct parser p = { .tree = tree, .fmt = fmt };
	struct node **last = &tree->args;

	*tree = (struct print_tree){ 0 };
	lexer_begin(&p.lx, text, len);
	lexer_next(&p.lx);
	if (!take_string(&p, &tree->format, &tree->len))
		return false;
	while (tree->len && tree->format[tree->len - 1] == '\n')   /* ends the line */
		tree->len--;
	while (lexer_take(&p.lx, ',')) {
		p.unknown_names = 0;
		*last = choice(&p);
		if (*last && p.unknown_names)
			*last = unknown_text(&p);
		if (!*last)
			return false;
		/* a node that is in the list twice would make it a cycle */
		last = &(*last)->next;
	}
	return p.lx.token == TOKEN_END || parser_fails(&p, "an operator is missing");
}

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
