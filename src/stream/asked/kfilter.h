/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions in the language of the kernel's filters, which is smaller: a predicate
 * compares one field with one constant, and predicates are joined by &&, ||, ! and
 * parentheses. Only what the kernel evaluates as expr/expr.h says is put into it.
 *
 * Some of what the kernel takes it gets wrong (seen on 6.18, the last on 6.1); this is left
 * out, or said in another way:
 *	x == 300		of 8 bits: the kernel cuts the constant to 44
 *	CPU & 1			is never true
 *	comm ~ "*x"		of a char array: matches only at the array's last byte but one
 *	comm ~ "*x*"		of a char array: also finds what stands behind the NUL
 *	comm ~ "5*"		a first digit makes it a comparison with the text "5*"
 *	comm ~ "a[!b]"		matches "a": the class takes the NUL for a character
 */
#ifndef STREAM_ASKED_KFILTER_H
#define STREAM_ASKED_KFILTER_H

#include "expr/tree.h"

/* Text longer than this, with what open.c adds, would not fit in a page. */
enum { KFILTER_MAX = 3072 };

/* The condition at ref, in the kernel's words; NULL if it can't be said there (or memory is
 * out). To be freed. */
char *kfilter_text(const struct expr_tree *tree, expr_node_ref ref,
		   const struct expr_schema *schema);
#endif
