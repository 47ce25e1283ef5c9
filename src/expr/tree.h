/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree of an expression, before names are looked up. Also used by code that passes a
 * filter or parts of it to the kernel.
 */
#ifndef EXPR_TREE_H
#define EXPR_TREE_H

#include "expr/expr.h"

enum expr_op {
	/* leaves */
	EXPR_NUMBER, EXPR_STRING, EXPR_NAME,
	/* kid[0] */
	EXPR_NOT, EXPR_NEGATE, EXPR_INVERT,
	/* kid[0] and kid[1]; comparisons are consecutive */
	EXPR_EQ, EXPR_NE, EXPR_LT, EXPR_LE, EXPR_GT, EXPR_GE, EXPR_GLOB,
	EXPR_BIT_AND, EXPR_BIT_OR, EXPR_BIT_XOR,
	EXPR_SHL, EXPR_SHR, EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_MOD,
	EXPR_AND, EXPR_OR,
	/* kid[0] ? kid[1] : kid[2] */
	EXPR_CHOOSE,
	/* name(kid[0], its next, ...) */
	EXPR_CALL,
};

typedef uint32_t expr_node_ref;       /* 0: none */

struct expr_node {
	enum expr_op op;
	bool parens;                  /* is in parentheses of its own */
	uint16_t depth;
	uint32_t at;                  /* for the caret: the operator or the leaf */
	uint32_t from, to;            /* offsets of the whole text */
	expr_node_ref kid[3];
	expr_node_ref next;           /* the next argument of a call */
	union {
		struct expr_value number;     /* EXPR_NUMBER */
		struct {
			const char *text;     /* EXPR_STRING, EXPR_NAME, EXPR_CALL */
			uint32_t len;
		};
	};
};

struct expr_tree {
	char *text;                   /* a copy */
	char *strings;                /* text constants without quotes and backslashes */
	size_t strings_used;
	struct expr_node *nodes;      /* nodes[0] is not used */
	size_t nnodes, room;
	expr_node_ref root;
};

/* 0, -EINVAL with err, or -ENOMEM. Free the tree in any case. */
int expr_tree_parse(struct expr_tree *tree, const char *text, struct expr_error *err);
void expr_tree_free(struct expr_tree *tree);

static inline const struct expr_node *expr_at(const struct expr_tree *tree, expr_node_ref ref)
{
	return &tree->nodes[ref];
}

static inline bool expr_is_comparison(enum expr_op op)
{
	return op >= EXPR_EQ && op <= EXPR_GLOB;
}

/* A new node a && b; 0: out of memory or too deep. */
expr_node_ref expr_tree_and(struct expr_tree *tree, expr_node_ref a, expr_node_ref b);

/* The value of the constant in `field op constant`: see expr.h on bits. False if it does not fit
 * in the field, signed or unsigned; then values are compared. */
bool expr_constant_of_field(const struct expr_field *field, enum expr_op op,
			    const struct expr_value *constant, struct expr_value *fitted);

/* Compiles one part of a tree, otherwise as expr_new(). */
int expr_compile(struct expr **expr, const struct expr_tree *tree, expr_node_ref root,
		 const struct expr_schema *schema, struct expr_error *err);

/* Fills err and returns -EINVAL. */
int expr_fail(struct expr_error *err, size_t at, const char *expected, const char *message, ...)
	__attribute__((format(printf, 4, 5)));
#endif
