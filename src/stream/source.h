/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command as a source: its name in an event list, its options in the place of the
 * filter, then attributes: profile/-F 997 -g/alias=hot/.
 *
 * This room defines what a source is and knows none. The room of the commands keeps a table
 * of them; a command that takes event lists puts it into stream_opts.sources. Whatever
 * stands in that table can be named in -e, and is known to `help`, -h and did-you-mean.
 *
 * A source consists of events. The fields of an event are the parts of its sample, by
 * attr.sample_type: see parts.h. It takes the targets and the clock of the stream; -m
 * makes rings larger for all, -N ends the source alone.
 */
#ifndef STREAM_SOURCE_H
#define STREAM_SOURCE_H

#include "base/options.h"
#include "stream/stream.h"

struct source;   /* one item of a list while it is taken apart */

struct source_ops {
	const char *name;                 /* the command's */
	const char *summary;              /* one line */
	const struct opt_group *groups;   /* options in the filter's place */
	size_t ngroups;
	/* What options fill in, zeroed; its head is a struct stream_opts, of which call
	 * chains, ring.bytes and exit_n count. */
	size_t config_size;
	/* Adds its events by source_add(). 0, or -1 with f. */
	int (*events)(struct source *source, const void *config, struct fault *f);
};

struct source_event {
	const struct perf_event_attr *attr;   /* type, config, period, sample_type, exclude_*: TID,
					       * TIME and CALLCHAIN are added, and what opening needs */
	const char *what;                 /* what is counted, as it prints: "cpu-clock" */
	enum stream_shape shape;
};

/* Adds an event: 0, or -1 with f. What is handed over is copied. */
int source_add(struct source *source, const struct source_event *event, struct fault *f);

/* The registers that this machine samples, for attr.sample_regs_user and _intr. */
uint64_t source_registers(void);

/* Of a table, NULL terminated, which may be NULL itself. */
const struct source_ops *source_find(const struct source_ops *const *table, const char *name);
#endif
