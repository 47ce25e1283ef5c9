/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of a print tree, made by C's type rules; constant expressions are folded. */
#ifndef TRACEFMT_PRINTNODE_H
#define TRACEFMT_PRINTNODE_H

#include "tracefmt/printlex.h"
#include "tracefmt/tracefmt.h"

/* "print fmt" as a tree: the format and its arguments. */

enum node_kind {
	/* numbers */
	NODE_CONST,
	NODE_FIELD,          /* of 1, 2, 4 or 8 bytes */
	NODE_ELEM,           /* element b of array a */
	NODE_LENGTH,         /* length of a dynamic array */
	NODE_UNARY,
	NODE_BINARY,
	NODE_CAST,
	NODE_CHOICE,         /* a ? b : c, for numbers or texts */
	/* bytes: an array field, or a dynamic array from __get_dynamic_array() */
	NODE_BYTES,
	/* texts */
	NODE_TEXT,
	NODE_STRING,         /* an array up to its NUL */
	NODE_FLAGS,
	NODE_SYMBOLIC,
	NODE_HEX,            /* a: bytes, b: their number */
	NODE_ARRAY,          /* a: bytes, b: number of elements, c: bytes per element */
	NODE_BITMASK,
	NODE_CPUMASK,
};

/* { value, "name" } */
struct named_value {
	uint64_t value;
	const char *name;
	size_t len;
};

struct node {
	enum node_kind kind;
	struct ctype type;
	uint64_t number;                 /* NODE_CONST */
	unsigned int op;                 /* as in struct lexer */
	const struct trace_field *field;
	struct node *a, *b, *c;
	const char *text;                /* NODE_TEXT; separator of flags; NODE_HEX: separator of bytes */
	size_t len;
	struct named_value *values;      /* NODE_FLAGS, NODE_SYMBOLIC */
	size_t nvalues;
	struct node *next;               /* next argument */
	bool is_text;                    /* NODE_CHOICE of texts */
	bool is_unknown;                 /* NODE_TEXT for a value that depends on the kernel */
	uint16_t height;                 /* of the tree below */
};

/* Memory of one tree, freed at once. */
struct arena {
	struct chunk *chunks;
};

struct print_tree {
	struct arena arena;
	const char *format;              /* unescaped */
	size_t len;
	struct node *args;
	const char *why;                 /* why it cannot be compiled; NULL if it can */
};

/* Parses the text after "print fmt: ". Free the tree also after a failure. */
bool print_tree_parse(struct print_tree *tree, const struct tracefmt *fmt, const char *text,
		      size_t len);
void print_tree_free(struct print_tree *tree);

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
