/* SPDX-License-Identifier: Apache-2.0 */
#include "report/lambdas.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "name (file:12)": the end of the line that begins at the last colon; NULL: p is not that colon. */
static const char *line_end(const char *p, unsigned long *line)
{
	const size_t digits = *p == ':' ? strspn(p + 1, "0123456789") : 0;

	if (!digits || strcmp(p + 1 + digits, ")"))
		return NULL;
	*line = strtoul(p + 1, NULL, 10);
	return p + 1 + digits;
}

/* The end of a place that begins at p, and its line; NULL: none begins there. Names may be from files of others. */
static const char *place_end(const char *p, unsigned long *line)
{
	static const char *const kinds[] = { "{lambda at ", "{unnamed at " };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const char *end = p + strcspn(p, "}"), *digits = end;

		if (strncmp(p, kinds[i], strlen(kinds[i])))
			continue;
		while (digits > p && isdigit((unsigned char)digits[-1]))
			digits--;
		*line = strtoul(digits, NULL, 10);
		return end;
	}
	return line_end(p, line);
}

bool lambda_has_place(const char *name)
{
	const char *colon = strrchr(name, ':'), *paren = strstr(name, " (");
	unsigned long line;

	if (colon && paren && paren != name && colon >= paren + 3 && line_end(colon, &line))
		return true;
	for (; (name = strchr(name, '{')); name++)
		if (place_end(name, &line))
			return true;
	return false;
}

/* By the names without their places. If these are equal, *lines is the order of the first lines that differ. */
static int by_names(const char *a, const char *b, int *lines)
{
	*lines = 0;
	for (;;) {
		unsigned long x = 0, y = 0;
		const char *end = place_end(a, &x), *other = place_end(b, &y);

		if (end && other && *a == *b && (*a == ':' || a[1] == b[1])) {
			*lines = *lines ? *lines : (x > y) - (x < y);
			a = end;
			b = other;
		} else if (!end != !other) {
			return end ? -1 : 1;
		} else if (*a != *b || !*a) {
			return (unsigned char)*a - (unsigned char)*b;
		} else {
			a++;
			b++;
		}
	}
}

static int by_function(const struct lambda *a, const struct lambda *b, int *lines)
{
	const int order = strcmp(a->file, b->file);

	return order ? order : by_names(a->name, b->name, lines);
}

static int by_place(const void *a_, const void *b_)
{
	const struct lambda *a = a_, *b = b_;
	int lines, order = by_function(a, b, &lines);

	return order ? order : lines ? lines : strcmp(a->name, b->name);
}

/* How many of `all` are of the same function as the first one. */
static size_t group_size(const struct lambda *all, size_t n)
{
	size_t i = 1;
	int lines;

	while (i < n && !by_function(all, &all[i], &lines))
		i++;
	return i;
}

static void pair_group(struct lambda *before, size_t nbefore, const struct lambda *after, size_t nafter)
{
	for (size_t i = 0; i < nbefore; i++)
		before[i].other = nbefore == nafter ? &after[i] : bsearch(&before[i], after, nafter, sizeof(*after), by_place);
}

void lambdas_pair(struct lambda *before, size_t nbefore, struct lambda *after, size_t nafter)
{
	if (!nbefore || !nafter)
		return;
	qsort(before, nbefore, sizeof(*before), by_place);
	qsort(after, nafter, sizeof(*after), by_place);
	for (size_t i = 0, k = 0; i < nbefore && k < nafter;) {
		int lines, order = by_function(&before[i], &after[k], &lines);
		const size_t n = group_size(&before[i], nbefore - i), m = group_size(&after[k], nafter - k);

		if (!order)
			pair_group(&before[i], n, &after[k], m);
		i += order <= 0 ? n : 0;
		k += order >= 0 ? m : 0;
	}
}

const char *lambda_now(const struct lambda *before, size_t nbefore, const char *name)
{
	const struct lambda key = { .name = name, .file = "" };
	const struct lambda *found = nbefore ? bsearch(&key, before, nbefore, sizeof(key), by_place) : NULL;

	return found && found->other ? found->other->name : NULL;
}
