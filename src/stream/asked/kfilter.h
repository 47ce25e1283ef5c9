/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions in the syntax of the kernel's filters, which is smaller: a predicate compares one
 * field with one constant, and predicates are combined with &&, ||, ! and parentheses. Only what
 * the kernel evaluates as expr/expr.h defines it is translated.
 *
 * The kernel accepts the following, but evaluates it wrongly (seen on 6.18, the last one on 6.1).
 * It is not translated, or is written in another way:
 *	x == 300		x has 8 bits: the kernel truncates the constant to 44
 *	CPU & 1			never true
 *	comm ~ "*x"		char array: matches only at the last byte but one of the array
 *	comm ~ "*x*"		char array: also matches what is behind the NUL
 *	comm ~ "5*"		a digit at the start turns it into a comparison with the text "5*"
 *	comm ~ "a[!b]"		matches "a": the class matches the NUL
 */
#ifndef STREAM_ASKED_KFILTER_H
#define STREAM_ASKED_KFILTER_H

#include "expr/tree.h"

/* Longer filters, with what open.c adds, would not fit in a page. */
enum { KFILTER_MAX = 3072 };

/* The condition at ref in the kernel's syntax, to be freed; NULL if it cannot be written there, or
 * without memory. */
char *kfilter_text(const struct expr_tree *tree, expr_node_ref ref,
		   const struct expr_schema *schema);
#endif
