/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goes through the records backwards and keeps those that something later needs, like a compiler's
 * analysis of live variables:
 *
 *  - A task without a later EXIT needs its name, a process its mappings.
 *  - COMM meets the need of a name, so older names are dropped. An exec makes older mappings void.
 *  - A FORK passes the needs of the child to the parent, even if the parent has exited since.
 *  - An EXIT is kept as long as any earlier record of its task is.
 */
#include "perfdata/write/standing.h"

#include "base/hash.h"
#include "perfdata/write/format.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 256 << 10 };   /* bytes below which it does not pay */

struct standing {
	struct bytes bytes;
	size_t looked;         /* bytes after the last pass */
};

/* The common start of COMM, FORK, EXIT, MMAP and MMAP2. */
struct who {
	struct perf_event_header header;
	uint32_t pid, second;            /* FORK, EXIT: ppid; else tid */
	union {
		uint32_t tid[2];         /* FORK, EXIT: tid and ptid */
		uint64_t addr;           /* MMAP, MMAP2 */
	};
	uint64_t len;
};

/* The start of KSYMBOL. */
struct code {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
};

struct standing *standing_new(void)
{
	return calloc(1, sizeof(struct standing));
}

void standing_free(struct standing *s)
{
	if (s)
		bytes_free(&s->bytes);
	free(s);
}

static bool is_of_tasks(uint32_t type)
{
	return type == PERF_RECORD_COMM || type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT ||
	       type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2;
}

bool standing_takes(const struct perf_event_header *rec)
{
	return rec->type == PERFDATA_BUILD_ID || rec->type == PERF_RECORD_CGROUP || (rec->type == PERF_RECORD_KSYMBOL && rec->size >= sizeof(struct code)) ||
	       (is_of_tasks(rec->type) && rec->size >= 24);
}

/* ---- what later records need -------------------------------------------------- */

enum kind { NAME, MAPPINGS, MAPPING, CODE, END };

/* What is known at this point of the pass. Without an entry, the record is needed. */
struct need {
	struct { uint64_t id, kind; } key;
	uint64_t value;                  /* 1: needed again. MAPPING: bytes mapped later at that address. END: 1 +
					  * index of the EXIT, or 0 once it is kept. */
	UT_hash_handle hh;
};

struct look {
	struct need *needs;
	bool *kept;              /* by record */
	bool failed;
};

static struct need *find(struct look *l, enum kind kind, uint64_t id)
{
	struct need probe = { .key = { id, kind } }, *found;

	HASH_FIND(hh, l->needs, &probe.key, sizeof(probe.key), found);
	return found;
}

static void set(struct look *l, enum kind kind, uint64_t id, uint64_t value)
{
	struct need *n = find(l, kind, id);

	if (n) {
		n->value = value;
		return;
	}
	n = calloc(1, sizeof(*n));
	if (n) {
		*n = (struct need){ .key = { id, kind }, .value = value };
		HASH_ADD(hh, l->needs, key, sizeof(n->key), n);
	}
	if (!n || HASH_LOST(n)) {
		free(n);
		l->failed = true;
	}
}

static bool is_needed(struct look *l, enum kind kind, uint64_t id)
{
	const struct need *n = find(l, kind, id);

	return !n || n->value;
}

static bool keeps_comm(struct look *l, const struct who *w)
{
	bool kept = is_needed(l, NAME, w->second);

	set(l, NAME, w->second, false);
	if (w->header.misc & PERF_RECORD_MISC_COMM_EXEC)
		set(l, MAPPINGS, w->pid, false);
	return kept;
}

static bool keeps_fork(struct look *l, const struct who *w)
{
	bool name = is_needed(l, NAME, w->tid[0]);
	bool mappings = w->pid != w->second && is_needed(l, MAPPINGS, w->pid);

	if (name)
		set(l, NAME, w->tid[1], true);
	set(l, NAME, w->tid[0], false);
	if (mappings)
		set(l, MAPPINGS, w->second, true);
	if (w->pid != w->second)
		set(l, MAPPINGS, w->pid, false);
	return name || mappings;
}

static bool keeps_exit(struct look *l, const struct who *w, size_t place)
{
	set(l, END, w->tid[0], 1 + place);
	set(l, NAME, w->tid[0], false);
	if (w->tid[0] == w->pid)
		set(l, MAPPINGS, w->pid, false);
	return false;
}

static uint64_t mapping_id(const struct who *w)
{
	const uint64_t parts[] = { w->addr, w->pid };

	return hash_words(parts, sizeof(parts));
}

/* A mapping is void if a later one covers it from the same address on: some programs map again and again. */
static bool keeps_mapping(struct look *l, const struct who *w)
{
	const struct need *over;

	if (w->pid == UINT32_MAX)
		return true;     /* the kernel */
	if (!is_needed(l, MAPPINGS, w->pid))
		return false;
	over = find(l, MAPPING, mapping_id(w));
	if (over && over->value >= w->len)
		return false;
	set(l, MAPPING, mapping_id(w), w->len);
	return true;
}

/* The last symbol at an address is kept, unless it was unregistered. */
static bool keeps_code(struct look *l, const struct code *c)
{
	bool kept = is_needed(l, CODE, c->addr) && !(c->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);

	set(l, CODE, c->addr, false);
	return kept;
}

static bool keeps(struct look *l, const struct perf_event_header *rec, size_t place)
{
	const struct who *w = (const void *)rec;

	switch (rec->type) {
	case PERF_RECORD_COMM:
		return keeps_comm(l, w);
	case PERF_RECORD_FORK:
		return keeps_fork(l, w);
	case PERF_RECORD_EXIT:
		return keeps_exit(l, w, place);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return rec->size < sizeof(*w) || keeps_mapping(l, w);
	case PERF_RECORD_KSYMBOL:
		return keeps_code(l, (const void *)rec);
	default:
		return true;
	}
}

static void keep(struct look *l, const struct perf_event_header *rec, size_t place)
{
	const struct who *w = (const void *)rec;
	struct need *end;

	l->kept[place] = keeps(l, rec, place);
	if (!l->kept[place] || !is_of_tasks(rec->type))
		return;
	end = find(l, END, rec->type == PERF_RECORD_FORK ? w->tid[0] :
			   rec->type == PERF_RECORD_COMM ? w->second : w->pid);
	if (end && end->value) {
		l->kept[end->value - 1] = true;
		end->value = 0;
	}
}

/* ---- records --------------------------------------------------------------------- */

static size_t count(const struct bytes *b)
{
	size_t n = 0;

	for (size_t at = 0; at < b->n; n++)
		at += ((const struct perf_event_header *)(void *)(b->data + at))->size;
	return n;
}

static void move(struct standing *s, const size_t *at, const bool *kept, size_t n)
{
	size_t end = 0;

	for (size_t i = 0; i < n; i++) {
		uint16_t size = ((const struct perf_event_header *)(void *)(s->bytes.data + at[i]))->size;

		if (!kept[i])
			continue;
		memmove(s->bytes.data + end, s->bytes.data + at[i], size);
		end += size;
	}
	s->bytes.n = end;
}

/* Without memory all records are kept. */
static void drop_void(struct standing *s)
{
	size_t n = count(&s->bytes), i = 0;
	size_t *at = calloc(n + 1, sizeof(*at));
	bool *kept = calloc(n + 1, sizeof(*kept));
	struct look look = { .kept = kept };

	if (at && kept) {
		for (size_t offset = 0; offset < s->bytes.n; i++) {
			at[i] = offset;
			offset += ((const struct perf_event_header *)(void *)(s->bytes.data + offset))->size;
		}
		while (i--)
			keep(&look, (const void *)(s->bytes.data + at[i]), i);
		if (!look.failed)
			move(s, at, kept, n);
	}
	HASH_FREE(look.needs);
	free(at);
	free(kept);
	s->looked = s->bytes.n;
}

void standing_put(struct standing *s, const struct perf_event_header *rec)
{
	bytes_add(&s->bytes, rec, rec->size);
	s->bytes.failed = false;   /* the record is lost; its names stay unknown */
	if (s->bytes.n > LEAST && s->bytes.n > 2 * s->looked)
		drop_void(s);
}

const void *standing_records(struct standing *s, size_t *size)
{
	drop_void(s);
	*size = s->bytes.n;
	return s->bytes.data;
}
