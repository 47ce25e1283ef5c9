/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/printtree.h"

#include "tracefmt/printmath.h"
#include "tracefmt/printnode.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ----------------------------------------------------------------------- */

enum { CHUNK = 8192 - sizeof(void *) * 2, MAX_DEPTH = 100 };

struct chunk {
	struct chunk *next;
	size_t used;
	char bytes[CHUNK];
};

void *arena_take(struct arena *a, size_t size)
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

/* Enumerators that kernels before 4.1 did not write as numbers, and which never changed. */
static bool known_enumerator(const struct lexer *lx, uint64_t *number)
{
	static const char *const softirqs[] = { "HI_SOFTIRQ", "TIMER_SOFTIRQ", "NET_TX_SOFTIRQ", "NET_RX_SOFTIRQ", "BLOCK_SOFTIRQ", "",
						"TASKLET_SOFTIRQ", "SCHED_SOFTIRQ", "HRTIMER_SOFTIRQ", "RCU_SOFTIRQ" };

	for (*number = 0; *number < sizeof(softirqs) / sizeof(*softirqs); ++*number)
		if (lexer_is_name(lx, softirqs[*number]))
			return true;
	*number = 5;
	return lexer_is_name(lx, "IRQ_POLL_SOFTIRQ") || lexer_is_name(lx, "BLOCK_IOPOLL_SOFTIRQ");
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
	if (known_enumerator(&p->lx, &number)) {
		lexer_next(&p->lx);
		return node_const(p, number, (struct ctype){ .size = 4, .is_signed = true });
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
