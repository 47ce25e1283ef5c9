/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/dwarf/unit_map.h"

#include "symbols/dwarf/ladder.h"

#include <stdlib.h>
#include <string.h>

struct unit_map {
	struct unit_map_head head;
	struct ladder starts;
	const uint32_t *units;   /* index plus 1; 0: none */
	uint32_t words[];
};

static uint64_t size_of(const struct unit_map_head *head)
{
	return head->nspans * UINT64_C(8);
}

static bool is_sane(const struct unit_map *m)
{
	for (uint32_t i = 0; i < m->head.nspans; i++)
		if (m->units[i] > m->head.nunits)
			return false;
	return ladder_is(m->words, m->head.nspans);
}

struct unit_map *unit_map_unpack(const void *bytes, size_t size)
{
	struct unit_map_head head;
	struct unit_map *m;

	if (size < sizeof(head))
		return NULL;
	memcpy(&head, bytes, sizeof(head));
	if (size_of(&head) != size - sizeof(head) || head.nunits >= NO_UNIT)
		return NULL;
	m = calloc(1, sizeof(*m) + size_of(&head));
	if (!m)
		return NULL;
	m->head = head;
	m->units = m->words + head.nspans;
	memcpy(m->words, (const char *)bytes + sizeof(head), size_of(&head));
	if (is_sane(m) && ladder_build(&m->starts, m->words, head.nspans))
		return m;
	unit_map_free(m);
	return NULL;
}

void unit_map_free(struct unit_map *m)
{
	if (!m)
		return;
	ladder_free(&m->starts);
	free(m);
}

size_t unit_map_bytes(const struct unit_map *m)
{
	return sizeof(*m) + size_of(&m->head) + ladder_bytes(&m->starts);
}

uint32_t unit_map_units(const struct unit_map *m)
{
	return m->head.nunits;
}

uint32_t unit_map_find(const struct unit_map *m, uint64_t addr)
{
	size_t i;

	if (addr < m->head.base || addr - m->head.base > UINT32_MAX)
		return NO_UNIT;
	i = ladder_find(&m->starts, (uint32_t)(addr - m->head.base));
	return i < m->head.nspans ? m->units[i] - 1 : NO_UNIT;   /* 0 becomes NO_UNIT */
}
