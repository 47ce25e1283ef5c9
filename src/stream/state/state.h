/* SPDX-License-Identifier: Apache-2.0 */
/* A stream, as all its rooms see it: what was asked for, what was opened, how far it came. */
#ifndef STREAM_STATE_STATE_H
#define STREAM_STATE_STATE_H

#include "events/probes.h"
#include "events/spec.h"
#include "stream/asked/rate.h"
#include "stream/live/attention.h"
#include "stream/live/backlog.h"
#include "stream/live/barrier.h"
#include "stream/live/clock.h"
#include "stream/live/hotplug.h"
#include "stream/live/own.h"
#include "stream/live/throttle.h"
#include "stream/live/usage.h"
#include "stream/order/order.h"
#include "stream/recording/recording.h"
#include "stream/state/consumer.h"
#include "stream/state/pevfault.h"
#include "stream/watched/sideband.h"
#include "stream/watched/targets.h"

#include <perfevent.h>

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

#define LOOP_RING UINT64_MAX       /* epoll data of a ring */
enum { SLICE_BYTES = 64 << 10 };   /* what one ring gets in its turn */

/* Bits of sample_type that a file needs in every event, the sideband's included. */
#define RECORDER_SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_CPU)

struct id_slot {
	uint64_t id;
	struct stream_event *event;
};

struct buildids;
struct counts;
struct flight;
struct jitnames;
struct perfdata_writer;
struct pidmap;
struct wish;

/* Events that are made here: list/maker.h. */
struct makers {
	struct maker **v;
	size_t n;
	struct wish *wishes;         /* what is watched, by whom */
	size_t nwishes;
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

/* A sample that was chosen, to the consumer. */
static inline void stream_hand_over(struct stream *s, const struct stream_event *event,
				    const struct perf_event_header *rec, const void *raw,
				    uint32_t raw_size, uint32_t cpu)
{
	s->ops->sample(s->ctx, event, rec, raw, raw_size, cpu);
	if (++s->totals.delivered == s->opts->exit_n)
		stream_stop(s);
}
#endif
