/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/asked/kfilter.h"

#include "stream/asked/schema.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MAX_FILTER_STR_VAL of the kernel, without the NUL. */
enum { MAX_STRING = 255 };

struct writer {
	const struct expr_tree *tree;
	const struct expr_schema *schema;
	FILE *out;
};

static bool write_condition(struct writer *w, expr_node_ref ref);

static const char *const signs[] = {
	[EXPR_EQ] = "==", [EXPR_NE] = "!=", [EXPR_LT] = "<", [EXPR_LE] = "<=", [EXPR_GT] = ">",
	[EXPR_GE] = ">=", [EXPR_GLOB] = "~", [EXPR_BIT_AND] = "&",
};

/* A comparison of one field with one constant. */
struct predicate {
	enum expr_op op;
	const struct expr_node *name, *constant;
	const struct expr_field *field;
};

static enum expr_op mirrored(enum expr_op op)
{
	switch (op) {
	case EXPR_LT:
		return EXPR_GT;
	case EXPR_GT:
		return EXPR_LT;
	case EXPR_LE:
		return EXPR_GE;
	case EXPR_GE:
		return EXPR_LE;
	default:
		return op;
	}
}

static bool is_constant(const struct expr_node *node)
{
	return node->op == EXPR_NUMBER || node->op == EXPR_STRING;
}

static bool find_predicate(const struct writer *w, const struct expr_node *node,
			   struct predicate *p)
{
	const struct expr_node *a = expr_at(w->tree, node->kid[0]), *b = expr_at(w->tree, node->kid[1]);

	if (!expr_is_comparison(node->op) && node->op != EXPR_BIT_AND)
		return false;
	*p = (struct predicate){ .op = node->op, .name = a, .constant = b };
	if (is_constant(a) && node->op != EXPR_GLOB)
		*p = (struct predicate){ .op = mirrored(node->op), .name = b, .constant = a };
	if (p->name->op != EXPR_NAME || !is_constant(p->constant))
		return false;
	p->field = expr_field(w->schema, p->name->text, p->name->len);
	return p->field;
}

/* ---- numbers ------------------------------------------------------------------------ */

/* The kernel's name for the CPU, unless the event has a field of that name. */
static const char *cpu_name(const struct writer *w)
{
	static const char *const names[] = { "CPU", "cpu" };

	for (int i = 0; i < 2; i++) {
		const struct expr_field *field = expr_field(w->schema, names[i], 3);

		if (field && field->area == SCHEMA_CPU)
			return names[i];
	}
	return NULL;
}

static bool write_cpu(struct writer *w, const struct predicate *p)
{
	const char *name = cpu_name(w);

	if (!name || p->op == EXPR_BIT_AND || p->constant->number.u > INT_MAX)
		return false;
	fprintf(w->out, "%s%s%" PRIu64, name, signs[p->op], p->constant->number.u);
	return true;
}

static bool is_number(const struct expr_field *field)
{
	return (field->kind <= EXPR_FIELD_SINT || field->kind == EXPR_FIELD_POINTER) &&
	       (field->size == 1 || field->size == 2 || field->size == 4 || field->size == 8);
}

static bool write_number(struct writer *w, const struct predicate *p)
{
	bool is_signed = p->field->kind == EXPR_FIELD_SINT;
	struct expr_value value;

	if (!is_number(p->field) || p->op == EXPR_GLOB)
		return false;
	if (p->field->area == SCHEMA_CPU)
		return write_cpu(w, p);
	if (p->field->area != SCHEMA_RAW ||
	    !expr_constant_of_field(p->field, p->op, &p->constant->number, &value))
		return false;
	/* expr compares unsigned here, the kernel signed */
	if (is_signed && p->constant->number.type == EXPR_U64 && p->op != EXPR_EQ &&
	    p->op != EXPR_NE && p->op != EXPR_BIT_AND)
		return false;
	fprintf(w->out, "%s%s", p->field->name, signs[p->op]);
	if (is_signed)
		fprintf(w->out, "%" PRId64, value.s);
	else
		fprintf(w->out, "%" PRIu64, value.u);
	return true;
}

/* ---- text --------------------------------------------------------------------------- */

/* The kernel handles a glob wrongly if it begins with a digit, or with a star and has no other
 * special character except a star at its end: such globs do not reach glob_match(). A character
 * class, or a backslash, makes the kernel use glob_match(). */
static void write_glob(struct writer *w, const char *glob, size_t len)
{
	size_t i = 0;

	if (len && glob[0] == '!')
		fputc(glob[i++], w->out);
	if (i < len && isdigit((unsigned char)glob[i])) {
		fprintf(w->out, "[%c]", glob[i++]);
	} else if (i + 1 < len && glob[i] == '*' && !strchr("*?[\\", glob[i + 1])) {
		fputs("*\\", w->out);
		i++;
	}
	fwrite(glob + i, 1, len - i, w->out);
}

static bool ends_in_backslash(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && text[len - 1 - n] == '\\')
		n++;
	return n & 1;
}

static bool can_glob(const char *glob, size_t len)
{
	return !ends_in_backslash(glob, len) && !memmem(glob, len, "[!", 2);
}

static bool is_text(const struct expr_field *field)
{
	return field->kind == EXPR_FIELD_CHARS || field->kind == EXPR_FIELD_DATA_LOC ||
	       field->kind == EXPR_FIELD_REL_LOC || field->kind == EXPR_FIELD_POINTER ||
	       field->kind == EXPR_FIELD_CALLED;
}

/* The kernel's name for _comm is COMM. It names idle tasks swapper/0, swapper/1 and so on, the sideband all of them
 * swapper: conditions that may tell these apart are evaluated here. */
static const char *text_name(const struct writer *w, const struct predicate *p)
{
	const struct expr_field *kernels = expr_field(w->schema, "COMM", 4);
	const char *text = p->constant->text;

	if (p->field->kind != EXPR_FIELD_CALLED || p->field->name[0] != '_')
		return p->field->name;
	if (!kernels || kernels->kind != EXPR_FIELD_CALLED || !p->constant->len || strchr("s*?[!\\", text[0]))
		return NULL;
	return kernels->name;
}

static bool write_text(struct writer *w, const struct predicate *p)
{
	const char *text = p->constant->text;
	size_t len = p->constant->len;
	char quote = memchr(text, '"', len) ? '\'' : '"';
	const char *name = is_text(p->field) ? text_name(w, p) : NULL;

	/* the kernel would compare a text that a probe could not read as if it were the next one of the probe */
	if (p->field->next)
		return false;
	if (!name || (p->op != EXPR_EQ && p->op != EXPR_NE && p->op != EXPR_GLOB))
		return false;
	/* a string of the kernel cannot contain its own quote; write_glob() adds up to 2 characters */
	if (memchr(text, quote, len) || len > MAX_STRING - 2)
		return false;
	/* can never be equal, but the kernel would compare the bytes of the array alone */
	if (p->field->kind == EXPR_FIELD_CHARS && len >= p->field->size && p->op != EXPR_GLOB)
		return false;
	if (p->op == EXPR_GLOB && !can_glob(text, len))
		return false;
	fprintf(w->out, "%s%s%c", name, signs[p->op], quote);
	if (p->op == EXPR_GLOB)
		write_glob(w, text, len);
	else
		fwrite(text, 1, len, w->out);
	fputc(quote, w->out);
	return true;
}

/* ---- conditions --------------------------------------------------------------------- */

static bool write_predicate(struct writer *w, const struct expr_node *node)
{
	struct predicate p;

	if (!find_predicate(w, node, &p))
		return false;
	return p.constant->op == EXPR_NUMBER ? write_number(w, &p) : write_text(w, &p);
}

/* (flags & 4) != 0 */
static bool write_bit_test(struct writer *w, const struct expr_node *node)
{
	const struct expr_node *bits = expr_at(w->tree, node->kid[0]);
	const struct expr_node *zero = expr_at(w->tree, node->kid[1]);
	bool ok;

	if ((node->op != EXPR_EQ && node->op != EXPR_NE) || bits->op != EXPR_BIT_AND ||
	    zero->op != EXPR_NUMBER || zero->number.u)
		return false;
	if (node->op == EXPR_EQ)
		fputs("!(", w->out);
	ok = write_predicate(w, bits);
	if (node->op == EXPR_EQ)
		fputs(")", w->out);
	return ok;
}

/* A field alone is a condition: field != 0. */
static bool write_truth(struct writer *w, const struct expr_node *name)
{
	static const struct expr_node zero = { .op = EXPR_NUMBER };
	struct predicate p = {
		.op = EXPR_NE, .name = name, .constant = &zero,
		.field = expr_field(w->schema, name->text, name->len),
	};

	return p.field && write_number(w, &p);
}

static bool write_side(struct writer *w, expr_node_ref ref, bool parens)
{
	bool ok;

	if (parens)
		fputc('(', w->out);
	ok = write_condition(w, ref);
	if (parens)
		fputc(')', w->out);
	return ok;
}

static bool write_condition(struct writer *w, expr_node_ref ref)
{
	const struct expr_node *node = expr_at(w->tree, ref);
	bool and = node->op == EXPR_AND;

	switch (node->op) {
	case EXPR_AND:
	case EXPR_OR:
		if (!write_side(w, node->kid[0], and && expr_at(w->tree, node->kid[0])->op == EXPR_OR))
			return false;
		fputs(and ? " && " : " || ", w->out);
		return write_side(w, node->kid[1], expr_at(w->tree, node->kid[1])->op == EXPR_OR);
	case EXPR_NOT:
		fputc('!', w->out);
		return write_side(w, node->kid[0], true);
	case EXPR_NAME:
		return write_truth(w, node);
	default:
		return write_predicate(w, node) || write_bit_test(w, node);
	}
}

char *kfilter_text(const struct expr_tree *tree, expr_node_ref ref,
		   const struct expr_schema *schema)
{
	struct writer w = { .tree = tree, .schema = schema };
	char *text = NULL;
	size_t len = 0;
	bool ok;

	w.out = open_memstream(&text, &len);
	if (!w.out)
		return NULL;
	ok = write_condition(&w, ref);
	ok &= !ferror(w.out);
	if (fclose(w.out) || !ok || len > KFILTER_MAX) {
		free(text);
		return NULL;
	}
	return text;
}
