/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file is mapped where, in which process, at what time.
 *
 * Built from MMAP, FORK, COMM and EXIT records; mappings older than the first record come from
 * /proc/PID/maps. Records may be taken before events that are older, so each lookup names its time.
 * A process is kept for TASKS_GRACE_NS after its exit, unless max_bytes is exceeded.
 */
#ifndef TASKS_MAPS_H
#define TASKS_MAPS_H

#include "base/opener.h"
#include "perfevent.h"
#include "symbols/dso.h"
#include "tasks/grace.h"

/*
 * An address space: what is mapped where since when. Replaced mappings stay in a short history for
 * events from before. Spaces are shared (a child starts with its parent's) and copied on write.
 */

struct mapping {
	uint64_t start, end;
	uint64_t pgoff;          /* of start, in the file */
	bool data;               /* not executable */
	uint64_t from;           /* when it was mapped; 0: before the first record */
	struct dso *dso;
};

struct gone_mapping {
	struct mapping m;
	uint64_t to;
};

struct space {
	unsigned int refs;
	bool partial;            /* /proc may have more mappings than the records so far */
	uint64_t version;        /* unique for each state of each space */
	uint64_t changed;        /* time of the last change */
	struct mapping *live;    /* by start, without overlaps */
	struct gone_mapping *gone;   /* oldest first */
	size_t nlive, live_cap, ngone, gone_cap;
};

enum { SPACE_MAX_LIVE = 16384, SPACE_MAX_GONE = 1024 };

/* The last mapping of code that begins at or before that address, whether it reaches it or not: of the file whose data may be there. */
const struct mapping *space_code_before(const struct space *s, uint64_t addr, uint64_t time);

struct maps;

struct maps_opts {
	struct dsos *dsos;
	const struct opener *opener;
	/* Passes all records that the kernel has written so far to maps_take(). Called before and
	 * after /proc/PID/maps is read: the second call finds the record of an exec(2) in between,
	 * so that the new mappings are not added to the time before it. May be NULL. */
	void (*catch_up)(void *ctx);
	void *ctx;
	bool data;               /* keep mappings that are not executable, too */
	size_t max_bytes;        /* 0: 16 MiB */
};

/* The pointers in opts must outlive it. */
struct maps *maps_new(const struct maps_opts *opts);
void maps_free(struct maps *m);

/* One record, at the time in its sample_id trailer. After a LOST record the mappings of every
 * process are uncertain until /proc is read again. */
void maps_take(struct maps *m, const struct pev_record *rec);
/* Reads /proc/PID/maps of all processes. */
void maps_snapshot(struct maps *m);

/* A number for the mappings of a process at that time: while it is the same, maps_find() returns the same. 0
 * for times before the last change in an era, which have no number. Reads /proc if the process is not known. */
uint64_t maps_version(struct maps *m, pid_t pid, uint64_t time);
/* The mapping at addr, or NULL. Valid until the next call of a function of this header. */
const struct mapping *maps_find(struct maps *m, pid_t pid, uint64_t addr, uint64_t time);
/* As space_code_before(). */
const struct mapping *maps_code_before(struct maps *m, pid_t pid, uint64_t addr, uint64_t time);

/* For tests and statistics. */
size_t maps_processes(const struct maps *m);
size_t maps_bytes(const struct maps *m);
#endif
