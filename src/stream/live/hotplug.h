/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPUs that go offline and come online while events are open. When a CPU goes offline, the kernel
 * removes its events, and does not restore them when it comes back; events of tasks stay. A CPU
 * that comes online has no events of this run. The rings show neither, so the list of online CPUs
 * is read from time to time, and changes are reported. The kernel also sends a message when a CPU
 * has come online (but not into user namespaces), so that none is missed that was away for a moment.
 */
#ifndef STREAM_LIVE_HOTPLUG_H
#define STREAM_LIVE_HOTPLUG_H

#include "base/cpulist.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hotplug {
	struct numlist online;
	struct numlist back;      /* watched CPUs that were offline and have come back: to be opened again, and cleared */
	uint64_t looked;          /* CLOCK_MONOTONIC, ns */
	int messages;             /* socket; readable when there may be something to report; -1: none */
};

/* Remembers which CPUs are online. */
void hotplug_begin(struct hotplug *h);
void hotplug_end(struct hotplug *h);
/* Reads the list again, at most once a second unless `now` is set. True if there is something to
 * report: a line in buf. Adds to h->back. `watched`: CPUs with events; `named`: the user chose them; `tasks`: the
 * events belong to tasks. */
bool hotplug_look(struct hotplug *h, const struct numlist *watched, bool named, bool tasks,
		  bool now, char *buf, size_t size);
/* The same for two given lists. */
bool hotplug_compare(const struct numlist *before, const struct numlist *after,
		     const struct numlist *watched, bool named, bool tasks, char *buf, size_t size);
#endif
