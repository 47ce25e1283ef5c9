/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a print tree, made by C's type rules; constant expressions are folded. */
#ifndef TRACEFMT_PRINTNODE_H
#define TRACEFMT_PRINTNODE_H

#include "tracefmt/printtree.h"

struct parser {
	struct lexer lx;
	struct print_tree *tree;
	const struct tracefmt *fmt;
	int depth;
	unsigned int unknown_names;
};

/* Always returns NULL; the first reason is kept. */
void *parser_fails(struct parser *p, const char *why);

/* These return NULL if an operand is NULL. */
struct node *node_new(struct parser *p, enum node_kind kind);
struct node *node_over(struct parser *p, enum node_kind kind, struct node *a, struct node *b,
		       struct node *c);
struct node *node_const(struct parser *p, uint64_t number, struct ctype type);
struct node *node_unary(struct parser *p, unsigned int op, struct node *a);
struct node *node_binary(struct parser *p, unsigned int op, struct node *a, struct node *b);
struct node *node_cast(struct parser *p, struct ctype type, struct node *a);
struct node *node_choice(struct parser *p, struct node *a, struct node *b, struct node *c);
struct node *node_elem(struct parser *p, struct node *array, struct node *index);
/* The bytes of an expression without its casts. */
struct node *node_bytes(struct parser *p, struct node *n);
/* Text for %s: from texts and arrays of characters. */
struct node *node_text(struct parser *p, struct node *n);
bool node_is_number(const struct node *n);
/* The type (enum of printmath.h) in which a NODE_BINARY computes. */
unsigned int node_math_type(const struct node *n);
/* enum math for the operator of a NODE_BINARY. */
unsigned int node_math_op(unsigned int op);
/* How tightly it binds; 0: it is no such operator. */
int node_level(unsigned int op);

#endif
