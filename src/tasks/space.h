/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An address space: what was mapped where, and until when. Mappings that were replaced
 * stay in a short history, for events from before. Spaces are shared (a child begins with
 * its parent's) and copied by whoever changes one.
 */
#ifndef TASKS_SPACE_H
#define TASKS_SPACE_H

#include "symbols/dso.h"

struct mapping {
	uint64_t start, end;
	uint64_t pgoff;          /* of start, in the file */
	bool data;               /* it is no code */
	uint64_t from;           /* time it came about; 0: before we looked */
	struct dso *dso;
};

struct gone_mapping {
	struct mapping m;
	uint64_t to;
};

struct space {
	unsigned int refs;
	bool partial;            /* only what records told: /proc may know more */
	uint64_t version;        /* no two states of any two spaces have the same */
	uint64_t changed;        /* time of the last change */
	struct mapping *live;    /* by start, without overlaps */
	struct gone_mapping *gone;   /* oldest first */
	size_t nlive, live_cap, ngone, gone_cap;
};

enum { SPACE_MAX_LIVE = 16384, SPACE_MAX_GONE = 1024 };

struct space *space_new(bool partial);
struct space *space_ref(struct space *s);
void space_put(struct dsos *d, struct space *s);
/* What is mapped now, without the history. */
struct space *space_copy(const struct space *s);

/* Maps m (whose reference to the dso is taken over), at m->from, over whatever is there.
 * Returns whether this changed anything. History older than `forget` goes. */
bool space_map(struct dsos *d, struct space *s, const struct mapping *m, uint64_t forget);
/* The same where nothing is mapped yet; for what was there before we looked. */
bool space_fill(struct dsos *d, struct space *s, const struct mapping *m);
/* Maps in `s` what came about in `other` after that time. */
void space_carry(struct dsos *d, struct space *s, const struct space *other, uint64_t time);
const struct mapping *space_find(const struct space *s, uint64_t addr, uint64_t time);
#endif
