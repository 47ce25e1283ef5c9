/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/comms.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMM_LEN = 16, FIRST_SLOTS = 1024 };

struct entry {
	pid_t tid;             /* 0: free (tid 0 is never stored) */
	char comm[COMM_LEN];
};

/* Open addressing, at most half full. */
struct comms {
	struct entry *entries;
	size_t mask, used;
};

struct comms *comms_new(void)
{
	struct comms *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->entries = calloc(FIRST_SLOTS, sizeof(*c->entries));
	c->mask = FIRST_SLOTS - 1;
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
	size_t i = ((uint32_t)tid * 2654435761u >> 7) & c->mask;

	while (c->entries[i].tid && c->entries[i].tid != tid)
		i = (i + 1) & c->mask;
	return &c->entries[i];
}

static int grow(struct comms *c)
{
	struct comms bigger = { .mask = c->mask * 2 + 1, .used = c->used };

	bigger.entries = calloc(bigger.mask + 1, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -1;
	for (size_t i = 0; i <= c->mask; i++)
		if (c->entries[i].tid)
			*slot(&bigger, c->entries[i].tid) = c->entries[i];
	free(c->entries);
	*c = bigger;
	return 0;
}

void comms_set(struct comms *c, pid_t tid, const char *comm, size_t len)
{
	struct entry *e;

	if (tid <= 0 || (c->used * 2 > c->mask && grow(c)))
		return;
	e = slot(c, tid);
	c->used += e->tid == 0;
	e->tid = tid;
	len = strnlen(comm, len < COMM_LEN - 1 ? len : COMM_LEN - 1);
	memcpy(e->comm, comm, len);
	e->comm[len] = '\0';
}

static int ask_proc(struct comms *c, pid_t tid)
{
	char path[64], comm[COMM_LEN + 1];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, comm, sizeof(comm) - 1);
		close(fd);
	}
	if (n <= 0)
		return -1;
	comms_set(c, tid, comm, (size_t)n - (comm[n - 1] == '\n'));
	return 0;
}

void comms_snapshot(struct comms *c)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;

	while (proc && (d = readdir(proc)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			ask_proc(c, (pid_t)atoi(d->d_name));
	if (proc)
		closedir(proc);
}

const char *comms_get(struct comms *c, pid_t tid)
{
	struct entry *e;

	if (tid == 0)
		return "swapper";
	e = slot(c, tid);
	if (!e->tid && ask_proc(c, tid))
		comms_set(c, tid, "<...>", 5);
	e = slot(c, tid);
	return e->tid ? e->comm : "<...>";
}
