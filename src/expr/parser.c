/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Pratt parser: every operator has a strength, and an operand is extended by the operators
 * after it as long as they bind more strongly than the operator before it.
 */
#include "base/room.h"
#include "expr/tree.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Tokens of an expression. */

enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_STRING, TOKEN_NAME, TOKEN_SIGN };

struct token {
	enum token_kind kind;
	uint32_t from, to;            /* offsets in the text */
	struct expr_value number;
	char sign[3];                 /* "&&" */
};

int expr_fail(struct expr_error *err, size_t at, const char *expected, const char *message, ...)
{
	va_list ap;

	if (!err)
		return -EINVAL;
	err->at = at;
	err->lists_fields = false;
	snprintf(err->expected, sizeof(err->expected), "%s", expected);
	va_start(ap, message);
	vsnprintf(err->message, sizeof(err->message), message, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- numbers ------------------------------------------------------------------------ */

/* Skips the suffix u, l, ul, ull in any case and order; returns its end. */
static size_t skip_suffix(const char *text, size_t i, bool *is_unsigned)
{
	for (int n = 0; n < 3 && text[i] && strchr("uUlL", text[i]); n++, i++)
		*is_unsigned |= tolower((unsigned char)text[i]) == 'u';
	return i;
}

static int take_number(const char *text, struct token *t, struct expr_error *err)
{
	const char *start = text + t->from;
	bool hex = start[0] == '0' && (start[1] | 0x20) == 'x', is_unsigned = false;
	char *end;
	uint64_t value;

	/* strtoull() would parse 0x as a zero before an x */
	if (hex && !isxdigit((unsigned char)start[2]))
		return expr_fail(err, t->from + 2, "hexadecimal digits, such as 0x1f", "no digits after "
				 "0x");
	errno = 0;
	value = strtoull(start, &end, 0);
	if (errno == ERANGE)
		return expr_fail(err, t->from, "at most 18446744073709551615 (0xffffffffffffffff)",
				 "this number does not fit in 64 bits");
	t->to = (uint32_t)skip_suffix(text, (size_t)(end - text), &is_unsigned);
	if (text[t->to] == '.' && isdigit((unsigned char)text[t->to + 1]))
		return expr_fail(err, t->to, "an integer", "a number with a fraction");
	if (isalnum((unsigned char)text[t->to]) || text[t->to] == '_')
		return expr_fail(err, t->to, start[0] == '0' && !hex ?
				 "octal digits after the leading 0, or 0x before a hexadecimal number" :
				 "a number such as 10 or 0x1f, and then an operator",
				 "this is not a number");
	t->number = (struct expr_value){
		.u = value, .type = is_unsigned || value > INT64_MAX ? EXPR_U64 : EXPR_S64,
	};
	return 0;
}

/* ---- other tokens ------------------------------------------------------------------- */

static int take_string(const char *text, struct token *t, struct expr_error *err)
{
	char quote = text[t->from];
	size_t i = t->from + 1;

	while (text[i] && text[i] != quote)
		i += text[i] == '\\' && text[i + 1] ? 2 : 1;
	if (!text[i])
		return expr_fail(err, t->from, "the same quote again", "this quote is not closed");
	t->to = (uint32_t)i + 1;
	return 0;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Longer signs first. */
static const char *const signs[] = {
	"&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "<", ">", "!", "~", "&", "|", "^", "+", "-",
	"*", "/", "%", "?", ":", "(", ")", ",",
};

static const struct {
	char c;
	const char *message, *expected;
} strangers[] = {
	{ '=', "a single \"=\" compares nothing", "==, !=, <, <=, > or >=" },
	{ '{', "an expression has no braces", "\"(\"" },
	{ '[', "an expression cannot read elements of arrays", "a field that is a number or text" },
	{ '.', "a dot means nothing here", "an operator" },
	{ ';', "one expression, not two", "&& or || between conditions" },
};

static int stranger(const char *text, size_t at, struct expr_error *err)
{
	for (size_t i = 0; i < sizeof(strangers) / sizeof(*strangers); i++)
		if (text[at] == strangers[i].c)
			return expr_fail(err, at, strangers[i].expected, "%s", strangers[i].message);
	return expr_fail(err, at, "a field, a number, a string or an operator",
			 "unexpected character");
}

static int take_sign(const char *text, struct token *t, struct expr_error *err)
{
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		size_t len = strlen(signs[i]);

		if (strncmp(text + t->from, signs[i], len))
			continue;
		memcpy(t->sign, signs[i], len + 1);
		t->to = t->from + (uint32_t)len;
		return 0;
	}
	return stranger(text, t->from, err);
}

/* The token at or after `pos`. 0, or -EINVAL with err. */
static int expr_next_token(const char *text, size_t pos, struct token *token, struct expr_error *err)
{
	char c;

	while (isspace((unsigned char)text[pos]))
		pos++;
	c = text[pos];
	*token = (struct token){ .from = (uint32_t)pos, .to = (uint32_t)pos };
	if (!c)
		return 0;
	if (isdigit((unsigned char)c)) {
		token->kind = TOKEN_NUMBER;
		return take_number(text, token, err);
	}
	if (c == '"' || c == '\'') {
		token->kind = TOKEN_STRING;
		return take_string(text, token, err);
	}
	if (is_word(c)) {
		token->kind = TOKEN_NAME;
		while (is_word(text[token->to]))
			token->to++;
		return 0;
	}
	token->kind = TOKEN_SIGN;
	return take_sign(text, token, err);
}

/* Limits for recursion, in this parser and in code that walks the tree. A chain of `||` makes a
 * tree as deep as it is long. */
enum { MAX_NESTED = 64, MAX_DEPTH = 1000, MAX_TEXT = 1 << 20 };

enum { NO_STRENGTH, STRENGTH_CHOOSE, STRENGTH_OR, STRENGTH_AND, STRENGTH_NOT, STRENGTH_BIT_OR,
       STRENGTH_BIT_XOR, STRENGTH_BIT_AND, STRENGTH_EQUAL, STRENGTH_ORDER, STRENGTH_SHIFT,
       STRENGTH_ADD, STRENGTH_MUL, STRENGTH_UNARY };

struct parser {
	struct expr_tree *tree;
	struct expr_error *err;
	struct token token;           /* the next token */
	uint32_t behind;              /* end of the last token taken */
	int nested;
};

static int parse(struct parser *p, int strength, expr_node_ref *out);

/* ---- nodes -------------------------------------------------------------------------- */

static expr_node_ref new_node(struct expr_tree *tree, enum expr_op op)
{
	if (!ROOM_FOR(tree->nodes, tree->room, tree->nnodes, 1))
		return 0;
	tree->nnodes += !tree->nnodes;   /* 0 is no node */
	tree->nodes[tree->nnodes] = (struct expr_node){ .op = op };
	return (expr_node_ref)tree->nnodes++;
}

static int add_leaf(struct parser *p, enum expr_op op, expr_node_ref *out)
{
	struct expr_node *node;

	*out = new_node(p->tree, op);
	if (!*out)
		return -ENOMEM;
	node = &p->tree->nodes[*out];
	node->at = node->from = p->token.from;
	node->to = p->token.to;
	return 0;
}

static void take_kids(struct expr_tree *tree, struct expr_node *node)
{
	for (int i = 0; i < 3; i++) {
		const struct expr_node *kid = expr_at(tree, node->kid[i]);

		if (!node->kid[i])
			continue;
		if (kid->depth >= node->depth)
			node->depth = (uint16_t)(kid->depth + 1);
		if (kid->from < node->from)
			node->from = kid->from;
		if (kid->to > node->to)
			node->to = kid->to;
	}
}

static int too_deep(struct parser *p, uint32_t at)
{
	return expr_fail(p->err, at, "fewer conditions or parentheses in one expression",
			 "this expression is nested too deeply");
}

static int add_node(struct parser *p, enum expr_op op, uint32_t at, const expr_node_ref *kids,
		    size_t nkids, expr_node_ref *out)
{
	struct expr_node *node;

	*out = new_node(p->tree, op);
	if (!*out)
		return -ENOMEM;
	node = &p->tree->nodes[*out];
	node->at = node->from = at;
	node->to = p->behind;
	memcpy(node->kid, kids, nkids * sizeof(*kids));
	take_kids(p->tree, node);
	return node->depth > MAX_DEPTH ? too_deep(p, at) : 0;
}

expr_node_ref expr_tree_and(struct expr_tree *tree, expr_node_ref a, expr_node_ref b)
{
	expr_node_ref ref = new_node(tree, EXPR_AND);
	struct expr_node *node = &tree->nodes[ref];

	if (!ref)
		return 0;
	node->kid[0] = a;
	node->kid[1] = b;
	node->at = node->from = expr_at(tree, a)->from;
	take_kids(tree, node);
	return node->depth > MAX_DEPTH ? 0 : ref;
}

/* ---- tokens ------------------------------------------------------------------------- */

static int advance(struct parser *p)
{
	p->behind = p->token.to;
	return expr_next_token(p->tree->text, p->token.to, &p->token, p->err);
}

static bool is_sign(const struct parser *p, const char *sign)
{
	return p->token.kind == TOKEN_SIGN && !strcmp(p->token.sign, sign);
}

static int no_comma(struct parser *p)
{
	return expr_fail(p->err, p->token.from, "&& (and) or || (or)",
			 "a comma does not join conditions");
}

static int want_sign(struct parser *p, const char *sign, const char *expected)
{
	if (is_sign(p, sign))
		return advance(p);
	if (is_sign(p, ","))
		return no_comma(p);
	return expr_fail(p->err, p->token.from, expected, p->token.kind == TOKEN_END ?
			 "the expression ends too early" : "this is not expected here");
}

/* ---- operands ----------------------------------------------------------------------- */

/* The constant between the quotes. A backslash is removed only before the quote, since globs and
 * formats use the others. */
static void copy_string(struct parser *p, struct expr_node *node)
{
	const char *text = p->tree->text;
	char *out = p->tree->strings + p->tree->strings_used;
	char quote = text[p->token.from];

	node->text = out;
	for (uint32_t i = p->token.from + 1; i + 1 < p->token.to; i++) {
		if (text[i] == '\\' && text[i + 1] == quote)
			i++;
		else if (text[i] == '\\' && i + 2 < p->token.to)
			*out++ = text[i++];
		*out++ = text[i];
	}
	node->len = (uint32_t)(out - node->text);
	p->tree->strings_used += node->len;
}

static int take_leaf(struct parser *p, expr_node_ref *out)
{
	static const enum expr_op ops[] = {
		[TOKEN_NUMBER] = EXPR_NUMBER, [TOKEN_STRING] = EXPR_STRING, [TOKEN_NAME] = EXPR_NAME,
	};
	struct expr_node *node;
	int err = add_leaf(p, ops[p->token.kind], out);

	if (err)
		return err;
	node = &p->tree->nodes[*out];
	if (p->token.kind == TOKEN_NUMBER) {
		node->number = p->token.number;
	} else if (p->token.kind == TOKEN_STRING) {
		copy_string(p, node);
	} else {
		node->text = p->tree->text + p->token.from;
		node->len = p->token.to - p->token.from;
	}
	return advance(p);
}

static int take_argument(struct parser *p, expr_node_ref call, expr_node_ref *last)
{
	struct expr_node *node;
	expr_node_ref arg;
	int err = parse(p, NO_STRENGTH, &arg);

	if (err)
		return err;
	if (*last)
		p->tree->nodes[*last].next = arg;
	else
		p->tree->nodes[call].kid[0] = arg;
	*last = arg;
	node = &p->tree->nodes[call];
	if (expr_at(p->tree, arg)->depth >= node->depth)
		node->depth = (uint16_t)(expr_at(p->tree, arg)->depth + 1);
	return node->depth > MAX_DEPTH ? too_deep(p, node->at) : 0;
}

/* name(a, b, ...): the node of the name exists already. */
static int take_call(struct parser *p, expr_node_ref call)
{
	expr_node_ref last = 0;
	int err = advance(p);

	p->tree->nodes[call].op = EXPR_CALL;
	while (!err && !is_sign(p, ")")) {
		if (last && !is_sign(p, ","))
			break;
		if (last)
			err = advance(p);
		if (!err)
			err = take_argument(p, call, &last);
	}
	if (!err)
		err = want_sign(p, ")", "\",\" and another argument, or \")\"");
	p->tree->nodes[call].to = p->behind;
	return err;
}

static int take_parens(struct parser *p, expr_node_ref *out)
{
	uint32_t from = p->token.from;
	struct expr_node *node;
	int err = advance(p);

	if (!err)
		err = parse(p, NO_STRENGTH, out);
	if (!err)
		err = want_sign(p, ")", "an operator or \")\"");
	if (err)
		return err;
	node = &p->tree->nodes[*out];
	node->parens = true;
	node->from = from;
	node->to = p->behind;
	return 0;
}

/* -5 is a constant, as in the kernel's filters. */
static bool negate_constant(struct parser *p, uint32_t at, expr_node_ref ref)
{
	struct expr_node *node = &p->tree->nodes[ref];
	uint64_t most = 1ULL << 63;

	if (node->op != EXPR_NUMBER || node->parens || node->number.u > most ||
	    (node->number.type == EXPR_U64 && node->number.u < most))
		return false;
	node->number.u = -node->number.u;
	node->number.type = EXPR_S64;
	node->at = node->from = at;
	return true;
}

static const struct {
	const char *sign;
	enum expr_op op;
	int strength;
} prefixes[] = {
	{ "!", EXPR_NOT, STRENGTH_NOT },
	{ "-", EXPR_NEGATE, STRENGTH_UNARY },
	{ "~", EXPR_INVERT, STRENGTH_UNARY },
};

static int take_prefix(struct parser *p, size_t i, expr_node_ref *out)
{
	uint32_t at = p->token.from;
	expr_node_ref kid;
	int err = advance(p);

	if (!err)
		err = parse(p, prefixes[i].strength, &kid);
	if (err)
		return err;
	if (prefixes[i].op == EXPR_NEGATE && negate_constant(p, at, kid)) {
		*out = kid;
		return 0;
	}
	return add_node(p, prefixes[i].op, at, &kid, 1, out);
}

static int no_operand(struct parser *p)
{
	if (is_sign(p, ","))
		return no_comma(p);
	return expr_fail(p->err, p->token.from, "a field, a number, a string or \"(\"",
			 p->token.kind == TOKEN_END ? "the expression ends too early" :
			 "this is not expected here");
}

static int take_operand(struct parser *p, expr_node_ref *out)
{
	int err;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (is_sign(p, prefixes[i].sign))
			return take_prefix(p, i, out);
	if (is_sign(p, "("))
		return take_parens(p, out);
	if (p->token.kind == TOKEN_END || p->token.kind == TOKEN_SIGN)
		return no_operand(p);
	err = take_leaf(p, out);
	if (!err && expr_at(p->tree, *out)->op == EXPR_NAME && is_sign(p, "("))
		err = take_call(p, *out);
	return err;
}

/* ---- operators ---------------------------------------------------------------------- */

static const struct binary {
	const char *sign;
	enum expr_op op;
	int strength;
} binaries[] = {
	{ "?", EXPR_CHOOSE, STRENGTH_CHOOSE },
	{ "||", EXPR_OR, STRENGTH_OR },
	{ "&&", EXPR_AND, STRENGTH_AND },
	{ "|", EXPR_BIT_OR, STRENGTH_BIT_OR },
	{ "^", EXPR_BIT_XOR, STRENGTH_BIT_XOR },
	{ "&", EXPR_BIT_AND, STRENGTH_BIT_AND },
	{ "==", EXPR_EQ, STRENGTH_EQUAL },
	{ "!=", EXPR_NE, STRENGTH_EQUAL },
	{ "~", EXPR_GLOB, STRENGTH_EQUAL },
	{ "<", EXPR_LT, STRENGTH_ORDER },
	{ "<=", EXPR_LE, STRENGTH_ORDER },
	{ ">", EXPR_GT, STRENGTH_ORDER },
	{ ">=", EXPR_GE, STRENGTH_ORDER },
	{ "<<", EXPR_SHL, STRENGTH_SHIFT },
	{ ">>", EXPR_SHR, STRENGTH_SHIFT },
	{ "+", EXPR_ADD, STRENGTH_ADD },
	{ "-", EXPR_SUB, STRENGTH_ADD },
	{ "*", EXPR_MUL, STRENGTH_MUL },
	{ "/", EXPR_DIV, STRENGTH_MUL },
	{ "%", EXPR_MOD, STRENGTH_MUL },
};

static const struct binary *binary_at(const struct parser *p)
{
	for (size_t i = 0; i < sizeof(binaries) / sizeof(*binaries); i++)
		if (is_sign(p, binaries[i].sign))
			return &binaries[i];
	return NULL;
}

static bool is_bitwise(enum expr_op op)
{
	return op == EXPR_BIT_AND || op == EXPR_BIT_OR || op == EXPR_BIT_XOR;
}

/* In C, flags & 4 == 4 means flags & (4 == 4), and 1 < x < 5 is always true. */
static int check_trap(struct parser *p, const struct binary *b, uint32_t at, expr_node_ref kid)
{
	const struct expr_node *node = expr_at(p->tree, kid);

	if (node->parens || !expr_is_comparison(node->op))
		return 0;
	if (is_bitwise(b->op))
		return expr_fail(p->err, node->at, "parentheses, as in (flags & 4) == 4",
				 "in C, a comparison binds tighter than %s", b->sign);
	if (expr_is_comparison(b->op))
		return expr_fail(p->err, at, "one comparison at a time, as in 1 < x && x < 5",
				 "a comparison of a comparison");
	return 0;
}

static int take_choice(struct parser *p, uint32_t at, expr_node_ref left, expr_node_ref *out)
{
	expr_node_ref kids[3] = { left };
	int err = parse(p, NO_STRENGTH, &kids[1]);

	if (!err)
		err = want_sign(p, ":", "an operator, or \":\" and the value for when it is false");
	/* a ? b : c ? d : e is a ? b : (c ? d : e) */
	if (!err)
		err = parse(p, STRENGTH_CHOOSE - 1, &kids[2]);
	return err ? err : add_node(p, EXPR_CHOOSE, at, kids, 3, out);
}

static int take_binary(struct parser *p, const struct binary *b, expr_node_ref *left)
{
	expr_node_ref kids[2] = { *left };
	uint32_t at = p->token.from;
	int err = check_trap(p, b, at, *left);

	if (!err)
		err = advance(p);
	if (!err && b->op == EXPR_CHOOSE)
		return take_choice(p, at, kids[0], left);
	if (!err)
		err = parse(p, b->strength, &kids[1]);
	if (!err)
		err = check_trap(p, b, at, kids[1]);
	return err ? err : add_node(p, b->op, at, kids, 2, left);
}

/* Parses an expression whose operators outside parentheses all bind more strongly than `strength`. */
static int parse(struct parser *p, int strength, expr_node_ref *out)
{
	const struct binary *b;
	int err;

	if (++p->nested > MAX_NESTED)
		return too_deep(p, p->token.from);
	err = take_operand(p, out);
	while (!err && (b = binary_at(p)) && b->strength > strength)
		err = take_binary(p, b, out);
	p->nested--;
	return err;
}

/* ---- whole expression --------------------------------------------------------------- */

static const struct {
	const char *word, *expected;
} words[] = {
	{ "and", "&&" }, { "or", "||" }, { "not", "!" }, { "is", "==" }, { "eq", "==" },
	{ "like", "~" },
};

/* Reports text after a complete expression. */
static int no_end(struct parser *p)
{
	const char *text = p->tree->text + p->token.from;
	size_t len = p->token.to - p->token.from;

	if (is_sign(p, ","))
		return no_comma(p);
	if (is_sign(p, "!"))
		return expr_fail(p->err, p->token.from, "!(a ~ \"b\") for text unlike a glob, a != b",
				 "\"!\" stands before a condition");
	if (is_sign(p, ")") || is_sign(p, ":"))
		return expr_fail(p->err, p->token.from, "an operator or the end",
				 "unexpected \"%s\"", p->token.sign);
	for (size_t i = 0; p->token.kind == TOKEN_NAME && i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == len && !strncmp(words[i].word, text, len))
			return expr_fail(p->err, p->token.from, words[i].expected,
					 "\"%s\" is not an operator", words[i].word);
	return expr_fail(p->err, p->token.from, "an operator such as ==, < or && before it",
			 "two values without an operator between them");
}

int expr_tree_parse(struct expr_tree *tree, const char *text, struct expr_error *err)
{
	struct parser p = { .tree = tree, .err = err };
	size_t len = strlen(text);
	int rc;

	*tree = (struct expr_tree){ 0 };
	if (len > MAX_TEXT)
		return expr_fail(err, 0, "at most 1 MiB", "an expression of %zu bytes", len);
	tree->text = strdup(text);
	tree->strings = malloc(len + 1);
	if (!tree->text || !tree->strings)
		return -ENOMEM;
	rc = advance(&p);
	if (!rc && p.token.kind == TOKEN_END)
		return expr_fail(err, p.token.from, "an expression, such as pid > 1000",
				 "the expression is empty");
	if (!rc)
		rc = parse(&p, NO_STRENGTH, &tree->root);
	if (!rc && p.token.kind != TOKEN_END)
		rc = no_end(&p);
	return rc;
}

void expr_tree_free(struct expr_tree *tree)
{
	free(tree->text);
	free(tree->strings);
	free(tree->nodes);
	*tree = (struct expr_tree){ 0 };
}
