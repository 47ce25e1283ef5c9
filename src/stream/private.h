/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share. */
#ifndef STREAM_PRIVATE_H
#define STREAM_PRIVATE_H

#include "events/probes.h"
#include "events/spec.h"
#include "perfevent.h"
#include "stream/asked/filter.h"
#include "stream/asked/rate.h"
#include "stream/attend.h"
#include "stream/counts.h"
#include "stream/dumps.h"
#include "stream/eventlist.h"
#include "stream/groups.h"
#include "stream/grow.h"
#include "stream/live/attention.h"
#include "stream/live/backlog.h"
#include "stream/live/barrier.h"
#include "stream/live/clock.h"
#include "stream/live/hotplug.h"
#include "stream/live/own.h"
#include "stream/live/throttle.h"
#include "stream/live/usage.h"
#include "stream/maker.h"
#include "stream/mappings.h"
#include "stream/openattr.h"
#include "stream/order/order.h"
#include "stream/pevfault.h"
#include "stream/record/buildids.h"
#include "stream/record/jitnames.h"
#include "stream/recorder.h"
#include "stream/replay.h"
#include "stream/stream.h"
#include "stream/watched/sideband.h"
#include "stream/watched/targets.h"

/* One opened event: event × task × CPU. */
struct opened {
	struct pev_event *ev;
	struct stream_event *event;
	struct ring *ring;
	const struct task_target *task;
};

/* One CPU's ring. Its descriptor is a dummy event of our own thread, so that the end
 * of a watched task never takes the wake-ups away. */
struct ring {
	struct pev_event *owner;
	struct pev_ring *ring;
	struct backlog *backlog;    /* --buffer: `ring` is its; else NULL */
	int cpu;
	struct growth *growth;      /* a larger ring is about to take its place; else NULL */
	bool full_grown;            /* it gets no larger */
	uint64_t lost;              /* told by LOST records that were read */
	uint64_t lost_before;       /* of them, by the time that it became as large as it is */
	uint64_t damaged;
	uint64_t second, this_second;   /* --sampling-limit: since then, so many */
	uint64_t gap;               /* --order: lost since the last sample read */
	uint64_t read_time;         /* --order, and of a recording: of the last sample read */
	uint64_t first_time;        /* of a recording: of the first */
	uint64_t ahead, ahead_of;   /* --order: in so many bytes, known up to that time */
};

enum stop_cause {
	STOP_NOT,
	STOP_SIGNAL,
	STOP_TARGET,                /* all watched tasks ended */
	STOP_CONSUMER,              /* -N, or the consumer said so */
};

enum { SLICE_BYTES = 64 << 10 };   /* what one ring gets in its turn */

struct id_slot {
	uint64_t id;
	struct stream_event *event;
};

struct stream {
	const struct stream_opts *opts;
	char tracefs[256];
	struct tracefmt_db *formats;
	struct spec_list specs;
	struct stream_event *events;
	size_t nevents;
	size_t nshown;              /* the consumer's: the first of them */
	size_t first;               /* the first that is opened; if none differs, all are like it */
	struct makers makers;
	struct task_target everybody;   /* the target of events that are opened everywhere */
	struct probes probes;       /* those of our own making */
	struct targets targets;
	bool mixed;                 /* samples carry IDENTIFIER: aliases, several layouts, or no raw data */
	bool strays;                /* some may carry another program's: strays.h */
	bool each_counts_one;       /* samples carry no PERIOD */
	bool has_others;            /* events that are no tracepoints: each has its own layout */
	bool has_lost_format;       /* PERF_FORMAT_LOST is known to this kernel */
	struct own own;             /* whose samples are not delivered */
	bool reads_alone;           /* events with counts in their samples can't be inherited */
	struct counts *counts;      /* NULL: no sample has any */
	bool filters_here;          /* some filters are evaluated by us */
	bool filter_self;           /* the kernel drops those of our main thread itself */
	pid_t own_tid;              /* its id as the kernel has it; 0: not known */
	struct pidmap *pids;        /* of ids.h; NULL: there is one namespace */

	struct pev_event **trials;  /* one per event, or NULL: filters tried */
	struct opened *opened;
	size_t nopened;
	bool uneven;                /* the limit on frequencies fell below one that was open by then */
	struct ring *rings;
	size_t nrings;
	uint64_t most_ring_bytes;   /* of all rings, when they grow */
	bool wants_data;            /* mappings of data are asked for, too */
	uint64_t least_ring;        /* bytes that a source wants, or 0 */

	struct stream_event *by_type[65536];   /* common_type -> event, unless mixed */
	uint8_t plain_raw;          /* offset of raw data in all samples, or 0 */
	struct id_slot *by_id;                 /* open addressing, unless !mixed */
	size_t id_mask;

	struct attention attn;
	const struct stream_ops *ops;
	void *ctx;
	int epoll;
	bool with_exec;             /* tasks' events begin when their task execs */
	pid_t is_to_exec;           /* a child that will, once the run has started; 0: none */
	int end_with;               /* readable: the run is over; or -1 */
	size_t tasks_left;
	enum stop_cause stop;
	bool stopping;              /* deliver nothing more */
	bool draining;              /* disabled; what the rings still hold is delivered */
	bool deadline;              /* 500 ms after a signal */
	struct stream_totals totals;
	struct throttles throttles;
	struct hotplug hotplug;
	uint64_t told_throttled, told_throttled_ns, told_throttled_lost;
	uint64_t told_lost, told_lost_ns;      /* at most one line a second on stderr */
	bool ring_was_full, told_growth, told_remedy;   /* while it was read live; and what helps, once */
	struct perf_clock clock;
	struct sideband *sideband;  /* NULL: could not be had */
	unsigned int slice;         /* of a ring, counted */
	unsigned int side_slice;    /* the one for which the sideband was last collected */
	struct order *order;        /* --order, or NULL */
	struct barrier barrier;
	struct backlog_thread *mover;   /* --buffer */
	struct usage usage;
	struct replay *replay;      /* --input, or NULL */
	struct perfdata_writer *writer;   /* --record, or NULL */
	struct buildids *buildids;        /* of what is recorded; may be NULL */
	struct jitnames *jitnames;        /* likewise */
	bool told_record_error;
	struct {
		uint64_t identifier;        /* of the events that tell who is there; 0: none */
		uint64_t rounded;           /* size at the last round */
		uint64_t flushed_ns, began_ns;   /* CLOCK_MONOTONIC */
		bool wants_switch;
		char **old;                 /* files before the present one */
		size_t nold;
		bool one_file;              /* the next could not be begun */
	} recording;
	struct {
		struct flight *flight;      /* NULL: what is recorded goes to the file at once */
		struct dump_moment {
			uint64_t time, until;   /* 0: none; the last one that is in the same file */
			const char *why;
		} asked, next;
		struct fault trouble;       /* the file that can't be created */
	} dumps;
	uint64_t newest;            /* --order: latest time read from any ring */
};

/* events.c */
int events_from_specs(struct stream *s, struct fault *f);

/* layouts.c */
/* What samples of each event have, by what is asked for and read: 0, or -1 with f. */
int layouts_choose(struct stream *s, struct fault *f);

/* eventattr.c */
enum event_kind {
	EVENT_TRACEPOINT = 1 << 0, EVENT_PROBE = 1 << 1, EVENT_PLAIN = 1 << 2,
	EVENT_SOURCE = 1 << 3,   /* that samples */
	EVENT_MADE = 1 << 4,     /* that is made here, of other events */
};
/* Whether samples have registers and stack in place of the user's part of their chain. */
bool event_is_unwound(const struct perf_event_attr *a);
/* Sets what the item's attributes say; one of which the command makes no use is an error. 0, or -1 with f. */
int event_attrs_set(const struct stream *s, struct stream_event *ev, const struct spec_item *item, enum event_kind kind,
		    struct fault *f);
/* Whether items may have an attribute of that name. */
bool event_attr_exists(const char *name);

/* plain.c: perf events that are no tracepoints. */
enum plain_answer { PLAIN_NONE, PLAIN_ADDED, PLAIN_FAILED };
enum plain_answer plain_add(struct stream *s, const struct spec_item *item, struct fault *f);
enum { PLAIN_TEXT_SIZE = 600 };
/* Whether the item is one event by its name: no glob. */
bool plain_is_single(const struct spec_item *item);
/* Whether its first slot has terms, and is no filter. */
bool plain_has_terms(const struct spec_item *item);
/* The item as the library takes it: "cycles:u", "cpu/event=1,umask=2/u". */
void plain_text(const struct spec_item *item, char *buf, size_t size);

/* probeitem.c */
enum { PROBE_SHOWN_SIZE = 300 };
/* What the item's probe is called: without its path. False: it is no probe. */
bool probe_item_name(const struct spec_item *item, char *buf, size_t size);
enum plain_answer probe_add_item(struct stream *s, const struct spec_item *item, struct fault *f);

/* source.c */
enum plain_answer source_add_item(struct stream *s, const struct spec_item *item, struct fault *f);

/* filters.c */
/* Takes the filters of all events apart, and asks the kernel: 0, or -1 with f. */
int filters_prepare(struct stream *s, struct fault *f);
void filters_forget(struct stream *s);
/* Tells on stderr what filters had no value for. */
void filters_tell(const struct stream *s);

/* ids.c */
/* All that is wanted is known: pairs the ids of tasks. 0, or -1 with f. */
int ids_begin(struct stream *s, struct fault *f);
void ids_end(struct stream *s);
/* Whether ids mean the same to the kernel, to /proc and to us, or can be paired: 0, or -1 with f. */
int ids_check(struct fault *f);
/* For sideband_set_consumer(), of a struct stream: what it tells, and hands on. */
void ids_take_task(void *ctx, const struct pev_record *rec);

/* open.c */
int open_all(struct stream *s, struct fault *f);
void close_all(struct stream *s);

/* closer.c: the end of the pipe that holds the descriptors in another process, or -1. */
int closer_start(struct stream *s);
void closer_release(int fd);

/* drain.c */
/* Delivers up to one slice of every ring; returns whether something is left. */
bool drain_round(struct stream *s);
/* Counts what is left as lost, without delivering. */
void drain_discard(struct stream *s);
/* For ordered.c: one sample to the consumer. */
void drain_deliver(struct stream *s, struct ring *ring, const struct perf_event_header *rec);

/* ordered.c: the same in time order. */
int ordered_start(struct stream *s, struct fault *f);
void ordered_stop(struct stream *s);
bool ordered_round(struct stream *s);
void ordered_discard(struct stream *s);

/* loss.c */
/* start and end: times of the samples around the gap, 0 where they are not known. */
void loss_add(struct stream *s, struct ring *ring, uint64_t count, enum stream_loss_cause cause,
	      uint64_t start, uint64_t end);
void loss_tail(struct stream *s);
/* Into the recording, if there is one: what the ring lost and nothing else in it tells, behind the last
 * record or because it was not taken any more. */
void loss_record(struct stream *s, const struct ring *ring, uint64_t count);
/* What the kernel counted, where nothing more is asked. */
void loss_count(struct stream *s);
void loss_tell(struct stream *s, bool now);

/* throttling.c: THROTTLE and UNTHROTTLE of a ring, and samples while something is throttled. */
void throttling_take(struct stream *s, struct ring *ring, const struct stream_event *event, uint32_t type,
		     const struct pev_throttle *record);
void throttling_end(struct stream *s, struct ring *ring, const struct stream_event *event, uint64_t time);
/* The end of all, at that time. */
void throttling_finish(struct stream *s, uint64_t time);
/* On stderr, at most once a second. */
void throttling_tell(struct stream *s);

/* A sample that was chosen, to the consumer. */
static inline void stream_hand_over(struct stream *s, const struct stream_event *event,
				    const struct perf_event_header *rec, const void *raw,
				    uint32_t raw_size, uint32_t cpu)
{
	s->ops->sample(s->ctx, event, rec, raw, raw_size, cpu);
	if (++s->totals.delivered == s->opts->exit_n)
		stream_stop(s);
}

/* loop.c */
#define LOOP_RING UINT64_MAX   /* epoll data of a ring: there is nothing to remember */
#endif
