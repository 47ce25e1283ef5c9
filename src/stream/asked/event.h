/* SPDX-License-Identifier: Apache-2.0 */
/* One event of -e (globs are expanded): what the user asked for, and the layout of its samples. */
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
struct stream_event;

/* How samples of a source, or of a perf event that is no tracepoint, are printed. */
enum stream_shape {
	SHAPE_PERIOD,                   /* name: period event */
	SHAPE_FAULT,                    /* address ip symbol */
};

/* -N of a source: ends the source, not the run. */
struct stream_limit {
	uint64_t exit_n, passed;        /* 0: no limit; samples so far */
};

/* The part of struct stream_event for events that are no tracepoints. */
struct stream_sampling {
	union pev_attr_buf attr;        /* how it is opened; openattr.h adds what all events have in common */
	char *what;                     /* the name of what it counts: "cpu-clock" */
	const struct source_ops *source;   /* NULL: a plain perf event */
	enum stream_shape shape;
	struct pev_format format;       /* for pev_decode() */
	bool precise_max;               /* :P, the highest precision that the PMU supports */
	bool group_read;                /* :S, samples have the counts of the group */
	bool decode;                    /* samples have parts of variable length, checked before delivery */
	uint64_t rate;                  /* as the user asked, see rate.h: samples a second (0: the default), or the
					 * period before it was raised */
	bool user_only;                 /* excludes the kernel, which this user may not sample: useronly.h */
	bool lowered;                   /* the kernel allows fewer samples than `rate` */
	struct stream_limit limit;
};

#define STREAM_READS_ALL UINT64_MAX
/* Value of `track` for an event that is not in the recording, or is made by a source. */
#define NO_TRACK UINT32_MAX
/* Value of `leader` for an event outside groups. */
#define NO_LEADER UINT32_MAX

/* The counts in a sample (counts.h): first the event's own, then those of its group. */
struct stream_counts {
	size_t n, room;
	bool group;
	uint8_t first, entry, id;       /* bytes: before the first entry; of one entry; from an entry's start to
					 * its id */
	struct stream_count {
		const struct stream_event *event;   /* NULL: in the recording, but not in -e */
		const char *name;
		uint64_t value, delta;  /* total so far; since the previous sample */
	} v[];
};

/* What the event list asks for. */
struct event_asked {
	const struct spec_item *item;   /* its item in the event list */
	const char *alias;              /* NULL: none */
	const char *filter;             /* as the user wrote it; NULL: none */
	const char *probe;              /* name without alias, for a tracepoint that perf-prof created (probes.h);
					 * or NULL */
	struct numlist cpus;            /* cpus=; n == 0: the CPUs of the target */
	bool chain_user, chain_kernel;  /* parts of the call chain */
	uint32_t stack_bytes;           /* bytes of user stack per sample, for unwinding; 0: the kernel walks frame
					 * pointers; CHAINS_AUTO until chainways_settle() */
	bool chain_mended;              /* the kernel walks frame pointers, and stack_bytes have the callers that these leave out */
	unsigned int max_stack;         /* frames; 0: the kernel's default */
	bool user_only;                 /* a tracepoint that is opened without the kernel: of system calls, which happen for the
					 * kernel in user space */
	bool everywhere;                /* opened for all tasks, whatever the targets are */
	bool unrecorded;                /* not recorded, because the list has the same event twice */
	bool triggers;                  /* attribute trigger: each sample requests a dump (--overwrite) */
	bool from_glob;                 /* skipped if it cannot be opened */
};

/* How it is opened, or found in a recording. */
struct event_opened {
	uint64_t id;                    /* event id of one of its descriptors */
	uint32_t track;                 /* index of the event in the recording, or NO_TRACK */
	uint32_t family;                /* index of the first event that counts the same thing on other types of
					 * CPUs (hybrid machines), usually its own: the weights of a family are
					 * added */
	uint32_t leader;                /* index of its group's leader, maybe its own; or NO_LEADER */
	bool muted;                     /* opened only because its group needs it: samples are not delivered */
	bool idle_chain;                /* its samples have a call chain of the kernel that is only for ids.h: `layout` does not
					 * show it */
	bool counted;                   /* not sampled itself: samples of the leader have its count */
	uint64_t regs_user;             /* the mask of PERF_SAMPLE_REGS_USER */
	const char *machine;            /* where it was recorded, as uname(2) names it; NULL: not known, or live */
	const struct numlist *narrow;   /* the recording's processes with 32-bit programs; NULL: live */
	uint64_t read_format;           /* for a group with S, else 0 */
	struct filter *filtered;        /* the parsed filter: filter.h */
	struct pev_format *stack_format;   /* decodes registers and stack, for asked.stack_bytes; NULL: none */
};

/* Finds the name of the task that ran: rings/running.h. The same for all events of a stream, unless its consumer, which
 * knows the names itself, has set another. */
struct event_naming {
	const char *(*comm)(void *stream, const struct stream_event *event, const struct perf_event_header *rec,
			    const void *raw);
	void *stream;
	bool needed;                    /* a filter or a source uses it */
};

/* Whether the consumer numbers call chains: the column _stack is there if it is named, or always. */
enum stack_numbers { STACKS_NONE, STACKS_NAMED, STACKS_ALWAYS };

/* One event of the list, globs expanded. */
struct stream_event {
	/* What each sample needs is together. */
	struct layout layout;           /* where the parts of its samples are */
	uint64_t each;                  /* hits that a sample without PERIOD stands for; 1 or more */
	uint32_t min_raw;               /* raw data shorter than this lacks a field */
	bool keep_own;                  /* samples of perf-prof itself are delivered, too: see is_own() in choice.c */
	uint8_t interrupts;             /* flags of common_flags with which a sample is not perf-prof's own; 0: no tracepoint */
	bool choosy;                    /* choice_offer() has to look at each sample: filter, limits, taps, counts,
					 * or muted */
	bool filter_here;               /* a part of the filter is evaluated by perf-prof */
	void *consumer;                 /* for the consumer; the stream does not touch it */
	struct event_ids *ids;          /* translation of ids between PID namespaces: ids.h; or NULL */

	const char *name;               /* as the user writes it: sys:name or sys:alias; "cycles:u" or the alias
					 * alone if it is no tracepoint */
	const char *word;               /* the name as an identifier: sys__name, cycles_u */
	const char *sys, *tracepoint;   /* NULL if it is no tracepoint */
	bool callchain;                 /* samples have one */
	const struct tracefmt *fmt;     /* NULL: no tracepoint; then its fields are the parts of its samples */
	struct stream_sampling *sampling;   /* set where fmt is NULL, else NULL */
	struct maker *maker;            /* the source that makes this event from others; or NULL */
	struct maker_tap *taps;         /* sources that receive its samples instead of the consumer; or NULL */
	struct event_naming *naming;
	struct stream_counts *counts;   /* counts in the sample being delivered; NULL: samples have none */
	struct event_asked asked;
	struct event_opened opened;

	/* Set by the consumer before stream_open(). */
	bool wanted;
	uint64_t reads;                 /* PERF_SAMPLE_* that it reads; before stream_narrow() */
	bool names_ip;                  /* it shows `ip` as a symbol */
	enum stack_numbers stacks;
};

static inline uint64_t event_period(const struct stream_event *event, const struct perf_event_header *rec)
{
	return event->layout.period ? layout_u64(rec, event->layout.period) : event->each;
}
#endif
