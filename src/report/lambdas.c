/* SPDX-License-Identifier: Apache-2.0 */
#include "report/lambdas.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
	return NULL;
}

bool lambda_has_place(const char *name)
{
	unsigned long line;

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

		if (end && other && a[1] == b[1]) {
			*lines = *lines ? *lines : (x > y) - (x < y);
			a = end;
			b = other;
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
