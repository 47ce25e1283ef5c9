/* SPDX-License-Identifier: Apache-2.0 */
#include "python/stacks.h"

#include "base/hash.h"

#include <linux/perf_event.h>
#include <string.h>

enum { BUCKETS = 1 << 13, MAX_FRAMES = 1024, FIRST_ALL = 256 };

struct stack {
	struct stack *next;      /* in the bucket */
	uint64_t hash, version, nr;
	uint32_t nframes;
	uint32_t pins;           /* a list is being made from it */
	bool used;               /* since the clock hand passed */
	PyObject *frames[];      /* followed by the ips */
};

struct stacks {
	size_t bytes, max_bytes;
	struct stack **all;      /* in the order of the clock */
	size_t n, cap, hand;
	struct stack *buckets[BUCKETS];
};

struct stacks *stacks_new(size_t max_bytes)
{
	struct stacks *s = PyMem_Calloc(1, sizeof(*s));

	if (s)
		s->max_bytes = max_bytes;
	return s;
}

static size_t size_of(uint64_t nr, size_t nframes)
{
	return sizeof(struct stack) + nframes * sizeof(PyObject *) + nr * sizeof(uint64_t);
}

static uint64_t *ips_of(const struct stack *st)
{
	return (uint64_t *)(uintptr_t)(st->frames + st->nframes);
}

static void free_stack(struct stack *st)
{
	for (uint32_t i = 0; i < st->nframes; i++)
		Py_DECREF(st->frames[i]);
	PyMem_Free(st);
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free_stack(s->all[i]);
	PyMem_Free(s->all);
	PyMem_Free(s);
}

/* ---- keys ----------------------------------------------------------------- */

bool stack_key_init(struct stack_key *key, const uint64_t *ips, uint64_t nr)
{
	bool user = false;

	for (uint64_t i = 0; i < nr; i++)
		user |= ips[i] == (uint64_t)PERF_CONTEXT_USER;
	*key = (struct stack_key){ ips, nr, 0, hash_words(ips, nr * sizeof(*ips)) };
	return user;
}

void stack_key_set_version(struct stack_key *key, uint64_t version)
{
	key->version = version;
	key->hash = hash_step(key->hash, &version);
}

/* ---- looking up ----------------------------------------------------------- */

static struct stack *find(const struct stacks *s, const struct stack_key *key)
{
	struct stack *st = s->buckets[key->hash % BUCKETS];

	while (st && (st->hash != key->hash || st->nr != key->nr || st->version != key->version ||
		      memcmp(ips_of(st), key->ips, key->nr * sizeof(*key->ips))))
		st = st->next;
	return st;
}

PyObject *stacks_find(struct stacks *s, const struct stack_key *key)
{
	struct stack *st = find(s, key);
	PyObject *list;

	if (!st)
		return NULL;
	st->used = true;
	st->pins++;   /* making a list can run a finalizer of the script, which may evict */
	list = PyList_New((Py_ssize_t)st->nframes);
	for (uint32_t i = 0; list && i < st->nframes; i++) {
		Py_INCREF(st->frames[i]);
		PyList_SET_ITEM(list, (Py_ssize_t)i, st->frames[i]);
	}
	st->pins--;
	return list;
}

/* ---- adding --------------------------------------------------------------- */

static void unlink_stack(struct stacks *s, struct stack *st)
{
	struct stack **at = &s->buckets[st->hash % BUCKETS];

	while (*at != st)
		at = &(*at)->next;
	*at = st->next;
}

/* A chain that was used since the clock hand passed stays for another round. */
static void evict_one(struct stacks *s)
{
	for (size_t steps = 2 * s->n; steps; steps--) {
		struct stack *st;

		s->hand = s->hand + 1 < s->n ? s->hand + 1 : 0;
		st = s->all[s->hand];
		if (st->used || st->pins) {
			st->used = false;
			continue;
		}
		unlink_stack(s, st);
		s->all[s->hand] = s->all[--s->n];
		s->bytes -= size_of(st->nr, st->nframes);
		free_stack(st);
		return;
	}
}

void stacks_shed(struct stacks *s)
{
	for (size_t n = s->n / 16 + 1; n && s->n; n--)
		evict_one(s);
}

static bool make_room(struct stacks *s, size_t bytes)
{
	struct stack **all;
	size_t before;

	do {
		before = s->bytes;
		if (s->bytes + bytes > s->max_bytes && s->n)
			evict_one(s);
	} while (s->bytes < before);
	if (s->n < s->cap)
		return true;
	all = PyMem_Realloc(s->all, (s->cap ? s->cap * 2 : FIRST_ALL) * sizeof(*all));
	if (!all)
		return false;
	s->all = all;
	s->cap = s->cap ? s->cap * 2 : FIRST_ALL;
	return true;
}

void stacks_add(struct stacks *s, const struct stack_key *key, PyObject *list)
{
	uint32_t nframes = (uint32_t)PyList_GET_SIZE(list);
	struct stack *st, **bucket = &s->buckets[key->hash % BUCKETS];

	if (key->nr > MAX_FRAMES || find(s, key) || !make_room(s, size_of(key->nr, nframes)))
		return;
	st = PyMem_Malloc(size_of(key->nr, nframes));
	if (!st)
		return;
	*st = (struct stack){ .hash = key->hash, .version = key->version, .nr = key->nr,
			      .nframes = nframes, .next = *bucket };
	for (uint32_t i = 0; i < nframes; i++) {
		st->frames[i] = PyList_GET_ITEM(list, (Py_ssize_t)i);
		Py_INCREF(st->frames[i]);
	}
	memcpy(ips_of(st), key->ips, key->nr * sizeof(*key->ips));
	*bucket = st;
	s->all[s->n++] = st;
	s->bytes += size_of(key->nr, nframes);
}
