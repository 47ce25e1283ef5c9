/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/ladder.h"

#include "base/search.h"

#include <stdlib.h>

bool ladder_is(const uint32_t *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (keys[i - 1] >= keys[i])
			return false;
	return true;
}

bool ladder_build(struct ladder *l, const uint32_t *keys, size_t n)
{
	size_t at = 0;

	*l = (struct ladder){ .keys = keys, .n = n };
	if (!n)
		return true;
	while ((keys[n - 1] >> l->shift) / 2 > n)
		l->shift++;
	l->nparts = (keys[n - 1] >> l->shift) + 1ul;
	l->parts = malloc((l->nparts + 1) * sizeof(*l->parts));
	if (!l->parts)
		return false;
	for (size_t i = 0; i <= l->nparts; i++) {
		while (at < n && keys[at] >> l->shift < i)
			at++;
		l->parts[i] = (uint32_t)at;
	}
	return true;
}

void ladder_free(struct ladder *l)
{
	free(l->parts);
	*l = (struct ladder){ 0 };
}

size_t ladder_bytes(const struct ladder *l)
{
	return l->parts ? (l->nparts + 1) * sizeof(*l->parts) : 0;
}

size_t ladder_find(const struct ladder *l, uint32_t key)
{
	size_t part = key >> l->shift;

	if (!l->n || key < l->keys[0])
		return l->n;
	if (part >= l->nparts)
		return l->n - 1;
	return FIRST_NOT(i, l->parts[part], l->parts[part + 1], l->keys[i] <= key) - 1;
}
