/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/commchoice.h"

#include "expr/expr.h"

#include <string.h>

static bool is_name(const char *name, size_t len, const char *comm)
{
	return (strlen(comm) == len && !strncmp(name, comm, len)) || expr_glob(name, len, comm, strlen(comm));
}

/* One of those that are left out, or one of the others. *any: there are such names. */
static bool is_among(const struct opt_strings *names, bool left_out, const char *comm, bool *any)
{
	*any = false;
	for (size_t i = 0; i < names->n; i++)
		for (const char *at = names->v[i];; at++) {
			const size_t len = strcspn(at, ","), sign = *at == '!';

			*any |= sign == left_out;
			if (sign == left_out && is_name(at + sign, len - sign, comm))
				return true;
			at += len;
			if (!*at)
				break;
		}
	return false;
}

bool commchoice_has(const struct opt_strings *names, const char *comm)
{
	const char *name = comm ? comm : "";
	bool any;

	if (!names->n)
		return true;
	if (is_among(names, true, name, &any))
		return false;
	return is_among(names, false, name, &any) || !any;
}
