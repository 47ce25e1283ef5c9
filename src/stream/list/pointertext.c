/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/pointertext.h"

#include "expr/tree.h"
#include "tracefmt/tracefmt.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_of_program(const struct stream_event *event, const struct expr_field *field)
{
	return field && field->kind == EXPR_FIELD_POINTER && event->fmt && !strcmp(event->fmt->sys, "syscalls");
}

/* How the field's text is named in filters. */
static void name_text(const struct expr_schema *schema, const char *name, char *buf, size_t size)
{
	int len = snprintf(buf, size, "__%s_val", name);

	if (!expr_field(schema, buf, (size_t)len))
		snprintf(buf, size, "%s.ustring", name);
}

/* ---- filename=="x" --------------------------------------------------------------------- */

static bool is_comparison_of_text(enum expr_op op)
{
	return op == EXPR_EQ || op == EXPR_NE || op == EXPR_GLOB;
}

/* The comparison of a name with a text; NULL: it is none. */
static const struct expr_node *compared_name(const struct expr_tree *tree, const struct expr_node *node,
					     const struct expr_node **text)
{
	const struct expr_node *a, *b;

	if (!is_comparison_of_text(node->op))
		return NULL;
	a = expr_at(tree, node->kid[0]);
	b = expr_at(tree, node->kid[1]);
	*text = a->op == EXPR_STRING ? a : b;
	a = a->op == EXPR_STRING ? b : a;
	return a->op == EXPR_NAME && (*text)->op == EXPR_STRING ? a : NULL;
}

static bool find_comparison(const struct stream_event *event, const struct expr_schema *schema, const struct expr_tree *tree,
			    struct pointertext *found, struct expr_error *err)
{
	static const char *const signs[] = { [EXPR_EQ] = "==", [EXPR_NE] = "!=", [EXPR_GLOB] = "~" };

	for (size_t i = 1; i < tree->nnodes; i++) {
		const struct expr_node *text, *name = compared_name(tree, &tree->nodes[i], &text);
		char field[48];

		if (!name || !is_of_program(event, expr_field(schema, name->text, name->len)))
			continue;
		snprintf(field, sizeof(field), "%.*s", (int)name->len, name->text);
		name_text(schema, field, found->field, sizeof(found->field));
		snprintf(found->instead, sizeof(found->instead), "%s%s%.*s", found->field, signs[tree->nodes[i].op],
			 (int)(text->to - text->from), tree->text + text->from);
		expr_fail(err, name->at, "", "%s is an address in the program: this does not compare the text there", field);
		return true;
	}
	return false;
}

/* ---- str(args->filename) ---------------------------------------------------------------- */

/* The name in str(args->NAME) or str(NAME) at that place; false: it is none. */
static bool called_name(const char *text, char *name, size_t size)
{
	const char *field = text + strlen("str(");

	if (strncmp(text, "str(", strlen("str(")))
		return false;
	if (!strncmp(field, "args->", strlen("args->")))
		field += strlen("args->");
	else if (!strncmp(field, "args.", strlen("args.")))
		field += strlen("args.");
	snprintf(name, size, "%.*s", (int)strspn(field, "abcdefghijklmnopqrstuvwxyz_0123456789"), field);
	return *name && field[strlen(name)] == ')';
}

/* The next "str(" that is not in quotes; at: not in quotes. NULL: there is none. */
static const char *next_call(const char *at)
{
	for (bool quoted = false; *at; at++) {
		if (*at == '"')
			quoted = !quoted;
		else if (!quoted && !strncmp(at, "str(", strlen("str(")))
			return at;
	}
	return NULL;
}

static bool find_call(const struct stream_event *event, const struct expr_schema *schema, struct pointertext *found,
		      struct expr_error *err)
{
	const char *text = event->asked.filter;
	char name[48];

	for (const char *at = next_call(text); at; at = next_call(at + 1)) {
		if ((at > text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) || !called_name(at, name, sizeof(name)))
			continue;
		if (!is_of_program(event, expr_field(schema, name, strlen(name))))
			snprintf(found->field, sizeof(found->field), "%s", name);
		else
			name_text(schema, name, found->field, sizeof(found->field));
		snprintf(found->instead, sizeof(found->instead), "%s", found->field);
		expr_fail(err, (size_t)(at - text), "", "str() is the spelling of bpftrace");
		return true;
	}
	return false;
}

bool pointertext_compared(const struct stream_event *event, const struct expr_schema *schema, struct pointertext *found,
			  struct expr_error *err)
{
	struct expr_tree tree;
	struct expr_error none;
	const bool is = !expr_tree_parse(&tree, event->asked.filter, &none) && find_comparison(event, schema, &tree, found, err);

	expr_tree_free(&tree);
	return is || find_call(event, schema, found, err);
}
