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
 *
 * Or it makes events of its own out of others, which it alone sees: the first ones are
 * opened like those of the list, their samples go to the source, and what it makes of them
 * goes to the consumer as if it were a tracepoint's sample.
 *
 *	source_make(source, &made, f)           in events(): the event, its format
 *	source_watch(maker, "sched", ...)       and what it is made of
 *	made.ops->begin(state, maker, f)        all are known: maker_event()
 *	made.ops->sample(state, maker, ...)     each sample; calls maker_emit()
 */
#ifndef STREAM_LIST_SOURCE_H
#define STREAM_LIST_SOURCE_H

#include "base/options.h"
#include "stream/state/consumer.h"

struct source;   /* one item of a list while it is taken apart */

struct source_ops {
	const char *name;                 /* the command's */
	const char *summary;              /* one line */
	bool makes;                       /* events of its own, out of others: of recordings, too */
	const struct opt_group *groups;   /* options in the filter's place */
	size_t ngroups;
	/* What options fill in, zeroed; its head is a struct stream_opts, of which call
	 * chains, ring.bytes and exit_n count. */
	size_t config_size;
	const void *subject;              /* source_subject(); or NULL */
	/* Adds its events by source_add(), or makes one by source_make(): then `config` stays until the maker ends.
	 * 0, or -1 with f. */
	int (*events)(struct source *source, void *config, struct fault *f);
};

struct source_event {
	const struct perf_event_attr *attr;   /* type, config, period, sample_type, exclude_*: TID,
					       * TIME and CALLCHAIN are added, and what opening needs */
	const char *what;                 /* what is counted, as it prints: "cpu-clock" */
	enum stream_shape shape;
	uint64_t rate;                    /* samples a second, where attr.freq is set: rate.h */
};

/* Adds an event: 0, or -1 with f. What is handed over is copied. */
int source_add(struct source *source, const struct source_event *event, struct fault *f);

/* ---- sources that make events ------------------------------------------------- */

struct maker;

struct maker_ops {
	/* The events that it watches are known: 0, or -1 with f. */
	int (*begin)(void *state, struct maker *m, struct fault *f);
	/* A sample of one of them, as stream_ops.sample() has it. */
	void (*sample)(void *state, struct maker *m, const struct stream_event *event,
		       const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu);
	/* Of a recording, what tells of tasks, in its place between the samples. NULL: nothing. */
	void (*task)(void *state, const struct pev_record *rec);
	/* No sample comes any more: what is left to be told is. NULL: nothing. */
	void (*end)(void *state, struct maker *m);
	void (*free)(void *state);
};

/* At the head of what an event brings, as the kernel's tracepoints have it; filled in by
 * maker_emit(). */
struct made_head {
	uint16_t common_type;
	uint8_t common_flags, common_preempt_count;
	int32_t common_pid;
};

/* A field behind it. */
struct made_field {
	const char *declared;             /* "char comm[16]" */
	uint16_t offset, size;            /* in the struct that begins with a made_head */
	bool is_signed;
};
#define MADE_FIELD(type, member, declared, is_signed)                                              \
	{ declared, offsetof(type, member), sizeof(((type *)0)->member), is_signed }

struct source_made {
	const struct made_field *fields;
	size_t nfields;
	const char *print;                /* as behind "print fmt:" of a tracepoint's format */
	size_t size;                      /* bytes that an event brings, the head included */
	const struct maker_ops *ops;
	void *state;                      /* for them; from here on theirs, also after an error */
	bool order;                       /* it has to see things in order of time: --order */
};

/* Makes the item's event one that is made here. NULL with f. */
struct maker *source_make(struct source *source, const struct source_made *made, struct fault *f);
/* Watches a tracepoint for it; everywhere: also of tasks that are not -p or -t. 0, or -1
 * with f. The names outlive the stream. */
int source_watch(struct maker *m, const char *sys, const char *name, bool everywhere, struct fault *f);
/* Whether a recording has samples of that tracepoint; live ones are all there. */
bool source_has(const struct maker *m, const char *sys, const char *name);
/* Of the source's ops. */
const void *source_subject(const struct source *source);
/* Whom the stream is about: -p, -t and so on. */
const struct stream_opts *source_targets(const struct source *source);

/* In begin(): an event that it watches. */
struct stream_event *maker_event(struct maker *m, const char *sys, const char *name);
struct tracefmt_db *maker_formats(struct maker *m);
/* In sample() and end(): where the fields of the next event go, zeroed; and the event is there. */
void *maker_fields(struct maker *m);
void maker_emit(struct maker *m, uint64_t time, pid_t pid, pid_t tid);

/* The registers that this machine samples, for attr.sample_regs_user and _intr. */
uint64_t source_registers(void);

/* Whether the name is a source's that has a software event of the same name: sw:NAME. */
bool source_hides_event(const struct stream *s, const char *name);

/* Of a table, NULL terminated, which may be NULL itself. */
const struct source_ops *source_find(const struct source_ops *const *table, const char *name);
#endif
