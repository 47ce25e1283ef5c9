/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file was mapped where, in which process, at what time.
 *
 * Built from MMAP, FORK, COMM and EXIT records, and from /proc/PID/maps for what was
 * there before them. Records may be taken ahead of the events that ask: each question
 * names its time. A process that exited is remembered for as long as events of its own
 * can still be on their way (TASKS_GRACE_NS), and in all up to a bound of memory.
 */
#ifndef TASKS_MAPS_H
#define TASKS_MAPS_H

#include "base/opener.h"
#include "perfevent.h"
#include "tasks/grace.h"
#include "tasks/space.h"

struct maps;

struct maps_opts {
	struct dsos *dsos;
	const struct opener *opener;
	/* Takes all records that the kernel has written by now, by maps_take(); called before
	 * and after /proc is read, so that what is read there isn't laid into the past of a
	 * process that called exec(2). May be NULL. */
	void (*catch_up)(void *ctx);
	void *ctx;
	bool data;               /* mappings that are no code are kept, too */
	size_t max_bytes;        /* 0: the default, 16 MiB */
};

/* opts' pointers outlive it. */
struct maps *maps_new(const struct maps_opts *opts);
void maps_free(struct maps *m);

/* One record; its time is that of its trailer. A LOST record makes all processes unsure. */
void maps_take(struct maps *m, const struct pev_record *rec);
/* Reads /proc of the process, or of all that there are. */
void maps_read(struct maps *m, pid_t pid);
void maps_snapshot(struct maps *m);

/* A number for all that the process has mapped at that time: as long as it is the same,
 * so are the answers of maps_find(). 0 for times before a change, which have none. Reads
 * /proc for a process that is not known. */
uint64_t maps_version(struct maps *m, pid_t pid, uint64_t time);
/* What is mapped at addr, or NULL. Valid until the next call of any function of this. */
const struct mapping *maps_find(struct maps *m, pid_t pid, uint64_t addr, uint64_t time);

/* For tests and statistics. */
size_t maps_processes(const struct maps *m);
size_t maps_bytes(const struct maps *m);
#endif
