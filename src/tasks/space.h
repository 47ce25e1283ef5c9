/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An address space: what is mapped where since when. Replaced mappings stay in a short history for
 * events from before. Spaces are shared (a child starts with its parent's) and copied on write.
 */
#ifndef TASKS_SPACE_H
#define TASKS_SPACE_H

#include "symbols/dso.h"

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

struct space *space_new(bool partial);
struct space *space_ref(struct space *s);
void space_put(struct dsos *d, struct space *s);
/* A copy of the current mappings, without the history. */
struct space *space_copy(const struct space *s);

/* Maps m at time m->from over what is there, and takes over m's reference to the dso. False:
 * nothing changed. Drops history older than `forget`. */
bool space_map(struct dsos *d, struct space *s, const struct mapping *m, uint64_t forget);
/* The same where nothing is mapped yet, for mappings older than the first record. */
bool space_fill(struct dsos *d, struct space *s, const struct mapping *m);
/* Maps in `s` the mappings that `other` got after that time. */
void space_carry(struct dsos *d, struct space *s, const struct space *other, uint64_t time);
/* The last mapping of code that begins at or before that address, whether it reaches it or not: of the file whose data may be there. */
const struct mapping *space_code_before(const struct space *s, uint64_t addr, uint64_t time);
const struct mapping *space_find(const struct space *s, uint64_t addr, uint64_t time);
#endif
