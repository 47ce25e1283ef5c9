/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/ksymbols.h"

#include <stdlib.h>
#include <string.h>

/* The first that ends behind addr. */
static size_t first_behind(const struct ksymbols *k, uint64_t addr)
{
	size_t low = 0, high = k->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->all[middle].end <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t end_of(uint64_t start, uint64_t len)
{
	return len > UINT64_MAX - start ? UINT64_MAX : start + len;
}

void ksymbols_remove(struct ksymbols *k, uint64_t start, uint64_t len)
{
	size_t from = first_behind(k, start), to = from;

	for (; to < k->n && k->all[to].start < end_of(start, len); to++)
		free(k->all[to].name);
	if (to == from)
		return;
	memmove(k->all + from, k->all + to, (k->n - to) * sizeof(*k->all));
	k->n -= to - from;
}

static bool has_room(struct ksymbols *k)
{
	size_t cap = k->cap ? k->cap * 2 : 64;
	struct ksymbol *bigger;

	if (k->n < k->cap)
		return true;
	bigger = k->n < KSYMBOLS_MAX ? realloc(k->all, cap * sizeof(*bigger)) : NULL;
	if (!bigger)
		return false;
	k->all = bigger;
	k->cap = cap;
	return true;
}

bool ksymbols_add(struct ksymbols *k, uint64_t start, uint64_t len, const char *name, const char *dso)
{
	char *copy;
	size_t at;

	ksymbols_remove(k, start, len);
	if (!len || !has_room(k) || !(copy = strdup(name)))
		return false;
	at = first_behind(k, start);
	memmove(k->all + at + 1, k->all + at, (k->n - at) * sizeof(*k->all));
	k->all[at] = (struct ksymbol){ start, end_of(start, len), dso, copy };
	k->n++;
	return true;
}

bool ksymbols_find(const struct ksymbols *k, uint64_t addr, struct kernel_symbol *sym)
{
	size_t at = first_behind(k, addr);

	if (at == k->n || k->all[at].start > addr)
		return false;
	*sym = (struct kernel_symbol){ k->all[at].name, k->all[at].dso, k->all[at].start };
	return true;
}

void ksymbols_free(struct ksymbols *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->all[i].name);
	free(k->all);
	*k = (struct ksymbols){ 0 };
}
