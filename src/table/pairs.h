/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of events: the first begins an operation, the second, with the same key, ends it. The caller decides what each
 * event begins or ends; pairs that have begun and not ended are stored here.
 */
#ifndef TABLE_PAIRS_H
#define TABLE_PAIRS_H

#include "table/groups.h"

/* A pair that has not ended (is_open), or one that has, and is kept for the next pair with its key. */
struct open_pair {
	uint64_t key, start;
	uint64_t value;              /* from pairs_start() */
	bool is_open;
	bool may_have_ended;         /* set by the caller: it is not known whether its end came before its beginning */
	bool is_device;              /* set by the caller: the thread waits for a device */
	bool was_seen;               /* set by the caller: it has lasted long, and was looked at */
};

enum { PAIRS_MAX_OPEN = 1 << 20 };

/* Initialized by zeros. */
struct pairs {
	struct groups all;           /* of struct open_pair */
	size_t max;                  /* open at once; 0: PAIRS_MAX_OPEN */
	size_t nopen;
	uint64_t restarted;          /* pairs that began again before they ended */
	uint64_t unbegun;            /* pairs that ended, but have no recorded beginning */
	uint64_t gone;               /* pairs that cannot end any more: pairs_lose() */
	uint64_t refused;            /* pairs not stored: `max` are open, or out of memory */
};

void pairs_free(struct pairs *p);
/* Begins a pair. time: perf clock, ns. value: any number, returned when the pair ends. */
void pairs_start(struct pairs *p, uint64_t time, uint64_t key, uint64_t value);
/* The open pair with that key, or a new one that began at `since` with value 0. NULL: refused. */
struct open_pair *pairs_open(struct pairs *p, uint64_t key, uint64_t since);
/* The open pair with that key, or NULL. Valid until it is closed. */
struct open_pair *pairs_find(const struct pairs *p, uint64_t key);

struct pair_end {
	uint64_t start, duration;    /* perf clock, ns; duration 0: it ended before it began, since events came out of order */
	uint64_t value;              /* from pairs_start() */
};
/* Ends the pair with that key. False if none was open: it counts as unbegun. */
bool pairs_end(struct pairs *p, uint64_t time, uint64_t key, struct pair_end *end);
/* Ends an open pair and begins the next one, with the same key, at the same time. */
void pairs_turn(struct open_pair *o, uint64_t time, uint64_t value, struct pair_end *end);
/* Ends an open pair. */
void pairs_close(struct pairs *p, struct open_pair *o, uint64_t time, struct pair_end *end);
/* Drops an open pair without an end. */
void pairs_cancel(struct pairs *p, struct open_pair *o);
/* As pairs_cancel(): its task has ended, such as in exit_group(2). */
void pairs_lose(struct pairs *p, struct open_pair *o);
/* Drops all pairs. */
void pairs_drop(struct pairs *p);
#endif
