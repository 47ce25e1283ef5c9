/* SPDX-License-Identifier: Apache-2.0 */
/* "print fmt" as a tree: what each conversion of its format prints. */
#ifndef TRACEFMT_PRINTTREE_H
#define TRACEFMT_PRINTTREE_H

#include "tracefmt/printlex.h"
#include "tracefmt/tracefmt.h"

enum node_kind {
	/* numbers */
	NODE_CONST,
	NODE_FIELD,          /* of 1, 2, 4 or 8 bytes */
	NODE_ELEM,           /* of the array a, number b */
	NODE_LENGTH,         /* of a dynamic array */
	NODE_UNARY,
	NODE_BINARY,
	NODE_CAST,
	NODE_CHOICE,         /* a ? b : c, of numbers or of texts */
	/* bytes: an array field, or the dynamic one of __get_dynamic_array() */
	NODE_BYTES,
	/* texts */
	NODE_TEXT,
	NODE_STRING,         /* of an array up to its NUL */
	NODE_FLAGS,
	NODE_SYMBOLIC,
	NODE_HEX,            /* bytes a, b of them */
	NODE_ARRAY,          /* bytes a, b elements of c bytes */
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
	unsigned int op;                 /* as of the lexer */
	const struct trace_field *field;
	struct node *a, *b, *c;
	const char *text;                /* NODE_TEXT; between flags; NODE_HEX: between bytes */
	size_t len;
	struct named_value *values;      /* NODE_FLAGS, NODE_SYMBOLIC */
	size_t nvalues;
	struct node *next;               /* argument */
	bool is_text;                    /* NODE_CHOICE of texts */
	uint16_t height;                 /* longest way down */
};

/* All of one tree is freed at once. */
struct arena {
	struct chunk *chunks;
};

/* Zeroed; NULL if out of memory. */
void *arena_take(struct arena *a, size_t size);
void arena_free(struct arena *a);

struct print_tree {
	struct arena arena;
	const char *format;              /* unescaped */
	size_t len;
	struct node *args;
	const char *why;                 /* it isn't understood; NULL if it is */
};

/* From the text behind "print fmt: ". The tree stays to be freed if this fails. */
bool print_tree_parse(struct print_tree *tree, const struct tracefmt *fmt, const char *text,
		      size_t len);
void print_tree_free(struct print_tree *tree);

#endif
