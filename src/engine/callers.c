/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/callers.h"

#include <string.h>

static bool is_of(const struct opt_strings *functions, const char *name)
{
	for (size_t i = 0; name && i < functions->n; i++)
		if (!strcmp(functions->v[i], name))
			return true;
	return false;
}

size_t callers_cut(const struct frame *const *frames, size_t n, const struct opt_strings *functions)
{
	for (size_t i = 0; functions && i < n; i++)
		if (is_of(functions, frames[i]->symbol))
			return i ? i : 1;
	return n;
}
