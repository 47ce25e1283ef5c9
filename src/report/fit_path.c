/* SPDX-License-Identifier: Apache-2.0 */
#include "report/fit_path.h"

#include "base/columns.h"

#include <string.h>

static const char more[] = "\xe2\x80\xa6";   /* … */

/* The slash before its last part; NULL: it has no folder. */
static const char *last_slash(const char *path)
{
	const char *last = strrchr(path, '/');

	return last && last > path && last[1] ? last : NULL;
}

void fit_path_body(char *path, size_t columns)
{
	const char *slash = path, *last = last_slash(path);
	size_t left = columns_of(path);   /* from `slash` on */

	if (!last || left <= columns)
		return;
	do {
		const char *next = strchr(slash + 1, '/');

		left -= columns_of_part(slash, (size_t)(next - slash));
		slash = next;
	} while (slash < last && 1 + left > columns);
	if (1 + left > columns || slash - path < (ptrdiff_t)sizeof(more) - 1) {
		memmove(path, last + 1, strlen(last));
		return;
	}
	memmove(path + sizeof(more) - 1, slash, strlen(slash) + 1);
	memcpy(path, more, sizeof(more) - 1);
}

size_t fit_path_least(const char *path)
{
	const char *last = last_slash(path);

	return last ? 1 + columns_of(last) : columns_of(path);
}
