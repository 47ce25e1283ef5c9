/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of an event list, {a,b}:S: scheduled onto the PMU together. A plain group's events are
 * sampled each; with S the leader alone is, and its samples bear the counts of all (counts.h).
 */
#ifndef STREAM_LIST_GROUPS_H
#define STREAM_LIST_GROUPS_H

#include "base/fault.h"

#include <stdbool.h>

struct pev_event;
struct ring;
struct spec_item;
struct stream;
struct stream_event;
struct task_target;

/* The group's modifiers for an item of it: those of leaders are the first one's alone. Writes
 * at most size bytes; "" for an item in no group. */
void groups_modifiers(const struct stream *s, const struct spec_item *item, char *buf, size_t size);
/* All items became events: 0, or -1 with f. */
int groups_apply(struct stream *s, struct fault *f);
/* Whether one has S. */
bool groups_are_read(const struct stream *s);
/* Before opening: groups with W that don't fit on the PMU are taken apart; what this kernel
 * can't inherit is not. */
void groups_prepare(struct stream *s);
/* What is wanted is known: who leads or follows it is there with it. */
void groups_settle(struct stream *s);
/* What the event on this task and CPU is opened beside; NULL: nothing. */
struct pev_event *groups_leader(const struct stream *s, const struct stream_event *event,
				const struct task_target *task, const struct ring *ring);
#endif
