/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPUs that come and go while events are open. The kernel takes the events of a CPU off it
 * when it goes offline, and doesn't put them back; those of tasks stay. A CPU that comes has
 * no events of ours. Neither shows in the rings, so it is looked for, and told.
 */
#ifndef STREAM_LIVE_HOTPLUG_H
#define STREAM_LIVE_HOTPLUG_H

#include "base/cpulist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hotplug {
	struct numlist online;
	uint64_t looked;          /* ns, monotonic */
};

/* What is online now. */
void hotplug_begin(struct hotplug *h);
void hotplug_end(struct hotplug *h);
/* Looks again, at most once a second unless `now`. True if something is to be told: a line
 * in buf. `watched`: where events are; `named`: the user chose them; `tasks`: the events are
 * those of tasks. */
bool hotplug_look(struct hotplug *h, const struct numlist *watched, bool named, bool tasks,
		  bool now, char *buf, size_t size);
/* The same for two lists that are given. */
bool hotplug_compare(const struct numlist *before, const struct numlist *after,
		     const struct numlist *watched, bool named, bool tasks, char *buf, size_t size);
#endif
