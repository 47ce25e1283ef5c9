/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_UNNAMED_H
#define REPORT_UNNAMED_H

#include <stdbool.h>
#include <string.h>

/* Whether that stands for a function whose file was stripped: "[unknown]", or the file's name and the function's address,
 * "app+0x1320". */
static inline bool is_unnamed(const char *function)
{
	const char *at = strrchr(function, '+');

	if (!strcmp(function, "[unknown]"))
		return true;
	return at && at > function && !strncmp(at, "+0x", 3) && at[3] && !at[3 + strspn(at + 3, "0123456789abcdef")];
}
#endif
