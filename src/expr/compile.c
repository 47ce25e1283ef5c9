/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves names of fields, checks types, and compiles the tree to a list of instructions. */
#include "base/nearest.h"
#include "base/room.h"
#include "base/units.h"
#include "expr/code.h"
#include "expr/expr.h"
#include "expr/tree.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions available in every expression. */

static int call_ntohl(struct expr_run *run, const struct expr_value *args, size_t nargs,
		      struct expr_value *result)
{
	result->s = ntohl((uint32_t)args[0].u);
	return EXPR_FINE;
}

static int call_ntohs(struct expr_run *run, const struct expr_value *args, size_t nargs,
		      struct expr_value *result)
{
	result->s = ntohs((uint16_t)args[0].u);
	return EXPR_FINE;
}

/* As in C: below, at or above 0. Text that is not terminated ends at its length. */
static int call_strncmp(struct expr_run *run, const struct expr_value *args, size_t nargs,
			struct expr_value *result)
{
	uint64_t n = args[2].u;
	size_t a = args[0].len < n ? args[0].len : n, b = args[1].len < n ? args[1].len : n;
	int order = memcmp(args[0].text, args[1].text, a < b ? a : b);

	result->s = order ? order : (a > b) - (a < b);
	return EXPR_FINE;
}

static const char *check_strncmp(const struct expr_value *args, const bool *is_const, size_t nargs,
				 size_t *bad)
{
	*bad = 2;
	return is_const[2] && args[2].type == EXPR_S64 && args[2].s < 0 ?
	       "a number of characters" : NULL;
}

static const struct expr_func expr_builtins[] = {
	{ "ntohl", "i", EXPR_S64, NULL, call_ntohl },
	{ "ntohs", "i", EXPR_S64, NULL, call_ntohs },
	{ "strncmp", "ssi", EXPR_S64, check_strncmp, call_strncmp },
};
static const size_t expr_nbuiltins = sizeof(expr_builtins) / sizeof(*expr_builtins);

/* NULL if there is none of that name. */
static const struct expr_func *expr_func_find(const struct expr_func *funcs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(funcs[i].name, name))
			return &funcs[i];
	return NULL;
}

struct compiler {
	const struct expr_tree *tree;
	const struct expr_schema *schema;
	struct expr *out;
	struct expr_error *err;
	int height;                   /* current height of the stack */
};

static int compile(struct compiler *c, expr_node_ref ref, enum expr_type *type);

/* ---- instructions ------------------------------------------------------------------- */

static int too_deep(struct compiler *c, size_t at)
{
	return expr_fail(c->err, at, "fewer nested operands",
			 "this expression is nested too deeply");
}

/* Appends an instruction that changes the height of the stack by `grows`. */
static struct expr_insn *emit(struct compiler *c, enum expr_code code, int grows)
{
	struct expr *e = c->out;
	struct expr_insn *insn = APPENDED(e->insns, e->ninsns);

	if (!insn)
		return NULL;
	c->height += grows;
	insn->code = (uint8_t)code;
	return insn;
}

static int emit_plain(struct compiler *c, enum expr_code code, int grows)
{
	return emit(c, code, grows) ? 0 : -ENOMEM;
}

/* Makes the next instruction the target of the jump `insn`. */
static void land(struct compiler *c, size_t insn)
{
	c->out->insns[insn].size = (uint32_t)c->out->ninsns;
}

/* ---- fields ------------------------------------------------------------------------- */

const struct expr_field *expr_field(const struct expr_schema *schema, const char *name, size_t len)
{
	for (size_t i = 0; i < schema->nfields; i++)
		if (!strncmp(schema->fields[i].name, name, len) && !schema->fields[i].name[len])
			return &schema->fields[i];
	return NULL;
}

static void list_fields(const struct expr_schema *schema, char *buf, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < schema->nfields; i++) {
		const char *name = schema->fields[i].name;

		if (schema->fields[i].hidden)
			continue;
		if (used + strlen(name) + 8 > size) {
			snprintf(buf + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", name);
	}
}

static int unknown_field(struct compiler *c, const struct expr_node *node)
{
	char name[128], expected[400] = "no field: there are none";
	struct nearest near;

	snprintf(name, sizeof(name), "%.*s", (int)(node->len < 120 ? node->len : 120), node->text);
	nearest_begin(&near, name);
	for (size_t i = 0; i < c->schema->nfields; i++)
		if (!c->schema->fields[i].hidden)
			nearest_offer(&near, c->schema->fields[i].name);
	list_fields(c->schema, expected, sizeof(expected));
	expr_fail(c->err, node->at, expected, "there is no field %s%s%s%s", name,
		  nearest_get(&near) ? "; did you mean " : "",
		  nearest_get(&near) ? nearest_get(&near) : "", nearest_get(&near) ? "?" : "");
	if (c->err)
		c->err->lists_fields = true;
	return -EINVAL;
}

static int no_value(struct compiler *c, const struct expr_node *node, const struct expr_field *field)
{
	return expr_fail(c->err, node->at, "a field that is a number or text",
			 "%s is %u bytes that are neither a number nor text", field->name, field->size);
}

static enum expr_code number_code(const struct expr_field *field)
{
	bool is_signed = field->kind == EXPR_FIELD_SINT;

	switch (field->size) {
	case 1:
		return is_signed ? CODE_S8 : CODE_U8;
	case 2:
		return is_signed ? CODE_S16 : CODE_U16;
	case 4:
		return is_signed ? CODE_S32 : CODE_U32;
	case 8:
		return CODE_U64;
	default:
		return CODE_END;
	}
}

static const struct {
	enum expr_code code;          /* CODE_END: depends on the size, or has no value */
	bool number;
} kinds[] = {
	[EXPR_FIELD_UINT] = { CODE_END, true },
	[EXPR_FIELD_SINT] = { CODE_END, true },
	[EXPR_FIELD_CHARS] = { CODE_CHARS, false },
	[EXPR_FIELD_DATA_LOC] = { CODE_DATA_LOC, false },
	[EXPR_FIELD_REL_LOC] = { CODE_REL_LOC, false },
	[EXPR_FIELD_POINTER] = { CODE_END, true },
	[EXPR_FIELD_BYTES] = { CODE_END, false },
	[EXPR_FIELD_CALLED] = { CODE_END, false },
};

static int compile_called(struct compiler *c, const struct expr_func *func, enum expr_type *type)
{
	struct expr_insn *insn = emit(c, CODE_CALL, 1);

	if (!insn)
		return -ENOMEM;
	insn->func = func;
	*type = func->result;
	return 0;
}

static int compile_name(struct compiler *c, const struct expr_node *node, enum expr_type *type)
{
	const struct expr_field *field = expr_field(c->schema, node->text, node->len);
	struct expr_insn *insn;
	enum expr_code code;

	if (!field)
		return unknown_field(c, node);
	if (field->kind == EXPR_FIELD_CALLED && field->offset < c->schema->nfuncs)
		return compile_called(c, &c->schema->funcs[field->offset], type);
	code = kinds[field->kind].number ? number_code(field) : kinds[field->kind].code;
	if (code == CODE_END || field->area >= EXPR_AREAS)
		return no_value(c, node, field);
	*type = !kinds[field->kind].number ? EXPR_TEXT :
		field->size == 8 && field->kind != EXPR_FIELD_SINT ? EXPR_U64 : EXPR_S64;
	insn = emit(c, code, 1);
	if (!insn)
		return -ENOMEM;
	insn->area = field->area;
	insn->offset = field->offset;
	insn->size = field->size;
	insn->number = field->next;
	return 0;
}

/* ---- constants ---------------------------------------------------------------------- */

static int emit_number(struct compiler *c, uint64_t number)
{
	struct expr_insn *insn = emit(c, CODE_CONSTANT, 1);

	if (!insn)
		return -ENOMEM;
	insn->number = number;
	return 0;
}

static int emit_text(struct compiler *c, enum expr_code code, int grows, const struct expr_node *node)
{
	struct expr_insn *insn = emit(c, code, grows);

	if (!insn)
		return -ENOMEM;
	insn->size = node->len;
	insn->text = c->out->strings + (node->text - c->tree->strings);
	return 0;
}

static int compile_number(struct compiler *c, const struct expr_node *node, enum expr_type *type)
{
	*type = node->number.type;
	return emit_number(c, node->number.u);
}

static int compile_string(struct compiler *c, const struct expr_node *node, enum expr_type *type)
{
	*type = EXPR_TEXT;
	return emit_text(c, CODE_CONSTANT, 1, node);
}

bool expr_constant_of_field(const struct expr_field *field, enum expr_op op,
			    const struct expr_value *constant, struct expr_value *fitted)
{
	unsigned int bits = 8u * field->size;
	bool is_signed = field->kind == EXPR_FIELD_SINT, negative = constant->type == EXPR_S64 &&
		constant->s < 0;
	uint64_t top = 1ULL << (bits - 1), mask = top | (top - 1), u = constant->u;
	bool by_bits = op == EXPR_EQ || op == EXPR_NE || op == EXPR_BIT_AND;

	*fitted = *constant;
	if (negative ? u < -top : u > mask)
		return false;
	if (is_signed == negative || (!negative && u < top))
		return true;
	/* of the other sign: its bits are another value: for equality and bit tests only */
	if (!by_bits)
		return false;
	fitted->u = is_signed ? u | ~mask : u & mask;
	fitted->type = is_signed || bits < 64 ? EXPR_S64 : EXPR_U64;
	return true;
}

/* ---- conditions --------------------------------------------------------------------- */

static int want_number(struct compiler *c, expr_node_ref ref, enum expr_type type)
{
	const struct expr_node *node = expr_at(c->tree, ref);

	if (type != EXPR_TEXT)
		return 0;
	return expr_fail(c->err, node->op == EXPR_STRING || node->op == EXPR_NAME ? node->at : node->from,
			 "a number; text is compared with ==, != or ~",
			 "%.*s is text", (int)(node->to - node->from < 60 ? node->to - node->from : 60),
			 c->tree->text + node->from);
}

static int compile_number_of(struct compiler *c, expr_node_ref ref, enum expr_type *type)
{
	int err = compile(c, ref, type);

	return err ? err : want_number(c, ref, *type);
}

/* a && b, a || b: b is not evaluated if a decides. */
static int compile_logic(struct compiler *c, const struct expr_node *node, enum expr_type *type)
{
	bool and = node->op == EXPR_AND;
	enum expr_type side;
	size_t jump;
	int err = compile_number_of(c, node->kid[0], &side);

	jump = c->out->ninsns;
	if (!err)
		err = emit_plain(c, and ? CODE_AND_THEN : CODE_OR_ELSE, -1);
	if (!err)
		err = compile_number_of(c, node->kid[1], &side);
	if (!err)
		err = emit_plain(c, CODE_BOOL, 0);
	if (!err)
		land(c, jump);
	*type = EXPR_S64;
	return err;
}

static int compile_choice(struct compiler *c, const struct expr_node *node, enum expr_type *type)
{
	enum expr_type side, other;
	size_t unless, jump;
	int err = compile_number_of(c, node->kid[0], &side);

	unless = c->out->ninsns;
	if (!err)
		err = emit_plain(c, CODE_UNLESS, -1);
	if (!err)
		err = compile(c, node->kid[1], type);
	jump = c->out->ninsns;
	if (!err)
		err = emit_plain(c, CODE_JUMP, -1);   /* the other branch pushes again */
	if (err)
		return err;
	land(c, unless);
	err = compile(c, node->kid[2], &other);
	if (err)
		return err;
	land(c, jump);
	if ((*type == EXPR_TEXT) != (other == EXPR_TEXT))
		return expr_fail(c->err, expr_at(c->tree, node->kid[2])->from,
				 "two numbers or two texts around the \":\"",
				 "one of these is text, the other a number");
	if (other == EXPR_U64)
		*type = EXPR_U64;
	return 0;
}

/* ---- comparisons -------------------------------------------------------------------- */

static bool is_pointer(struct compiler *c, const struct expr_node *node)
{
	const struct expr_field *field;

	if (node->op != EXPR_NAME)
		return false;
	field = expr_field(c->schema, node->text, node->len);
	return field && field->kind == EXPR_FIELD_POINTER;
}

/* Reports a number where text is needed. */
static int not_text(struct compiler *c, expr_node_ref ref)
{
	const struct expr_node *node = expr_at(c->tree, ref);
	int len = (int)(node->to - node->from < 60 ? node->to - node->from : 60);

	if (is_pointer(c, node))
		return expr_fail(c->err, node->at, "a comparison with a constant, alone or joined to the "
				 "rest by &&, which the kernel evaluates",
				 "%.*s is an address: the text is not part of the event", len,
				 c->tree->text + node->from);
	return expr_fail(c->err, node->op == EXPR_NAME ? node->at : node->from,
			 "text on both sides, or numbers on both",
			 "%.*s is a number", len, c->tree->text + node->from);
}

static int compile_glob(struct compiler *c, const struct expr_node *node, enum expr_type *type)
{
	const struct expr_node *pattern = expr_at(c->tree, node->kid[1]);
	enum expr_type side;
	int err = compile(c, node->kid[0], &side);

	if (err)
		return err;
	if (side != EXPR_TEXT)
		return not_text(c, node->kid[0]);
	if (pattern->op != EXPR_STRING)
		return expr_fail(c->err, pattern->from, "a glob between quotes, such as \"java*\"",
				 "~ compares with a constant only");
	*type = EXPR_S64;
	return emit_text(c, CODE_GLOB, 0, pattern);
}

static int compile_text_comparison(struct compiler *c, const struct expr_node *node,
				   const enum expr_type *sides)
{
	for (int i = 0; i < 2; i++)
		if (sides[i] != EXPR_TEXT)
			return not_text(c, node->kid[i]);
	if (node->op != EXPR_EQ && node->op != EXPR_NE)
		return expr_fail(c->err, node->at, "==, != or ~", "text has no order");
	return emit_plain(c, node->op == EXPR_EQ ? CODE_TEXT_EQ : CODE_TEXT_NE, -1);
}

/* Whether a side of a comparison is no field, and the other is one with text: prev_comm==foo */
static bool lacks_quotes(const struct compiler *c, const struct expr_node *self, const struct expr_node *other)
{
	const struct expr_field *field;

	if (self->op != EXPR_NAME || other->op != EXPR_NAME || expr_field(c->schema, self->text, self->len))
		return false;
	field = expr_field(c->schema, other->text, other->len);
	return field && field->kind != EXPR_FIELD_CALLED && !kinds[field->kind].number && kinds[field->kind].code != CODE_END;
}

/* Compiles a side of a comparison: a constant is converted for the field on the other side. */
static int compile_side(struct compiler *c, const struct expr_node *node, int side,
			enum expr_type *type)
{
	const struct expr_node *self = expr_at(c->tree, node->kid[side]);
	const struct expr_node *other = expr_at(c->tree, node->kid[!side]);
	const struct expr_field *field;
	struct expr_value fitted;

	if (lacks_quotes(c, self, other))
		return expr_fail(c->err, self->at, "text between quotes", "there is no field %.*s; did you mean \"%.*s\"?",
				 (int)self->len, self->text, (int)self->len, self->text);
	if (self->op != EXPR_NUMBER || other->op != EXPR_NAME ||
	    (node->op != EXPR_EQ && node->op != EXPR_NE))
		return compile(c, node->kid[side], type);
	field = expr_field(c->schema, other->text, other->len);
	if (!field || !kinds[field->kind].number || number_code(field) == CODE_END ||
	    !expr_constant_of_field(field, node->op, &self->number, &fitted))
		return compile(c, node->kid[side], type);
	*type = fitted.type;
	return emit_number(c, fitted.u);
}

static const struct {
	enum expr_code plain, of_unsigned;
} comparisons[] = {
	[EXPR_EQ] = { CODE_EQ, CODE_EQ },
	[EXPR_NE] = { CODE_NE, CODE_NE },
	[EXPR_LT] = { CODE_LT_S, CODE_LT_U },
	[EXPR_LE] = { CODE_LE_S, CODE_LE_U },
	[EXPR_GT] = { CODE_GT_S, CODE_GT_U },
	[EXPR_GE] = { CODE_GE_S, CODE_GE_U },
};

static int compile_comparison(struct compiler *c, const struct expr_node *node, enum expr_type *type)
{
	enum expr_type sides[2];
	bool is_unsigned;
	int err = compile_side(c, node, 0, &sides[0]);

	if (!err)
		err = compile_side(c, node, 1, &sides[1]);
	*type = EXPR_S64;
	if (err)
		return err;
	if (sides[0] == EXPR_TEXT || sides[1] == EXPR_TEXT)
		return compile_text_comparison(c, node, sides);
	is_unsigned = sides[0] == EXPR_U64 || sides[1] == EXPR_U64;
	return emit_plain(c, is_unsigned ? comparisons[node->op].of_unsigned :
			  comparisons[node->op].plain, -1);
}

/* ---- arithmetic --------------------------------------------------------------------- */

static const struct {
	enum expr_code plain, of_unsigned;
} arithmetic[] = {
	[EXPR_BIT_AND] = { CODE_AND, CODE_AND },
	[EXPR_BIT_OR] = { CODE_OR, CODE_OR },
	[EXPR_BIT_XOR] = { CODE_XOR, CODE_XOR },
	[EXPR_SHL] = { CODE_SHL, CODE_SHL },
	[EXPR_SHR] = { CODE_SHR_S, CODE_SHR_U },
	[EXPR_ADD] = { CODE_ADD, CODE_ADD },
	[EXPR_SUB] = { CODE_SUB, CODE_SUB },
	[EXPR_MUL] = { CODE_MUL, CODE_MUL },
	[EXPR_DIV] = { CODE_DIV_S, CODE_DIV_U },
	[EXPR_MOD] = { CODE_MOD_S, CODE_MOD_U },
};

static int compile_arithmetic(struct compiler *c, const struct expr_node *node, enum expr_type *type)
{
	const struct expr_node *right = expr_at(c->tree, node->kid[1]);
	enum expr_type sides[2];
	bool shift = node->op == EXPR_SHL || node->op == EXPR_SHR;
	int err = compile_number_of(c, node->kid[0], &sides[0]);

	if (!err)
		err = compile_number_of(c, node->kid[1], &sides[1]);
	if (err)
		return err;
	if ((node->op == EXPR_DIV || node->op == EXPR_MOD) && right->op == EXPR_NUMBER &&
	    !right->number.u)
		return expr_fail(c->err, right->from, "a number other than 0", "division by zero");
	*type = sides[0] == EXPR_U64 || (sides[1] == EXPR_U64 && !shift) ? EXPR_U64 : EXPR_S64;
	return emit_plain(c, *type == EXPR_U64 ? arithmetic[node->op].of_unsigned :
			  arithmetic[node->op].plain, -1);
}

static int compile_unary(struct compiler *c, const struct expr_node *node, enum expr_type *type)
{
	int err = compile_number_of(c, node->kid[0], type);

	if (err)
		return err;
	if (node->op == EXPR_NOT)
		*type = EXPR_S64;
	return emit_plain(c, node->op == EXPR_NOT ? CODE_NOT :
			  node->op == EXPR_NEGATE ? CODE_NEGATE : CODE_INVERT, 0);
}

/* ---- calls -------------------------------------------------------------------------- */

static const struct expr_func *find_func(struct compiler *c, const struct expr_node *node)
{
	char name[64];
	const struct expr_func *f;

	snprintf(name, sizeof(name), "%.*s", (int)(node->len < 63 ? node->len : 63), node->text);
	f = expr_func_find(c->schema->funcs, c->schema->nfuncs, name);
	return f ? f : expr_func_find(expr_builtins, expr_nbuiltins, name);
}

static void list_funcs(const struct expr_func *funcs, size_t n, struct nearest *near, char *buf,
		       size_t size)
{
	for (size_t i = 0; i < n; i++) {
		size_t used = strlen(buf);

		nearest_offer(near, funcs[i].name);
		snprintf(buf + used, size - used, "%s%s()", used ? ", " : "", funcs[i].name);
	}
}

static int unknown_func(struct compiler *c, const struct expr_node *node)
{
	char name[64], list[300] = "", expected[400];
	struct nearest near;

	snprintf(name, sizeof(name), "%.*s", (int)(node->len < 63 ? node->len : 63), node->text);
	nearest_begin(&near, name);
	list_funcs(c->schema->funcs, c->schema->nfuncs, &near, list, sizeof(list));
	list_funcs(expr_builtins, expr_nbuiltins, &near, list, sizeof(list));
	snprintf(expected, sizeof(expected), "%s", list);
	return expr_fail(c->err, node->at, expected, "there is no function %s()%s%s%s", name,
			 nearest_get(&near) ? "; did you mean " : "",
			 nearest_get(&near) ? nearest_get(&near) : "", nearest_get(&near) ? "()?" : "");
}

/* Checks an argument by its letter in expr_func.params. */
static int check_argument(struct compiler *c, const struct expr_node *call, char letter,
			  expr_node_ref ref, enum expr_type type)
{
	const struct expr_node *node = expr_at(c->tree, ref);

	if (letter == 'i' && type == EXPR_TEXT)
		return want_number(c, ref, type);
	if (letter == 's' && type != EXPR_TEXT)
		return expr_fail(c->err, node->from, "text", "this argument of %.*s() is a number",
				 (int)call->len, call->text);
	if (letter == 'c' && node->op != EXPR_STRING)
		return expr_fail(c->err, node->from, "text between quotes",
				 "this argument of %.*s() has to be a constant", (int)call->len, call->text);
	return 0;
}

static int argument_count(struct compiler *c, const struct expr_node *call, const char *params,
			  size_t given, size_t at)
{
	char expected[64];
	size_t n = strcspn(params, "*");
	bool too_many = given == EXPR_MAX_ARGS;

	if (params[n])
		snprintf(expected, sizeof(expected), "at %s %zu argument%s", too_many ? "most" : "least",
			 too_many ? given : n, units_plural(too_many ? given : n));
	else
		snprintf(expected, sizeof(expected), "%zu argument%s", n, units_plural(n));
	return expr_fail(c->err, at, expected, "wrong number of arguments for %.*s()", (int)call->len,
			 call->text);
}

struct arguments {
	struct expr_value value[EXPR_MAX_ARGS];
	bool is_const[EXPR_MAX_ARGS];
	expr_node_ref ref[EXPR_MAX_ARGS];
	size_t n;
};

static int compile_arguments(struct compiler *c, const struct expr_node *call,
			     const char *all_params, struct arguments *args)
{
	const char *params = all_params;

	for (expr_node_ref ref = call->kid[0]; ref; ref = expr_at(c->tree, ref)->next) {
		const struct expr_node *node = expr_at(c->tree, ref);
		struct expr_value *value = &args->value[args->n];
		int err;

		if (!*params || args->n == EXPR_MAX_ARGS)
			return argument_count(c, call, all_params, args->n, node->from);
		err = compile(c, ref, &value->type);
		if (!err)
			err = check_argument(c, call, *params, ref, value->type);
		if (err)
			return err;
		if (node->op == EXPR_STRING) {
			value->text = node->text;
			value->len = node->len;
		} else if (node->op == EXPR_NUMBER) {
			value->u = node->number.u;
		}
		args->is_const[args->n] = node->op == EXPR_STRING || node->op == EXPR_NUMBER;
		args->ref[args->n++] = ref;
		params += *params != '*';
	}
	if (*params && *params != '*')
		return argument_count(c, call, all_params, args->n, call->to - 1);
	return 0;
}

static int compile_call(struct compiler *c, const struct expr_node *call, enum expr_type *type)
{
	const struct expr_func *func = find_func(c, call);
	struct arguments args = { .n = 0 };
	struct expr_insn *insn;
	const char *wrong;
	size_t bad = 0;
	int err;

	if (!func)
		return unknown_func(c, call);
	err = compile_arguments(c, call, func->params, &args);
	if (err)
		return err;
	wrong = func->check ? func->check(args.value, args.is_const, args.n, &bad) : NULL;
	if (wrong)
		return expr_fail(c->err, bad < args.n ? expr_at(c->tree, args.ref[bad])->from : call->to - 1,
				 wrong, "%s() does not take this argument", func->name);
	insn = emit(c, CODE_CALL, 1 - (int)args.n);
	if (!insn)
		return -ENOMEM;
	insn->func = func;
	insn->offset = (uint16_t)args.n;
	*type = func->result;
	return 0;
}

/* ---- tree --------------------------------------------------------------------------- */

typedef int compile_fn(struct compiler *c, const struct expr_node *node, enum expr_type *type);

static compile_fn *const compilers[] = {
	[EXPR_NUMBER] = compile_number, [EXPR_STRING] = compile_string, [EXPR_NAME] = compile_name,
	[EXPR_NOT] = compile_unary, [EXPR_NEGATE] = compile_unary, [EXPR_INVERT] = compile_unary,
	[EXPR_EQ] = compile_comparison, [EXPR_NE] = compile_comparison,
	[EXPR_LT] = compile_comparison, [EXPR_LE] = compile_comparison,
	[EXPR_GT] = compile_comparison, [EXPR_GE] = compile_comparison, [EXPR_GLOB] = compile_glob,
	[EXPR_BIT_AND] = compile_arithmetic, [EXPR_BIT_OR] = compile_arithmetic,
	[EXPR_BIT_XOR] = compile_arithmetic, [EXPR_SHL] = compile_arithmetic,
	[EXPR_SHR] = compile_arithmetic, [EXPR_ADD] = compile_arithmetic,
	[EXPR_SUB] = compile_arithmetic, [EXPR_MUL] = compile_arithmetic,
	[EXPR_DIV] = compile_arithmetic, [EXPR_MOD] = compile_arithmetic,
	[EXPR_AND] = compile_logic, [EXPR_OR] = compile_logic, [EXPR_CHOOSE] = compile_choice,
	[EXPR_CALL] = compile_call,
};

static int compile(struct compiler *c, expr_node_ref ref, enum expr_type *type)
{
	const struct expr_node *node = expr_at(c->tree, ref);

	/* the result needs a place even if there are no arguments */
	if (c->height >= EXPR_STACK)
		return too_deep(c, node->from);
	return compilers[node->op](c, node, type);
}

static struct expr *new_expr(const struct expr_tree *tree)
{
	struct expr *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->strings = malloc(tree->strings_used + 1);
	if (!e->strings) {
		free(e);
		return NULL;
	}
	memcpy(e->strings, tree->strings, tree->strings_used);
	return e;
}

int expr_compile(struct expr **expr, const struct expr_tree *tree, expr_node_ref root,
		 const struct expr_schema *schema, struct expr_error *err)
{
	struct compiler c = { .tree = tree, .schema = schema, .err = err, .out = new_expr(tree) };
	int rc;

	*expr = NULL;
	if (!c.out)
		return -ENOMEM;
	rc = compile(&c, root, &c.out->type);
	if (!rc)
		rc = emit_plain(&c, CODE_END, 0);
	if (rc) {
		expr_free(c.out);
		return rc;
	}
	*expr = c.out;
	return 0;
}

int expr_new(struct expr **expr, const char *text, const struct expr_schema *schema,
	     struct expr_error *err)
{
	struct expr_tree tree;
	int rc = expr_tree_parse(&tree, text, err);

	*expr = NULL;
	if (!rc)
		rc = expr_compile(expr, &tree, tree.root, schema, err);
	expr_tree_free(&tree);
	return rc;
}

void expr_free(struct expr *expr)
{
	if (!expr)
		return;
	free(expr->insns);
	free(expr->strings);
	free(expr);
}

enum expr_type expr_type(const struct expr *expr)
{
	return expr->type;
}
