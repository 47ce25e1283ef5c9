/* SPDX-License-Identifier: Apache-2.0 */
/* An event of the list in -e, globs expanded: what was asked for, and how its samples are laid out. */
#ifndef STREAM_ASKED_EVENT_H
#define STREAM_ASKED_EVENT_H

#include "base/cpulist.h"
#include "events/layout.h"
#include "tracefmt/tracefmt.h"

#include <perfevent.h>

struct event_ids;
struct filter;
struct maker;
struct maker_tap;
struct source_ops;
struct spec_item;

/* How the samples of a source or a plain perf event print. */
enum stream_shape {
	SHAPE_PERIOD,                   /* name: period event */
	SHAPE_FAULT,                    /* address ip symbol */
};

/* -N of a source: it ends, the run goes on. */
struct stream_limit {
	uint64_t exit_n, passed;        /* 0: none; how many there were */
};

/* What is known of an event that is no tracepoint. */
struct stream_sampling {
	union pev_attr_buf attr;        /* how it is opened, but for what all events have alike */
	char *what;                     /* what is counted: "cpu-clock" */
	const struct source_ops *source;   /* NULL: a plain perf event */
	enum stream_shape shape;
	struct pev_format format;       /* for pev_decode() */
	bool precise_max;               /* as precise as the PMU can: :P */
	bool group_read;                /* its samples have the counts of its group: :S */
	bool decode;                    /* parts of variable length: checked before delivery */
	uint64_t rate;                  /* what was asked for, see rate.h: of a frequency (0: the default), of a period
					 * that was raised */
	bool user_only;                 /* without the kernel's part, which this user may not have: useronly.h */
	bool lowered;                   /* fewer samples than that: the kernel allowed no more */
	struct stream_limit limit;
};

#define STREAM_READS_ALL UINT64_MAX
/* Of an event that was not recorded, or that is made here. */
#define NO_TRACK UINT32_MAX
/* Of an event in no group. */
#define NO_LEADER UINT32_MAX

/* What the counters in a sample say: counts.h. The event's own is the first, then its group's. */
struct stream_counts {
	size_t n, room;
	bool group;
	uint8_t first, entry, id;       /* bytes: before the first, of one, to its id */
	struct stream_count {
		const struct stream_event *event;   /* NULL: of a recording, and not asked for */
		const char *name;
		uint64_t value, delta;  /* so far; since the sample before */
	} v[];
};

/* One event of the list, globs expanded. */
struct stream_event {
	/* what is looked at for each sample lies together */
	struct layout layout;           /* where the parts of its samples lie */
	uint32_t min_raw;               /* raw data shorter than this lacks a field */
	bool keep_own;                  /* perf-prof's own samples too: see open.c */
	bool choosy;                    /* not every sample that comes is delivered */
	bool filter_here;               /* a part of it is evaluated here */
	void *consumer;                 /* the consumer's own */
	struct event_ids *ids;          /* pairs of ids in two namespaces: ids.h; or NULL */

	const char *name;               /* what the user calls it: sys:name or sys:alias; where it
					 * is no tracepoint, "cycles:u" or the alias alone */
	const char *word;               /* the same as a function's name: sys__name, cycles_u */
	const char *sys, *tracepoint;   /* NULL where it is no tracepoint */
	const char *alias;              /* NULL without one */
	const char *filter;             /* as the user wrote it; NULL without one */
	const struct spec_item *item;   /* where it stands in the list */
	struct filter *filtered;        /* the filter taken apart: filter.h */
	struct numlist cpus;            /* cpus=; n == 0: the target's */
	bool callchain;
	bool chain_user, chain_kernel;  /* which parts of it */
	uint32_t stack_bytes;           /* callers are found by this much of the user's stack; 0: the
					 * kernel finds them, by frame pointers */
	struct pev_format *stack_format;   /* samples have registers and stack for it; NULL: not */
	unsigned int max_stack;         /* 0: the kernel's */
	const struct tracefmt *fmt;     /* NULL: no tracepoint; its fields are its sample's parts */
	struct stream_sampling *sampling;   /* where fmt is NULL, else NULL */
	struct maker *maker;            /* made here, of other events: its source; or NULL */
	struct maker_tap *taps;         /* not the consumer's: for the sources that want it; or NULL */
	bool everywhere;                /* on all tasks, whatever the targets are */
	bool unrecorded;                /* not written by a recorder: the list has the same */
	bool triggers;                  /* asks for what is recorded: --overwrite */
	const char *probe;              /* a tracepoint of our own making (probes.h): its name without alias; or NULL */
	bool from_glob;                 /* may be left out if it can't be opened */
	uint32_t leader;                /* index of its group's, which may be itself; or NO_LEADER */
	bool muted;                     /* on for its group alone: nobody wants its samples */
	bool counted;                   /* not sampled: the leader's samples bear its count */
	uint64_t read_format;           /* of a group with S, else 0 */
	struct stream_counts *counts;   /* of the sample that is delivered; NULL: samples have none */
	uint64_t id;                    /* of one of its descriptors */
	uint32_t track;                 /* of a recording: its event there, or NO_TRACK */
	uint32_t family;                /* index of the first one that counts the same, on other kinds of CPUs: their
					 * weights have a sum. Mostly its own */
	bool wanted;                    /* set by the consumer before stream_open() */
	uint64_t reads;                 /* the same, for stream_narrow(): PERF_SAMPLE_* */
	bool names_ip;                  /* the same: the consumer shows ip by its name */
};
#endif
