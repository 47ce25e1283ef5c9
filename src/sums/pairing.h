/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair(): the time from an event to another one with the same key. It is a value of the row that ends it. Those that
 * have begun are in a bounded table, across intervals. A pair that begins again replaces the one before. A loss drops
 * all that are open, since what ended or replaced them may be lost.
 */
#ifndef SUMS_PAIRING_H
#define SUMS_PAIRING_H

#include "columns/batch.h"
#include "expr/tree.h"
#include "table/pairs.h"

/* What is summed, or is a key: a column, an expression over columns, or the time between two events. */

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

struct pairing {
	char *text;                     /* as it was asked for: the same text is the same pairs */
	char *names[2];                 /* of the events that begin and end it; maybe the same */
	struct operand keys[2];
	struct texts *events;           /* kept: names of _event for which there are */
	int32_t numbers[2];             /* of the events among them; -1: none */
	struct pairs open;              /* `refused`: in this interval, did not fit */
	uint64_t dropped;               /* because of a loss */
	struct vector *vectors[2];      /* scratch */
};

/* Zeroed, but what is asked for, and open.max. 0 or -ENOMEM. */
int pairing_begin(struct pairing *p);
void pairing_free(struct pairing *p);
/* time, event: those columns. Adds to *no_value the events without a key, and the pairs that ended before they began. */
void pairing_eval(struct pairing *p, const struct row_area *area, const struct batch *b, size_t from, size_t n, size_t time,
		  size_t event, struct vector *out, uint64_t *no_value);
/* Events were lost. */
void pairing_drop(struct pairing *p);
#endif
