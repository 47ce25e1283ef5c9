/* SPDX-License-Identifier: Apache-2.0 */
/* The list made by the parser. It owns its events and all that they point to. */
#include "base/room.h"
#include "perfevent/parse/parse.h"

#include <stdlib.h>

static void free_event(struct pev_parsed_own *e)
{
	free(e->label);
	free(e->unit);
	free(e->group_name);
	free(e->cpus);
	free(e);
}

void pev_attr_list_cut_(struct pev_attr_list *list, size_t n)
{
	while (list->n > n)
		free_event(list->events[--list->n]);
}

void pev_attr_list_free(struct pev_attr_list *list)
{
	if (!list)
		return;
	pev_attr_list_cut_(list, 0);
	free(list->events);
	free(list);
}

size_t pev_attr_list_size(const struct pev_attr_list *list)
{
	return list->n;
}

const struct pev_parsed *pev_attr_list_at(const struct pev_attr_list *list, size_t i)
{
	return i < list->n ? &list->events[i]->pub : NULL;
}

struct pev_parsed_own *pev_parse_add_(struct pev_parser *p, uint32_t type, uint64_t config)
{
	struct pev_attr_list *list = p->list;
	struct pev_parsed_own *e;

	if (list->n >= PARSE_EVENTS_MAX || !ROOM_FOR_ONE(list->events, list->n))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	pev_attr_buf_init(&e->buf, type, config);
	e->pub.attr = &e->buf.attr;
	e->pub.scale = 1;
	e->pub.leader = list->n;
	list->events[list->n++] = e;
	return e;
}
