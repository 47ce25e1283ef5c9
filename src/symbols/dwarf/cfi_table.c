/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/cfi_table.h"

#include "base/search.h"

#include <stdlib.h>
#include <string.h>

struct cfi_table {
	struct cfi_head head;
	const struct cfi_rule *rules;
	struct cfi_row rows[];
};

static bool is_place(const struct cfi_place *p)
{
	return p->kind < CFI_KINDS && p->reg < CFI_REGS;
}

static bool is_rule(const struct cfi_rule *r)
{
	for (int i = 0; i < CFI_REGS; i++)
		if (!is_place(&r->regs[i]))
			return false;
	return is_place(&r->cfa) && r->ra < CFI_REGS;
}

static bool is_sane(const struct cfi_table *t)
{
	for (uint32_t i = 0; i < t->head.nrows; i++)
		if (t->rows[i].rule > t->head.nrules || t->rows[i].from >= CFI_PAGE ||
		    (i && t->rows[i - 1].from >= t->rows[i].from))
			return false;
	for (uint32_t i = 0; i < t->head.nrules; i++)
		if (!is_rule(&t->rules[i]))
			return false;
	return true;
}

struct cfi_table *cfi_table_unpack(const void *bytes, size_t size)
{
	struct cfi_table *t;
	struct cfi_head head;

	if (size < sizeof(head))
		return NULL;
	memcpy(&head, bytes, sizeof(head));
	size -= sizeof(head);
	if (head.nrows > CFI_PAGE || head.nrules > CFI_PAGE ||
	    size != head.nrows * sizeof(struct cfi_row) + head.nrules * sizeof(struct cfi_rule))
		return NULL;
	t = malloc(sizeof(*t) + size);
	if (!t)
		return NULL;
	t->head = head;
	memcpy(t->rows, (const char *)bytes + sizeof(head), size);
	t->rules = (const struct cfi_rule *)(t->rows + head.nrows);
	if (is_sane(t))
		return t;
	free(t);
	return NULL;
}

void cfi_table_free(struct cfi_table *t)
{
	free(t);
}

size_t cfi_table_bytes(const struct cfi_table *t)
{
	return sizeof(*t) + t->head.nrows * sizeof(struct cfi_row) + t->head.nrules * sizeof(struct cfi_rule);
}

const struct cfi_rule *cfi_table_find(const struct cfi_table *t, unsigned int byte)
{
	size_t after = FIRST_NOT(i, 0, t->head.nrows, t->rows[i].from <= byte);

	return after && t->rows[after - 1].rule ? &t->rules[t->rows[after - 1].rule - 1] : NULL;
}
