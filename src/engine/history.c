/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/history.h"

#include <stdlib.h>
#include <string.h>

/* An entry of the ring, followed by the record; 8-byte aligned. */
struct entry {
	struct analysis_sample sample;   /* its pointers are set when it is read */
	uint32_t size;                   /* with the record; 0: the ring is empty from here to its end */
	uint32_t raw_at;                 /* offset of the raw data in the record; 0: none */
	char comm[COMMS_NAME];
};

struct history {
	char *bytes;
	size_t size, head, tail;         /* head: offset of the next entry; tail: of the oldest */
	size_t n;                        /* entries */
	uint64_t gone;                   /* time of the newest overwritten sample */
	uint64_t overwritten;            /* number of overwritten samples */
};

struct history *history_new(size_t bytes)
{
	struct history *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->size = bytes & ~(size_t)7;
	h->bytes = malloc(h->size);
	if (h->bytes)
		return h;
	free(h);
	return NULL;
}

void history_free(struct history *h)
{
	if (h)
		free(h->bytes);
	free(h);
}

static struct entry *at(struct history *h, size_t offset)
{
	return (struct entry *)(h->bytes + offset);
}

/* The offset; 0 if the ring is empty from there to its end. */
static size_t skip_rest(struct history *h, size_t offset)
{
	return h->size - offset < sizeof(struct entry) || !at(h, offset)->size ? 0 : offset;
}

static void drop_oldest(struct history *h)
{
	size_t offset = skip_rest(h, h->tail);

	h->gone = at(h, offset)->sample.time;
	h->tail = offset + at(h, offset)->size;
	if (h->tail == h->size)
		h->tail = 0;
	h->n--;
	h->overwritten++;
}

/* Whether there are `need` contiguous free bytes at head. */
static bool fits(struct history *h, size_t need)
{
	if (!h->n) {
		h->head = h->tail = 0;
		return true;
	}
	if (h->tail > h->head)
		return h->tail - h->head > need;
	return h->tail < h->head && h->size - h->head >= need;
}

/* Overwrites the oldest entries until they fit. */
static void make_room(struct history *h, size_t need)
{
	while (!fits(h, need)) {
		if (h->head > h->tail && h->size - h->head < need) {
			if (h->size - h->head >= sizeof(struct entry))
				at(h, h->head)->size = 0;
			h->head = 0;
			if (h->tail == 0)
				drop_oldest(h);
			continue;
		}
		drop_oldest(h);
	}
}

void history_add(struct history *h, const struct analysis_sample *s, const char *comm)
{
	size_t need = (sizeof(struct entry) + s->view.rec->size + 7) & ~(size_t)7;
	struct entry *e;

	if (need > h->size / 4) {
		h->overwritten++;
		return;
	}
	make_room(h, need);
	e = at(h, h->head);
	e->sample = *s;
	snprintf(e->comm, sizeof(e->comm), "%s", comm ? comm : "");
	e->size = (uint32_t)need;
	e->raw_at = s->view.raw ? (uint32_t)((const char *)s->view.raw - (const char *)s->view.rec) : 0;
	memcpy(e + 1, s->view.rec, s->view.rec->size);
	h->head += need;
	if (h->head == h->size)
		h->head = 0;
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
	h->n = h->head = h->tail = 0;
}

bool history_each(struct history *h, struct analysis *a, uint64_t from, uint64_t to,
		  history_fn *fn, void *ctx)
{
	size_t offset = h->tail;

	for (size_t i = 0; i < h->n; i++) {
		struct entry *e;

		offset = skip_rest(h, offset);
		e = at(h, offset);
		e->sample.view.rec = (const struct perf_event_header *)(e + 1);
		e->sample.view.raw = e->raw_at ? (const char *)(e + 1) + e->raw_at : NULL;
		if (e->sample.time >= from && e->sample.time <= to)
			fn(a, &e->sample, e->comm, ctx);
		offset += e->size;
		if (offset == h->size)
			offset = 0;
	}
	return h->gone < from;
}
