/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_UNNAMED_H
#define REPORT_UNNAMED_H

#include <stdbool.h>
#include <string.h>

/* Whether that stands for a function without a name: "[unknown]", or its file's name and its address, "app+0x1320". file: as far
 * as it is known, with or without folder, or its beginning. */
static inline bool is_unnamed(const char *function, const char *file)
{
	const char *at = strrchr(function, '+'), *slash = strrchr(file, '/');
	const char *name = slash ? slash + 1 : file;
	size_t len = strlen(name);

	if (!strcmp(function, "[unknown]"))
		return true;
	if (!at || at == function || strncmp(at, "+0x", 3) || !at[3] || at[3 + strspn(at + 3, "0123456789abcdef")])
		return false;
	return !strncmp(function, name, len < (size_t)(at - function) ? len : (size_t)(at - function));
}
#endif
