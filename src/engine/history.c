/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/history.h"

#include "base/fifo.h"

#include <stdlib.h>
#include <string.h>

/* An entry: the record follows. */
struct entry {
	uint32_t size;                   /* with the record and its padding */
	uint32_t raw_at;                 /* offset of the raw data in the record; 0: none */
	struct analysis_sample sample;   /* its pointers are set when it is read */
	char comm[COMMS_NAME];
};

struct history {
	struct fifo entries;
	size_t n;                        /* entries */
	uint64_t gone;                   /* time of the newest overwritten sample */
	uint64_t overwritten;            /* number of overwritten samples */
};

struct history *history_new(size_t bytes)
{
	struct history *h = calloc(1, sizeof(*h));

	if (h && !fifo_init(&h->entries, bytes, sizeof(struct entry) + UINT16_MAX + 1))
		return h;
	history_free(h);
	return NULL;
}

void history_free(struct history *h)
{
	if (h)
		fifo_free(&h->entries);
	free(h);
}

static struct entry *entry_at(struct history *h, uint64_t offset)
{
	uint32_t size = *(uint32_t *)fifo_at(&h->entries, offset, sizeof(uint64_t));

	return fifo_at(&h->entries, offset, size);
}

static void drop_oldest(struct history *h)
{
	const struct entry *e = entry_at(h, h->entries.tail);

	h->gone = e->sample.time;
	h->entries.tail += e->size;
	h->n--;
	h->overwritten++;
}

void history_add(struct history *h, const struct analysis_sample *s, const char *comm)
{
	static const char padding[7];
	size_t rec_size = s->view.rec->size, size = (sizeof(struct entry) + rec_size + 7) & ~(size_t)7;
	struct entry e = {
		.size = (uint32_t)size, .sample = *s,
		.raw_at = s->view.raw ? (uint32_t)((const char *)s->view.raw - (const char *)s->view.rec) : 0,
	};

	if (size > h->entries.size / 4) {
		h->overwritten++;
		return;
	}
	while (fifo_room(&h->entries) < size)
		drop_oldest(h);
	snprintf(e.comm, sizeof(e.comm), "%s", comm ? comm : "");
	fifo_put(&h->entries, &e, sizeof(e));
	fifo_put(&h->entries, s->view.rec, rec_size);
	fifo_put(&h->entries, padding, size - sizeof(e) - rec_size);
	h->n++;
}

size_t history_count(const struct history *h)
{
	return h->n;
}

uint64_t history_overwritten(const struct history *h)
{
	return h->overwritten;
}

void history_clear(struct history *h)
{
	h->n = 0;
	h->entries.tail = h->entries.head;
}

bool history_each(struct history *h, struct analysis *a, uint64_t from, uint64_t to,
		  history_fn *fn, void *ctx)
{
	uint64_t offset = h->entries.tail;

	for (size_t i = 0; i < h->n; i++) {
		struct entry *e = entry_at(h, offset);

		e->sample.view.rec = (const struct perf_event_header *)(e + 1);
		e->sample.view.raw = e->raw_at ? (const char *)(e + 1) + e->raw_at : NULL;
		offset += e->size;
		if (e->sample.time >= from && e->sample.time <= to)
			fn(a, &e->sample, e->comm, ctx);
	}
	return h->gone < from;
}
