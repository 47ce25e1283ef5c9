/* SPDX-License-Identifier: Apache-2.0 */
#include "expr/functions.h"

#include <arpa/inet.h>
#include <string.h>

static int call_ntohl(struct expr_run *run, const struct expr_value *args, size_t nargs,
		      struct expr_value *result)
{
	result->s = ntohl((uint32_t)args[0].u);
	return EXPR_FINE;
}

static int call_ntohs(struct expr_run *run, const struct expr_value *args, size_t nargs,
		      struct expr_value *result)
{
	result->s = ntohs((uint16_t)args[0].u);
	return EXPR_FINE;
}

/* As in C: below, at or above 0. Text that is not terminated ends at its length. */
static int call_strncmp(struct expr_run *run, const struct expr_value *args, size_t nargs,
			struct expr_value *result)
{
	uint64_t n = args[2].u;
	size_t a = args[0].len < n ? args[0].len : n, b = args[1].len < n ? args[1].len : n;
	int order = memcmp(args[0].text, args[1].text, a < b ? a : b);

	result->s = order ? order : (a > b) - (a < b);
	return EXPR_FINE;
}

static const char *check_strncmp(const struct expr_value *args, const bool *is_const, size_t nargs,
				 size_t *bad)
{
	*bad = 2;
	return is_const[2] && args[2].type == EXPR_S64 && args[2].s < 0 ?
	       "a number of characters" : NULL;
}

const struct expr_func expr_builtins[] = {
	{ "ntohl", "i", EXPR_S64, NULL, call_ntohl },
	{ "ntohs", "i", EXPR_S64, NULL, call_ntohs },
	{ "strncmp", "ssi", EXPR_S64, check_strncmp, call_strncmp },
};
const size_t expr_nbuiltins = sizeof(expr_builtins) / sizeof(*expr_builtins);

const struct expr_func *expr_func_find(const struct expr_func *funcs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(funcs[i].name, name))
			return &funcs[i];
	return NULL;
}
