/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups in an event list, {a,b}:S. Their events are scheduled onto the PMU together. In a plain
 * group every event is sampled; with S only the leader is, and its samples have the counts of all
 * (counts.h).
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

/* The modifiers of the item's group that apply to the item: D and e only to the first one, the
 * leader. Writes at most size bytes; "" for an item outside groups. */
void groups_modifiers(const struct stream *s, const struct spec_item *item, char *buf, size_t size);
/* Sets leaders and read formats, after all items became events. 0, or -1 with f. */
int groups_apply(struct stream *s, struct fault *f);
/* Whether a group has S. */
bool groups_are_read(const struct stream *s);
/* Before opening: splits groups with W that do not fit on the PMU, and finds out whether this
 * kernel can inherit events with counts in their samples. */
void groups_prepare(struct stream *s);
/* After the consumer chose its events: members follow their leader, and leaders are opened for
 * their members. */
void groups_settle(struct stream *s);
/* The opened leader of the event's group, for this task and CPU; NULL: the event is opened alone,
 * or leads. */
struct pev_event *groups_leader(const struct stream *s, const struct stream_event *event,
				const struct task_target *task, const struct ring *ring);
#endif
