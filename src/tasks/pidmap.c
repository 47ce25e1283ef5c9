/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/pidmap.h"

#include "base/room.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IDS = 1 << 22, UNPAIRED = -1 };

/* A number for each id; 0: not known. */
struct table {
	int32_t *of;
	size_t n;
};

struct pidmap {
	bool apart;
	struct table inner;        /* by outer id; UNPAIRED: looked up without result */
	struct table child;        /* by inner id: the last child, inner */
	size_t unpaired;
};

struct pidmap *pidmap_new(bool apart)
{
	struct pidmap *m = calloc(1, sizeof(*m));

	if (m)
		m->apart = apart;
	return m;
}

void pidmap_free(struct pidmap *m)
{
	if (!m)
		return;
	free(m->inner.of);
	free(m->child.of);
	free(m);
}

/* NULL: not an id, or out of memory. */
static int32_t *slot(struct table *t, pid_t id)
{
	return id > 0 && id < MAX_IDS && ROOM_AT(t->of, t->n, (size_t)id) ? &t->of[id] : NULL;
}

static int32_t get(const struct table *t, pid_t id)
{
	return id > 0 && (size_t)id < t->n ? t->of[id] : 0;
}

static void set(struct table *t, pid_t id, int32_t value)
{
	int32_t *at = get(t, id) == value ? NULL : slot(t, id);

	if (at)
		*at = value;
}

void pidmap_pair(struct pidmap *m, pid_t outer, pid_t inner)
{
	if (inner > 0)
		set(&m->inner, outer, inner);
	else if (get(&m->inner, outer) > 0)
		set(&m->inner, outer, 0);
}

pid_t pidmap_sample(struct pidmap *m, pid_t outer, pid_t inner)
{
	if (outer <= 0 || (inner < 0 && !m->apart))
		return inner;
	if (inner >= 0) {
		m->apart |= inner != outer;
		pidmap_pair(m, outer, inner);
	}
	return inner > 0 ? inner : pidmap_task(m, outer);
}

pid_t pidmap_task(struct pidmap *m, pid_t outer)
{
	int32_t inner = get(&m->inner, outer);

	if (!m->apart || outer <= 0 || outer >= MAX_IDS)
		return outer;
	if (inner > 0)
		return inner;
	if (inner != UNPAIRED)
		m->unpaired++;
	set(&m->inner, outer, UNPAIRED);
	return outer | PIDMAP_OUTER;
}

void pidmap_forget(struct pidmap *m, pid_t outer)
{
	if (get(&m->inner, outer) > 0)
		set(&m->inner, outer, 0);
}

void pidmap_born(struct pidmap *m, pid_t parent, pid_t child)
{
	set(&m->child, parent, child);
}

void pidmap_pair_born(struct pidmap *m, pid_t parent, pid_t outer_child)
{
	if (get(&m->child, parent) > 0)
		pidmap_pair(m, outer_child, get(&m->child, parent));
	set(&m->child, parent, 0);
}

size_t pidmap_unpaired(const struct pidmap *m)
{
	return m->unpaired;
}
