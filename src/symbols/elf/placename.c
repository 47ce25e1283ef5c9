/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as people write them. */
#include "symbols/elf/places.h"

#include <ctype.h>
#include <stdbool.h>
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

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static const char symbols[] = "<>=-+*/%^&|~!,";

/* The bytes of "operator<<" and the like at p, which are behind `before`; 0: there is none. */
static size_t operator_length(const char *p, char before)
{
	static const char word[] = "operator";
	const size_t len = sizeof(word) - 1;

	return is_word(before) || strncmp(p, word, len) ? 0 : len + strspn(p + len, symbols);
}

/* Whether arguments can follow: "add<int>", "operator<< <int>". */
static bool takes_arguments(const char *name, size_t len)
{
	return len && (is_word(name[len - 1]) || (len > 1 && name[len - 1] == ' ' && strchr(symbols, name[len - 2])));
}

/* The bytes of the arguments that begin with "<" at p; 0: they don't end. */
static size_t arguments_length(const char *p)
{
	size_t depth = 0;

	for (size_t i = 0; p[i]; i++) {
		depth += p[i] == '<';
		if (p[i] == '>' && p[i - 1] != '-' && !--depth)
			return i + 1;
	}
	return 0;
}

void place_name_plain(const char *name, char *buf)
{
	size_t out = 0;

	while (*name) {
		const char before = out ? buf[out - 1] : '\0';
		size_t len = operator_length(name, before), arguments = *name == '<' && takes_arguments(buf, out) ? arguments_length(name) : 0;

		if (arguments) {
			name += arguments;
			continue;
		}
		if (!len)
			len = 1;
		memcpy(buf + out, name, len);
		out += len;
		name += len;
	}
	buf[out] = '\0';
}

bool place_name_ends(const char *name, const char *part)
{
	size_t len = strlen(part);

	for (const char *p = name; len && p; p = strstr(p, "::") ? strstr(p, "::") + 2 : NULL)
		if (!strncmp(p, part, len) && (!p[len] || strchr("<(.[ ", p[len])))
			return true;
	return false;
}
