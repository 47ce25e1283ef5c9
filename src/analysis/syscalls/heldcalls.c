/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/heldcalls.h"

#include "base/hash.h"

enum { MAX_CALLS = 1 << 12 };

struct heldcall {
	struct happening h;
	struct analysis_sample s;
	pid_t tid;
	UT_hash_handle hh;
	uint64_t rec[];              /* the sample's record */
};

static struct heldcall *of_thread(const struct heldcalls *c, pid_t tid)
{
	struct heldcall *one;

	HASH_FIND(hh, c->all, &tid, sizeof(tid), one);
	return one;
}

bool heldcalls_keep(struct heldcalls *c, const struct happening *h)
{
	const struct perf_event_header *rec = h->s->view.rec;
	const size_t raw_at = (size_t)((const char *)h->s->view.raw - (const char *)rec);
	struct heldcall *one = HASH_COUNT(c->all) < MAX_CALLS && !of_thread(c, h->tid) ? calloc(1, sizeof(*one) + rec->size) : NULL;

	if (!one)
		return false;
	memcpy(one->rec, rec, rec->size);
	one->tid = h->tid;
	one->s = *h->s;
	one->s.view.rec = (const struct perf_event_header *)one->rec;
	one->s.view.raw = (const char *)one->rec + raw_at;
	one->h = *h;
	one->h.s = &one->s;
	one->h.comm = NULL;
	HASH_ADD(hh, c->all, tid, sizeof(one->tid), one);
	return HASH_KEPT(one) != NULL;
}

struct happening *heldcalls_find(const struct heldcalls *c, pid_t tid)
{
	struct heldcall *one = c->all ? of_thread(c, tid) : NULL;

	return one ? &one->h : NULL;
}

struct happening *heldcalls_any(const struct heldcalls *c)
{
	return c->all ? &c->all->h : NULL;
}

void heldcalls_remove(struct heldcalls *c, struct happening *h)
{
	struct heldcall *one = of_thread(c, h->tid);

	if (!one)
		return;
	HASH_DEL(c->all, one);
	free(one);
}

void heldcalls_free(struct heldcalls *c)
{
	HASH_FREE(c->all);
	c->all = NULL;
}
