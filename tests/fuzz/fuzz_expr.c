/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is an expression or is refused at a place inside it; any expression has a value
 * on any bytes, or says why not. The text comes first, the bytes behind its NUL.
 */
#include "expr/tree.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FIELD(name_, kind_, offset_, size_) { .name = name_, .kind = EXPR_FIELD_ ## kind_,         \
	.offset = offset_, .size = size_ }

static const struct expr_field fields[] = {
	FIELD("u8", UINT, 0, 1), FIELD("s8", SINT, 0, 1), FIELD("u16", UINT, 1, 2),
	FIELD("s16", SINT, 1, 2), FIELD("u32", UINT, 3, 4), FIELD("s32", SINT, 3, 4),
	FIELD("u64", UINT, 5, 8), FIELD("s64", SINT, 5, 8), FIELD("comm", CHARS, 8, 16),
	FIELD("dyn", DATA_LOC, 4, 4), FIELD("rel", REL_LOC, 8, 4), FIELD("odd", DATA_LOC, 4, 3),
	FIELD("p", POINTER, 8, 8), FIELD("a", BYTES, 0, 6), FIELD("u24", UINT, 0, 3),
	FIELD("far", SINT, 65535, 8), { "kernel", EXPR_FIELD_CALLED },
	{ "other", EXPR_FIELD_UINT, 1, false, 0, 4 }, { "wrong", EXPR_FIELD_UINT, 200, false, 0, 4 },
};

static int call_any(struct expr_run *run, const struct expr_value *args, size_t nargs,
		    struct expr_value *result)
{
	result->s = (int64_t)nargs;
	return EXPR_FINE;
}

/* Touches all of the text that it is given, and hands a part of it on. */
static int call_text(struct expr_run *run, const struct expr_value *args, size_t nargs,
		     struct expr_value *result)
{
	volatile char c = 0;

	for (uint32_t i = 0; i < args[0].len; i++)
		c = args[0].text[i];
	(void)c;
	result->text = args[0].text;
	result->len = args[0].len / 2;
	return args[1].u == 3 ? EXPR_FAILED : EXPR_FINE;
}

static const struct expr_func funcs[] = {
	{ "any", "*", EXPR_U64, NULL, call_any },
	{ "text", "si", EXPR_TEXT, NULL, call_text },
};

static const struct expr_schema schema = {
	fields, sizeof(fields) / sizeof(*fields), funcs, sizeof(funcs) / sizeof(*funcs),
};

static void check_value(const struct expr *e, const uint8_t *bytes, size_t size)
{
	static const uint32_t other = 7;
	struct expr_run run = {
		.area = { { bytes, (uint32_t)size }, { &other, sizeof(other) } },
	};
	struct expr_value value, again;
	int trouble = expr_eval(e, &run, &value);
	volatile char c = 0;

	assert(trouble >= 0 && trouble < EXPR_TROUBLES && trouble != EXPR_ROOM);
	assert(expr_eval(e, &run, &again) == trouble);
	if (trouble)
		return;
	assert(value.type == expr_type(e) && value.u == again.u);
	for (uint32_t i = 0; value.type == EXPR_TEXT && i < value.len; i++)
		c = value.text[i];
	(void)c;
}

static void check_node(const struct expr_tree *tree, const struct expr_node *node, size_t len)
{
	assert(node->from <= node->at && node->at <= len);
	assert(node->from < node->to && node->to <= len);
	for (int i = 0; i < 3; i++)
		assert(node->kid[i] < tree->nnodes &&
		       (!node->kid[i] || expr_at(tree, node->kid[i])->depth < node->depth));
}

/* Every subexpression lies within its text, and compiles or not, by itself. */
static void check_tree(const char *text)
{
	struct expr_error err;
	struct expr_tree tree;
	size_t len = strlen(text);

	if (!expr_tree_parse(&tree, text, &err)) {
		for (expr_node_ref i = 1; i < tree.nnodes; i++)
			check_node(&tree, expr_at(&tree, i), len);
		for (expr_node_ref i = 1; i < tree.nnodes && i < 8; i++) {
			struct expr *e;

			expr_compile(&e, &tree, i, &schema, &err);
			expr_free(e);
		}
		assert(tree.strings_used <= len);
	}
	expr_tree_free(&tree);
}

static void check_error(const struct expr_error *err, size_t len)
{
	assert(err->message[0] && err->expected[0] && err->at <= len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	size_t len, left;
	struct expr_error err = { 0 };
	struct expr *e;
	uint8_t *bytes;
	int rc;

	assert(text);
	len = strlen(text);
	left = len < size ? size - len - 1 : 0;
	bytes = malloc(left ? left : 1);   /* of exact size, for the sanitizer */
	assert(bytes);
	memcpy(bytes, data + size - left, left);
	rc = expr_new(&e, text, &schema, &err);
	assert(!rc == !!e);
	if (rc) {
		assert(rc == -EINVAL);
		check_error(&err, len);
	} else {
		check_value(e, bytes, left);
	}
	check_tree(text);
	if (left)
		expr_glob(text, len < 200 ? len : 200, (const char *)bytes, left < 200 ? left : 200);
	expr_free(e);
	free(bytes);
	free(text);
	return 0;
}
