/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/callers.h"

#include "symbols/version.h"

#include <string.h>

static bool ends_in(const char *asked, const char *name, size_t len)
{
	const size_t n = strlen(asked);

	return len >= n && !strncmp(name + len - n, asked, n) && (len == n || (len > n + 2 && !strncmp(name + len - n - 2, "::", 2)));
}

static bool has_name(const char *asked, const char *name)
{
	return ends_in(asked, name, strlen(name)) || ends_in(asked, name, unversioned(name));
}

static bool is_of(const struct opt_strings *functions, const char *name)
{
	for (size_t i = 0; name && i < functions->n; i++)
		if (has_name(functions->v[i], name))
			return true;
	return false;
}

size_t callers_cut(const struct frame *const *frames, size_t n, const struct opt_strings *functions, bool *found)
{
	for (size_t i = 0; functions && i < n; i++)
		if (is_of(functions, frames[i]->symbol)) {
			*found = true;
			return i ? i : 1;
		}
	return n;
}
