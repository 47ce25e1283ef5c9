/* SPDX-License-Identifier: Apache-2.0 */
#include "tracefmt/kerneltexts.h"

#include "base/room.h"
#include "tracefmt/printlex.h"

#include <stdlib.h>
#include <string.h>

static int by_address(const void *a, const void *b)
{
	const uint64_t x = ((const struct kerneltext *)a)->address, y = ((const struct kerneltext *)b)->address;

	return (x > y) - (x < y);
}

/* The line ends with a NUL. */
static void add(struct kerneltexts *k, char *line)
{
	char *quote, *text, *to;
	const uint64_t address = strtoull(line, &quote, 16);

	if (strncmp(quote, " : \"", 4) || !ROOM_FOR_ONE(k->all, k->n))
		return;
	text = to = quote + 4;
	for (const char *at = text; *at && *at != '"'; at++)
		*to++ = *at == '\\' && at[1] ? unescaped(*++at) : *at;
	*to = '\0';
	text = strdup(text);
	if (text)
		k->all[k->n++] = (struct kerneltext){ address, text };
}

void kerneltexts_add(struct kerneltexts *k, const char *lines, size_t len)
{
	char *copy = strndup(lines, len), *next = NULL;

	for (char *line = copy ? strtok_r(copy, "\n", &next) : NULL; line; line = strtok_r(NULL, "\n", &next))
		add(k, line);
	free(copy);
	if (k->n)
		qsort(k->all, k->n, sizeof(*k->all), by_address);
}

const char *kerneltexts_find(const struct kerneltexts *k, uint64_t address)
{
	const struct kerneltext wanted = { .address = address };
	const struct kerneltext *found = k->n ? bsearch(&wanted, k->all, k->n, sizeof(*k->all), by_address) : NULL;

	return found ? found->text : NULL;
}

void kerneltexts_free(struct kerneltexts *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->all[i].text);
	free(k->all);
}
