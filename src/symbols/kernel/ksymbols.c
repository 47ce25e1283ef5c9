/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/kernel/ksymbols.h"

#include "base/hash.h"
#include "base/room.h"
#include "base/search.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_SHIFT = 12, MAX_ASKED = KSYMBOLS_ASKED / 2 };

/* ---- addresses that were looked up --------------------------------------------- */

void ksymbols_asked(struct ksymbols *k, uint64_t addr)
{
	uint64_t page = addr >> PAGE_SHIFT;
	size_t slot = hash_number(page) & (KSYMBOLS_ASKED - 1);

	if (!page || k->nasked == MAX_ASKED)
		return;
	for (; k->asked[slot]; slot = (slot + 1) & (KSYMBOLS_ASKED - 1))
		if (k->asked[slot] == page)
			return;
	k->asked[slot] = page;
	k->nasked++;
}

static bool was_asked(const struct ksymbols *k, uint64_t start, uint64_t end)
{
	if (k->nasked == MAX_ASKED)
		return true;     /* too many to remember */
	for (size_t i = 0; k->nasked && i < KSYMBOLS_ASKED; i++)
		if (k->asked[i] && k->asked[i] >= start >> PAGE_SHIFT && k->asked[i] <= (end - 1) >> PAGE_SHIFT)
			return true;
	return false;
}

/* Whether the range was looked up. The caller then repeats its lookups, so all are forgotten here. */
static bool changes(struct ksymbols *k, uint64_t start, uint64_t end)
{
	if (start >= end || !was_asked(k, start, end))
		return false;
	memset(k->asked, 0, sizeof(k->asked));
	k->nasked = 0;
	return true;
}

/* ---- symbols ------------------------------------------------------------------- */

/* Index of the first symbol that ends after addr. */
static size_t first_behind(const struct ksymbols *k, uint64_t addr)
{
	return FIRST_NOT(i, 0, k->n, k->all[i].end <= addr);
}

static uint64_t end_of(uint64_t start, uint64_t len)
{
	return len > UINT64_MAX - start ? UINT64_MAX : start + len;
}

static void drop(struct ksymbols *k, uint64_t start, uint64_t end)
{
	size_t from = first_behind(k, start), to = from;

	for (; to < k->n && k->all[to].start < end; to++)
		free(k->all[to].name);
	if (to == from)
		return;
	memmove(k->all + from, k->all + to, (k->n - to) * sizeof(*k->all));
	k->n -= to - from;
}

bool ksymbols_came(struct ksymbols *k, uint64_t start, uint64_t len, const char *name, const char *dso)
{
	uint64_t end = end_of(start, len);
	char *copy;
	size_t at;

	if (start >= end)
		return false;
	drop(k, start, end);
	copy = k->n < KSYMBOLS_MAX && ROOM_FOR(k->all, k->cap, k->n, 1) ? strdup(name) : NULL;
	if (copy) {
		at = first_behind(k, start);
		memmove(k->all + at + 1, k->all + at, (k->n - at) * sizeof(*k->all));
		k->all[at] = (struct ksymbol){ start, end, dso, copy };
		k->n++;
	}
	return changes(k, start, end);
}

bool ksymbols_went(struct ksymbols *k, uint64_t start, uint64_t len)
{
	drop(k, start, end_of(start, len));
	return changes(k, start, end_of(start, len));
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
