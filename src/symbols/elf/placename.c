/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as people write them. */
#include "symbols/elf/places.h"

#include <string.h>

static const char *skip(const char *p)
{
	return p + strspn(p, " ");
}

bool place_name_is(const char *wanted, const char *name)
{
	for (wanted = skip(wanted), name = skip(name); *wanted == *name; wanted = skip(wanted + 1), name = skip(name + 1))
		if (!*wanted)
			return true;
	return false;
}

bool place_is_glob(const char *text)
{
	return text[strcspn(text, "*?")];
}

bool place_glob_matches(const char *glob, const char *name)
{
	const char *star = NULL, *back = NULL;

	for (;;) {
		glob = skip(glob);
		name = skip(name);
		if (*glob == '*') {
			star = ++glob;
			back = name;
		} else if (!*name) {
			return !*glob;
		} else if (*glob == '?' || *glob == *name) {
			glob++;
			name++;
		} else if (star) {
			glob = star;
			name = ++back;
		} else {
			return false;
		}
	}
}

bool place_name_ends(const char *name, const char *part)
{
	size_t len = strlen(part);

	for (const char *p = name; len && p; p = strstr(p, "::") ? strstr(p, "::") + 2 : NULL)
		if (!strncmp(p, part, len) && (!p[len] || strchr("<(.[ ", p[len])))
			return true;
	return false;
}
