/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair(): the time from an event to another one with the same key. It is a value of the row that ends it. Those that
 * have begun are in a bounded table, across intervals. A pair that begins again replaces the one before. A loss drops
 * all that are open, since what ended or replaced them may be lost.
 */
#ifndef SUMS_PAIRING_H
#define SUMS_PAIRING_H

#include "sums/operand.h"

struct begun {
	uint64_t key, time;
	bool used;
};

struct pairing {
	char *text;                     /* as it was asked for: the same text is the same pairs */
	char *names[2];                 /* of the events that begin and end it; maybe the same */
	struct operand keys[2];
	struct texts *events;           /* kept: names of _event for which there are */
	int32_t numbers[2];             /* of the events among them; -1: none */
	struct begun *v;
	size_t mask, n, max;
	uint64_t refused;               /* in this interval: did not fit */
	uint64_t dropped;               /* because of a loss */
	struct vector *vectors[2];      /* scratch */
};

/* Zeroed, but what is asked for, and `max`. 0 or -ENOMEM. */
int pairing_begin(struct pairing *p);
void pairing_free(struct pairing *p);
/* time, event: those columns. Adds to *no_value the events without a key, and the pairs that ended before they began. */
void pairing_eval(struct pairing *p, const struct row_area *area, const struct batch *b, size_t from, size_t n, size_t time,
		  size_t event, struct vector *out, uint64_t *no_value);
/* Events were lost. */
void pairing_drop(struct pairing *p);
#endif
