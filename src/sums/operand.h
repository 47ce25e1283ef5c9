/* SPDX-License-Identifier: Apache-2.0 */
/* What is summed, or is a key: a column, an expression over columns, or the time between two events. */
#ifndef SUMS_OPERAND_H
#define SUMS_OPERAND_H

#include "columns/batch.h"
#include "expr/tree.h"

enum { SUMS_CHUNK = 512 };              /* rows at once */

/* A value for each row of a chunk. */
struct vector {
	uint64_t v[SUMS_CHUNK];
	bool whole;                     /* all rows have one; else: */
	bool has[SUMS_CHUNK];
};

static inline bool vector_has(const struct vector *v, size_t i)
{
	return v->whole || v->has[i];
}

struct pairing;

enum operand_kind { OPERAND_NONE, OPERAND_COLUMN, OPERAND_EXPR, OPERAND_PAIR };

struct operand {
	enum operand_kind kind;
	enum expr_type type;            /* TEXT: of a column only, and the values are numbers of texts */
	size_t column;
	struct expr *expr;
	uint32_t *used;                 /* columns that it reads */
	size_t nused;
	struct vector *inputs;          /* scratch: their values */
	struct pairing *pairing;
};

/* The input of expressions: a slot of 8 bytes for each column, then the row's texts. */
struct row_area {
	struct columns *columns;
	struct expr_schema schema;
	char *bytes;
};

/* 0, or -ENOMEM, or -E2BIG: too many columns. */
int row_area_begin(struct row_area *area, struct columns *columns);
void row_area_end(struct row_area *area);

/* Of a node of the tree: a name or a text that is a column's, or an expression. 0, -EINVAL with err, or -ENOMEM. */
int operand_compile(struct operand *o, const struct row_area *area, const struct expr_tree *tree, expr_node_ref ref,
		    struct expr_error *err);
/* Without its pairing. */
void operand_free(struct operand *o);
/* The values of n rows. Not for OPERAND_PAIR. */
void operand_eval(const struct operand *o, const struct row_area *area, const struct batch *b, size_t from, size_t n,
		  struct vector *out);
#endif
