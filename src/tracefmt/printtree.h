/* SPDX-License-Identifier: Apache-2.0 */
/* "print fmt" as a tree: the format and its arguments. */
#ifndef TRACEFMT_PRINTTREE_H
#define TRACEFMT_PRINTTREE_H

#include "tracefmt/printlex.h"
#include "tracefmt/tracefmt.h"

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

/* Zeroed; NULL if out of memory. */
void *arena_take(struct arena *a, size_t size);

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

#endif
