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
	struct wish *wishes;        /* tracepoints that they watch, and who does */
	size_t nwishes;
};

/* The event list: list/list.h. */
struct stream_list {
	char tracefs[256];
	struct tracefmt_db *formats;
	struct spec_list specs;
	struct stream_event *events;   /* the consumer's, then those that makers watch */
	size_t nevents;
	size_t nshown;              /* the consumer's */
	size_t first;               /* index of the first one that is opened; if all have one layout, it is this one's */
	struct makers makers;
	struct probes probes;       /* kprobes and uprobes that we created */
	struct pev_event **trials;  /* one per event, or NULL: events opened to try filters */
	bool filters_here;          /* some filters are evaluated by us */
	bool has_others;            /* events other than tracepoints: each has its own layout */
	bool each_counts_one;       /* samples carry no PERIOD */
};

/* Which event a sample belongs to, and whether it is delivered: choice/choice.h. */
struct stream_choice {
	struct stream_event *by_type[65536];   /* common_type -> event, unless mixed */
	uint8_t plain_raw;          /* offset of raw data in all samples, or 0 */
	bool mixed;                 /* samples carry IDENTIFIER: aliases, several layouts, or no raw data */
	bool strays;                /* some may carry another program's: strays.h */
	struct id_slot *by_id;      /* open addressing, unless !mixed */
	size_t id_mask;
	struct own own;             /* tasks whose samples are not delivered */
	struct counts *counts;      /* NULL: no sample has counts */
};

/* What was opened, and the order in which it is read: rings/rings.h. */
struct stream_rings {
	struct ring *v;
	size_t n;
	struct opened *opened;
	size_t nopened;
	bool uneven;                /* the sampling rate limit fell while events were opened: rates differ */
	bool has_lost_format;       /* the kernel knows PERF_FORMAT_LOST */
	bool reads_alone;           /* events with counts in their samples can't be inherited */
	bool filter_self;           /* the kernel drops samples of our main thread */
	pid_t own_tid;              /* our main thread's id in the initial PID namespace; 0: not known */
	struct pidmap *pids;        /* ids in two PID namespaces: ids.h; NULL: there is one */
	uint64_t most_bytes;        /* of all rings, when they grow */
	uint64_t least_bytes;       /* ring size that a source wants, or 0 */
	struct backlog_thread *mover;   /* --buffer */
	struct order *order;        /* --order, or NULL */
	struct barrier barrier;
	uint64_t newest;            /* --order: latest time read from any ring */
	unsigned int slice;         /* number of the slice that is being read */
	unsigned int side_slice;    /* the slice at which the sideband was last collected */
};

/* A run, from enabling to the last sample. */
struct stream_run {
	const struct stream_ops *ops;
	void *ctx;
	struct attention attention;
	int epoll;
	int end_with;               /* the run ends when this descriptor becomes readable; or -1 */
	bool with_exec;             /* events of tasks are enabled by exec */
	pid_t is_to_exec;           /* a child that execs once the run has started; 0: none */
	size_t tasks_left;
	enum stop_cause stop;
	bool stopping;              /* deliver nothing more */
	bool draining;              /* disabled; what the rings still hold is delivered */
	bool deadline;              /* 500 ms after a signal */
};

/* What was lost, and what of it was reported on stderr, at most one line a second. */
struct stream_losses {
	struct stream_totals totals;
	struct throttles throttles;
	bool ring_was_full;         /* while it was read live */
	struct {
		uint64_t lost, lost_ns;
		uint64_t throttled, throttled_ns, throttled_lost;
		bool growth, remedy;
	} reported;
};

/* --record: record/recorder.h. */
struct stream_record {
	struct perfdata_writer *writer;   /* NULL: nothing is recorded */
	struct buildids *buildids;        /* of sampled files; may be NULL */
	struct jitnames *jitnames;        /* likewise, of JIT code */
	uint64_t identifier;        /* of the sideband's events; 0: none */
	uint64_t rounded;           /* size at the last round */
	uint64_t flushed_ns, began_ns;   /* CLOCK_MONOTONIC */
	bool wants_switch;
	bool error_reported;
	char **old;                 /* files before the present one */
	size_t nold;
	bool one_file;              /* the next could not be created */
};

/* --overwrite: record/dumps.h. */
struct stream_dumps {
	struct flight *flight;      /* NULL: records go to the file at once */
	struct dump_moment {
		uint64_t time, until;   /* of the first and the last request for this file; 0: none */
		const char *why;
	} asked, next;
	struct fault trouble;       /* why the file can't be created */
};

struct stream {
	const struct stream_opts *opts;
	struct stream_list list;
	struct stream_choice choice;
	struct stream_rings rings;
	struct stream_run run;
	struct stream_losses loss;
	struct stream_record record;
	struct stream_dumps dumps;
	struct targets targets;
	struct task_target everybody;   /* the target of events that are opened everywhere */
	struct sideband *sideband;  /* NULL: could not be had */
	bool wants_data;            /* mappings of data are asked for, too */
	struct perf_clock clock;
	struct hotplug hotplug;
	struct usage usage;
	struct replay *replay;      /* --input, or NULL */
};

/* A sample that was chosen, to the consumer. */
static inline void stream_hand_over(struct stream *s, const struct stream_event *event,
				    const struct perf_event_header *rec, const void *raw,
				    uint32_t raw_size, uint32_t cpu)
{
	s->run.ops->sample(s->run.ctx, event, rec, raw, raw_size, cpu);
	if (++s->loss.totals.delivered == s->opts->exit_n)
		stream_stop(s);
}
#endif
