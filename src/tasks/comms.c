/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/comms.h"

#include "base/hash.h"
#include "tasks/grace.h"
#include "tasks/pidmap.h"
#include "tasks/threads.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNEL_NAME = 16, FIRST_SLOTS = 1024, MAX_SLOTS = 1 << 18 };

static const char unknown[] = "<...>", outside[] = "<outside>";

struct entry {
	uint64_t exited;       /* time; 0: not known to have exited */
	pid_t tid;             /* 0: free (tid 0 is never stored) */
	uint32_t life;
	char comm[COMMS_NAME];
};

/* Open addressing, at most half full. */
struct comms {
	const struct opener *opener;
	struct entry *entries;
	size_t mask, used;
	uint64_t now, swept;   /* newest exit; time of the last sweep */
	uint64_t changes;
	uint32_t lives;
};

struct comms *comms_new(const struct opener *opener)
{
	struct comms *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->entries = calloc(FIRST_SLOTS, sizeof(*c->entries));
	c->mask = FIRST_SLOTS - 1;
	c->opener = opener;
	if (!c->entries) {
		free(c);
		return NULL;
	}
	return c;
}

void comms_free(struct comms *c)
{
	if (!c)
		return;
	free(c->entries);
	free(c);
}

static struct entry *slot(const struct comms *c, pid_t tid)
{
	size_t i = hash_number((uint32_t)tid) & c->mask;

	while (c->entries[i].tid && c->entries[i].tid != tid)
		i = (i + 1) & c->mask;
	return &c->entries[i];
}

typedef bool keep_fn(const struct comms *c, const struct entry *e);

/* Moves the entries for which `keep` is true into a table of `slots`. */
static int move(struct comms *c, size_t slots, keep_fn *keep)
{
	struct comms other = *c;

	other.mask = slots - 1;
	other.used = 0;
	other.entries = calloc(slots, sizeof(*other.entries));
	if (!other.entries)
		return -1;
	for (size_t i = 0; i <= c->mask; i++)
		if (c->entries[i].tid && keep(c, &c->entries[i])) {
			*slot(&other, c->entries[i].tid) = c->entries[i];
			other.used++;
		}
	free(c->entries);
	*c = other;
	return 0;
}

static bool in_grace(const struct comms *c, const struct entry *e)
{
	return !e->exited || e->exited + TASKS_GRACE_NS >= c->now;
}

static bool lives(const struct comms *c, const struct entry *e)
{
	return !e->exited;
}

static bool none(const struct comms *c, const struct entry *e)
{
	return false;
}

static bool is_half_full(const struct comms *c)
{
	return c->used * 2 > c->mask;
}

/* Makes room: drops exited tasks beyond their grace period, then grows. A table of the largest size
 * drops all exited tasks, then all: /proc still has the names of running ones. */
static int make_room(struct comms *c)
{
	int rc = move(c, c->mask + 1, in_grace);

	if (!rc && is_half_full(c) && c->mask + 1 < MAX_SLOTS)
		rc = move(c, (c->mask + 1) * 2, in_grace);
	if (!rc && is_half_full(c))
		rc = move(c, c->mask + 1, lives);
	if (!rc && is_half_full(c))
		rc = move(c, c->mask + 1, none);
	return rc;
}

void comms_set(struct comms *c, pid_t tid, const char *comm, size_t len)
{
	struct entry *e;

	c->changes++;
	if (tid <= 0 || (is_half_full(c) && make_room(c)))
		return;
	e = slot(c, tid);
	c->used += e->tid == 0;
	e->tid = tid;
	e->exited = 0;
	len = strnlen(comm, len < COMMS_NAME - 1 ? len : COMMS_NAME - 1);
	memcpy(e->comm, comm, len);
	e->comm[len] = '\0';
}

/* Drops expired entries and shrinks the table. */
static void sweep(struct comms *c)
{
	size_t slots = c->mask + 1;

	c->swept = c->now;
	move(c, slots, in_grace);
	while (slots > FIRST_SLOTS && c->used * 8 < slots)
		slots /= 2;
	if (slots < c->mask + 1)
		move(c, slots, in_grace);
}

void comms_exit(struct comms *c, pid_t tid, uint64_t time)
{
	struct entry *e = tid > 0 ? slot(c, tid) : NULL;

	if (e && e->tid)
		e->exited = time ? time : 1;
	c->changes++;
	if (time > c->now)
		c->now = time;
	if (c->now - c->swept > TASKS_GRACE_NS)
		sweep(c);
}

uint32_t comms_life(const struct comms *c, pid_t tid)
{
	return slot(c, tid)->life;
}

uint64_t comms_changes(const struct comms *c)
{
	return c->changes;
}

size_t comms_count(const struct comms *c)
{
	return c->used;
}

static int ask_proc(struct comms *c, pid_t tid)
{
	char comm[KERNEL_NAME];   /* for a kworker /proc/TID/comm has more than 16 bytes: also its current work */
	ssize_t n = -1;
	int fd = tid > 0 ? opener_proc(c->opener, tid, "comm") : -1;

	if (fd >= 0) {
		n = read(fd, comm, sizeof(comm));
		close(fd);
	}
	if (n <= 0)
		return -1;
	comms_set(c, tid, comm, (size_t)n - (n == sizeof(comm) || comm[n - 1] == '\n'));
	return 0;
}

/* A child of somebody without a name is asked itself. */
static void learn_parents_name(struct comms *c, const struct pev_task *task)
{
	char name[COMMS_NAME];

	/* comms_set() invalidates the result of comms_get() */
	snprintf(name, sizeof(name), "%s", comms_get(c, (pid_t)task->ptid));
	if (!comms_is_unknown(name) || ask_proc(c, (pid_t)task->tid))
		comms_set(c, (pid_t)task->tid, name, strlen(name));
	if (slot(c, (pid_t)task->tid)->tid)
		slot(c, (pid_t)task->tid)->life = ++c->lives;
}

void comms_take(struct comms *c, const struct pev_record *rec)
{
	switch (rec->type) {
	case PERF_RECORD_COMM:
		comms_set(c, (pid_t)rec->comm.tid, rec->comm.comm, strlen(rec->comm.comm));
		break;
	case PERF_RECORD_FORK:
		learn_parents_name(c, &rec->task);
		break;
	case PERF_RECORD_EXIT:
		comms_exit(c, (pid_t)rec->task.tid, rec->sample_id.time);
		break;
	default:
		break;
	}
}

/* Includes threads: once a thread has ended, /proc no longer has its name. */
static void take_thread(void *ctx, pid_t tid)
{
	struct comms *c = ctx;

	if (!slot(c, tid)->tid)
		ask_proc(c, tid);
}

void comms_snapshot(struct comms *c)
{
	threads_each(take_thread, c);
}

const char *comms_get(struct comms *c, pid_t tid)
{
	struct entry *e;

	if (tid == 0)
		return "swapper";
	e = slot(c, tid);
	if (!e->tid && pidmap_is_outer(tid))
		return outside;
	if (!e->tid && ask_proc(c, tid))
		comms_set(c, tid, unknown, strlen(unknown));
	e = slot(c, tid);
	return e->tid ? e->comm : unknown;
}

bool comms_is_unknown(const char *name)
{
	return !strcmp(name, unknown) || !strcmp(name, outside);
}
