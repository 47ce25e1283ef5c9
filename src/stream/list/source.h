/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command as a source: its name in an event list, its options in the place of the filter, then
 * attributes: profile/-F 997 -g/alias=hot/.
 *
 * This room defines what a source is, and knows none. The room of the commands has a table of them;
 * a command that takes event lists sets stream_opts.sources to it. Every source in that table can
 * be used in -e, and `help`, -h and suggestions for misspelt names know it.
 *
 * A source consists of events. The fields of an event are the parts of its sample, by
 * attr.sample_type: see events/parts.h. It takes the targets and the clock of the stream. Its -m
 * makes the rings larger for all events, its -N ends only the source.
 *
 * Or it makes events of its own from others, which only the source sees. Those are opened like
 * events of the list, but their samples go to the source. What it makes from them goes to the
 * consumer, as if it were the sample of a tracepoint:
 *
 *	source_make(source, &made, f)           in events(): the event, its format
 *	source_watch(maker, "sched", ...)       and what it is made from
 *	made.ops->begin(state, maker, f)        the list is complete: maker_event()
 *	made.ops->sample(state, maker, ...)     for each sample; calls maker_emit()
 */
#ifndef STREAM_LIST_SOURCE_H
#define STREAM_LIST_SOURCE_H

#include "base/options.h"
#include "stream/state/consumer.h"

struct source;   /* an item of the list while it is parsed */

struct source_ops {
	const char *name;                 /* of the command */
	const char *summary;              /* one line */
	bool makes;                       /* makes its events from others, also from those of a recording */
	const struct opt_group *groups;   /* options in the filter's place */
	size_t ngroups;
	/* Size of the struct that options fill in; zeroed. It begins with a struct stream_opts, of
	 * which the call chain options, ring.bytes and exit_n are used. */
	size_t config_size;
	const void *subject;              /* for source_subject(); or NULL */
	/* Adds its events by source_add(), or makes one by source_make(), and then `config` lives
	 * as long as the maker. 0, or -1 with f. */
	int (*events)(struct source *source, void *config, struct fault *f);
};

struct source_event {
	const struct perf_event_attr *attr;   /* type, config, period, sample_type, exclude_*. TID, TIME, CALLCHAIN
					       * and what opening needs are added */
	const char *what;                 /* the name of what it counts: "cpu-clock" */
	enum stream_shape shape;
	uint64_t rate;                    /* samples a second, if attr.freq is set: rate.h */
};

/* Adds an event; copies what it is given. 0, or -1 with f. */
int source_add(struct source *source, const struct source_event *event, struct fault *f);

/* ---- sources that make events ------------------------------------------------- */

struct maker;

struct maker_ops {
	/* All events are in the list: maker_event() finds those that it watches. 0, or -1 with f. */
	int (*begin)(void *state, struct maker *m, struct fault *f);
	/* A sample of one of them, as in stream_ops.sample(). */
	void (*sample)(void *state, struct maker *m, const struct stream_event *event,
		       const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu);
	/* A record about a task, in order with the samples. May be NULL. */
	void (*task)(void *state, const struct pev_record *rec);
	/* There are no more samples: emit what is left. May be NULL. */
	void (*end)(void *state, struct maker *m);
	void (*free)(void *state);
};

/* The beginning of an event's data, as in the kernel's tracepoints; maker_emit() fills it in. */
struct made_head {
	uint16_t common_type;
	uint8_t common_flags, common_preempt_count;
	int32_t common_pid;
};

/* A field after it. */
struct made_field {
	const char *declared;             /* "char comm[16]" */
	uint16_t offset, size;            /* in the struct that begins with struct made_head */
	bool is_signed;
};
#define MADE_FIELD(type, member, declared, is_signed)                                              \
	{ declared, offsetof(type, member), sizeof(((type *)0)->member), is_signed }

struct source_made {
	const struct made_field *fields;
	size_t nfields;
	const char *print;                /* as after "print fmt:" in the format of a tracepoint */
	size_t size;                      /* bytes of an event's data, the head included */
	const struct maker_ops *ops;
	void *state;                      /* passed to ops; source_make() takes it over, even if it fails */
	bool order;                       /* it needs samples in order of time: turns on --order */
};

/* Makes the item an event that this source makes. NULL with f. */
struct maker *source_make(struct source *source, const struct source_made *made, struct fault *f);
/* Watches a tracepoint. everywhere: for all tasks, not only those of -p and -t. The names must
 * outlive the stream. 0, or -1 with f. */
int source_watch(struct maker *m, const char *sys, const char *name, bool everywhere, struct fault *f);
/* Whether a recording has samples of that tracepoint. True if live. */
bool source_has(const struct maker *m, const char *sys, const char *name);
/* source_ops.subject of the source. */
const void *source_subject(const struct source *source);
/* The options with the targets of the stream: -p, -t and so on. */
const struct stream_opts *source_targets(const struct source *source);

/* In begin(): an event that it watches, or NULL. */
struct stream_event *maker_event(struct maker *m, const char *sys, const char *name);
struct tracefmt_db *maker_formats(struct maker *m);
struct stream *maker_stream(struct maker *m);
/* In sample() and end(): maker_fields() returns the zeroed data of the next event; maker_emit()
 * delivers it. */
void *maker_fields(struct maker *m);
void maker_emit(struct maker *m, uint64_t time, pid_t pid, pid_t tid);

/* The registers that are sampled on this machine, for attr.sample_regs_user and _intr. */
uint64_t source_registers(void);

/* Whether the name is a source's that hides a software event of the same name, which is then sw:NAME. */
bool source_hides_event(const struct stream *s, const char *name);

/* Finds a source in a table that ends with NULL; the table may be NULL. NULL: there is none. */
const struct source_ops *source_find(const struct source_ops *const *table, const char *name);
#endif
