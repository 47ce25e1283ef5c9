/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of symbols, which belong to names in the table of a program or library: clock_gettime@@GLIBC_2.17. */
#ifndef SYMBOLS_VERSION_H
#define SYMBOLS_VERSION_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The length of a name without its version. "malloc@plt" has none: it is a function of its own. */
static inline size_t unversioned(const char *name)
{
	const size_t len = strcspn(name, "@");
	const char *version = name + len + strspn(name + len, "@");
	bool is_one = len && version <= name + len + 2 && *version && strcmp(version, "plt");

	for (const char *p = version; is_one && *p; p++)
		is_one = isalnum((unsigned char)*p) || *p == '_' || *p == '.';
	return is_one ? len : strlen(name);
}
#endif
