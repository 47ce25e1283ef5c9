/* SPDX-License-Identifier: Apache-2.0 */
/* Functions available in every expression. */
#ifndef EXPR_FUNCTIONS_H
#define EXPR_FUNCTIONS_H

#include "expr/expr.h"

extern const struct expr_func expr_builtins[];
extern const size_t expr_nbuiltins;

/* NULL if there is none of that name. */
const struct expr_func *expr_func_find(const struct expr_func *funcs, size_t n, const char *name);
#endif
