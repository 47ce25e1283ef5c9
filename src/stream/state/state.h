/* SPDX-License-Identifier: Apache-2.0 */
/* struct stream, as all its rooms see it: what the user asked for, what is open, and the progress
 * of the run. */
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
#include "stream/recording/files.h"
#include "stream/recording/recording.h"
#include "stream/state/consumer.h"
#include "stream/state/pevfault.h"
#include "stream/watched/sideband.h"
#include "stream/watched/targets.h"

#include <perfevent.h>

/* One opened event. They exist for each event × task × CPU. */
struct opened {
	struct pev_event *ev;
	struct stream_event *event;
	struct ring *ring;
	const struct task_target *task;
	bool gone;                  /* its CPU was offline: a later one took its place */
};

/* The ring of one CPU. Its descriptor is a dummy event of our own thread, so that wakeups do not
 * stop when a watched task ends. */
struct ring {
	struct pev_event *owner;
	struct pev_ring *ring;
	struct backlog *backlog;    /* --buffer: owns `ring`; else NULL */
	int cpu;
	struct growth *growth;      /* a larger ring that will replace this one; else NULL */
	bool full_grown;            /* it does not grow any more */
	uint64_t lost;              /* as reported by its LOST records */
	uint64_t lost_before;       /* `lost` when the ring got its present size */
	uint64_t damaged;
	uint64_t second, this_second;   /* --sampling-limit: start of the present second; events in it */
	uint64_t gap;               /* --order, or a recording: events lost since the last sample read */
	uint64_t waiting, behind;   /* bytes that were there when the round began; of them, those that the backlog had no room for */
	uint64_t read_time;         /* --order, or a recording: time of the last sample read */
	uint64_t first_time;        /* a recording: time of the first sample */
	uint64_t ahead, ahead_of;   /* --order: when this many more bytes are read, the ring has no more samples
				     * before `ahead_of` */
};

enum stop_cause {
	STOP_NOT,
	STOP_SIGNAL,
	STOP_TARGET,                /* all watched tasks have ended */
	STOP_CONSUMER,              /* -N, or stream_stop() */
};

#define LOOP_RING UINT64_MAX       /* epoll data for all rings */
enum { SLICE_BYTES = 64 << 10 };   /* bytes that a ring may deliver before the next one's turn */

/* Parts that every event of a recording needs, the sideband's included. */
#define RECORDER_SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_CPU)

struct id_slot {
	uint64_t id;
	struct stream_event *event;
};

struct buildids;
struct codefiles;
struct counts;
struct flight;
struct jitnames;
struct perfdata_writer;
struct pidmap;
struct wish;

/* Events made by sources: list/maker.h. */
struct makers {
	struct maker **v;
	size_t n;
	struct wish *wishes;        /* tracepoints that sources watch, and which source */
	size_t nwishes;
};

/* The event list: list/list.h. */
struct stream_list {
	char tracefs[256];
	enum { USER_ONLY_UNKNOWN, USER_ONLY, USER_ONLY_NOT } user_only;   /* useronly_is_needed(), which is asked for each tracepoint */
	struct tracefmt_db *formats;
	struct spec_list specs;
	struct stream_event *events;   /* those of the consumer, then those that sources watch */
	size_t nevents;
	size_t nshown;              /* number of those of the consumer */
	size_t first;               /* index of the first one that is opened; if all have one layout, its layout
				     * counts */
	struct makers makers;
	struct probes probes;       /* kprobes and uprobes created by this run */
	struct pev_event **trials;  /* one per event, or NULL: events opened to test filters */
	bool filters_here;          /* some filters are evaluated in user space */
	bool has_others;            /* some events are no tracepoints; then each event has its own layout */
	bool each_counts_one;       /* samples have no PERIOD */
};

/* How samples are assigned to events and chosen for delivery: choice/choice.h. */
struct stream_choice {
	struct stream_event *by_type[65536];   /* by common_type, unless mixed */
	uint8_t plain_raw;          /* offset of raw data if it is the same in all samples, else 0 */
	bool mixed;                 /* samples have IDENTIFIER, because common_type cannot tell events apart:
				     * aliases, several layouts, or no raw data */
	bool strays;                /* samples may have the id of another program's event: strays.h */
	struct id_slot *by_id;      /* if mixed: hash table with open addressing */
	size_t id_mask;
	struct own own;             /* processes whose samples are not delivered */
	struct counts *counts;      /* NULL: no event has counts in its samples */
};

/* The rings and the events opened into them: rings/rings.h. */
struct stream_rings {
	struct ring *v;
	size_t n;
	struct opened *opened;
	size_t nopened;
	bool uneven;                /* the kernel's limit on frequencies fell during opening: some events have a
				     * higher frequency than others */
	bool has_lost_format;       /* the kernel knows PERF_FORMAT_LOST */
	bool reads_alone;           /* the kernel cannot inherit events with counts in their samples */
	bool inherits_probes;       /* of programs */
	bool filter_self;           /* the kernel's filters drop samples of our main thread */
	pid_t own_tid;              /* tid of our main thread in the initial PID namespace; 0: not known */
	struct event_naming naming; /* running.h */
	struct comms *comms;        /* NULL: no filter and no source needs names of tasks */
	struct recorded recorded;   /* for a recording: what comms may ask of /proc */
	struct idlecode *idle;      /* idlecode.h; NULL: not needed */
	struct comms *outside;      /* names of tasks outside of the PID namespace: ids.h; NULL: not needed */
	struct pidmap *pids;        /* pairs of ids in two PID namespaces: ids.h; NULL: not needed */
	uint64_t most_bytes;        /* limit for all rings together when they grow */
	uint64_t least_bytes;       /* ring size that a source asks for, or 0 */
	uint64_t wanted_bytes;      /* ring size before the limit on locked memory */
	bool limited;               /* that limit made rings smaller, or keeps them from growing */
	struct backlog_thread *mover;   /* --buffer */
	struct order *order;        /* --order, or NULL */
	struct barrier barrier;
	uint64_t newest;            /* --order: latest time read from any ring */
	struct slowing {            /* slower.h */
		bool allowed;
		uint64_t ns, delivered, lost;   /* the last time: CLOCK_MONOTONIC, and totals then */
	} slowing;
	uint64_t side_time;         /* latest time that was read from the sideband before the rings' heads were */
	uint64_t settled;           /* all samples before this time were passed on */
};

/* One run, from enabling the events to the last sample. */
struct stream_run {
	const struct stream_ops *ops;
	void *ctx;
	struct attention attention;
	int epoll;
	int end_with;               /* the run ends when this descriptor is readable; -1: none */
	int watched;                /* the consumer's descriptor; -1: none */
	bool with_exec;             /* exec enables the events of tasks */
	pid_t is_to_exec;           /* pid of a child that execs after the run has started; 0: none */
	size_t tasks_left;
	bool unwatched;             /* the kernel has removed the events of a task that went on: tasks/unwatched.h */
	enum stop_cause stop;
	bool stopping;              /* deliver nothing more */
	bool draining;              /* events are disabled, the rings are delivered to their end */
	bool deadline;              /* 500 ms have passed since the signal */
};

/* Samples that the consumer gets together: samples(). Their memory stays valid until stream_flush(). */
struct stream_gathered {
	size_t n;
	struct stream_samples v;
};

/* What was lost, and how much of it was reported on stderr (at most once a second). */
struct stream_losses {
	struct stream_totals totals;
	struct throttles throttles;
	bool ring_was_full;         /* a ring lost events while it was read live */
	struct {
		uint64_t lost, lost_ns;
		uint64_t throttled, throttled_ns, throttled_lost;
		bool growth, remedy;
	} reported;
};

/* --record: record/recorder.h. */
struct stream_record {
	struct perfdata_writer *writer;   /* NULL: no recording */
	bool failed;                 /* it could not be written, or not whole */
	struct buildids *buildids;        /* build ids of mapped files; may be NULL */
	struct codefiles *codefiles;      /* sampled files that are kept; may be NULL */
	struct jitnames *jitnames;        /* names of JIT code; may be NULL */
	char *folders;              /* lines of stream_keep_folder() */
	size_t nfolders, folders_room;
	bool lacks_folders;
	bool has_ended;             /* --max-size was reached */
	uint64_t identifier;        /* id of the sideband's events; 0: none */
	uint64_t newest_id;         /* of the events that the file names; the kernel numbers events upwards */
	uint64_t rounded;           /* file size at the last round */
	uint64_t flushed_ns, began_ns;   /* CLOCK_MONOTONIC: last flush; start of the file */
	bool wants_switch;
	bool is_full;               /* what comes next belongs into a new file */
	bool error_reported;
	char **old;                 /* paths of older files, oldest first */
	size_t nold;
	bool one_file;              /* the next file could not be created: no more switching */
};

/* --overwrite: record/dumps.h. */
struct stream_dumps {
	struct flight *flight;      /* NULL: records are written at once */
	struct dump_moment {
		uint64_t time, until;   /* perf clock, ns: first and last request for this dump; 0: none */
		const char *why;
	} asked, next;
	struct fault trouble;       /* why a file could not be created */
};

struct stream {
	const struct stream_opts *opts;
	struct stream_list list;
	struct stream_choice choice;
	struct stream_rings rings;
	struct stream_run run;
	struct stream_gathered gathered;
	struct stream_losses loss;
	struct stream_record record;
	struct stream_dumps dumps;
	struct targets targets;
	struct task_target everybody;   /* the target of events that are opened for all tasks */
	struct sideband *sideband;  /* NULL: could not be opened */
	uint64_t tasks_due;         /* time of the earliest record of the sideband that waits; UINT64_MAX: none does */
	bool wants_mappings;        /* whatever samples have */
	bool wants_data;            /* mappings of data are needed, too */
	struct perf_clock clock;
	struct hotplug hotplug;
	struct usage usage;
	struct replay *replay;      /* --input, or NULL */
};

void stream_flush_gathered(struct stream *s);

/* Passes what was gathered to the consumer: before the memory of a sample is used again, and before all other
 * calls of the consumer. */
static inline void stream_flush(struct stream *s)
{
	if (__builtin_expect(s->gathered.n != 0, 0))
		stream_flush_gathered(s);
}

/* Reads how much is in the rings, and then, from the sideband, at least what was written before that. */
void stream_begin_round(struct stream *s);
/* Passes records of the sideband (COMM, MMAP2 and others) up to `time` to the consumer. Not from within a lookup. */
void stream_take_tasks(struct stream *s, uint64_t time);

/* Call it before a live sample is chosen: the records about tasks from before it come first. */
static inline void stream_tasks_before(struct stream *s, const struct stream_event *event, const struct perf_event_header *rec)
{
	const uint64_t time = layout_u64(rec, event->layout.time);

	if (__builtin_expect(time >= s->tasks_due, 0))
		stream_take_tasks(s, time);
}

enum { STREAM_FEW_ALIKE = 16 };         /* fewer are cheaper to gather */

/* Passes chosen samples to the consumer. Their memory may be reused afterwards. */
static inline void stream_pass_alike(struct stream *s, const struct stream_alike *v)
{
	stream_flush(s);
	s->loss.totals.delivered += v->n;
	s->run.ops->alike(s->run.ctx, v);
}

/* Passes a chosen sample to the consumer, and ends the run at -N. */
static inline void stream_hand_over(struct stream *s, const struct stream_event *event,
				    const struct perf_event_header *rec, const void *raw,
				    uint32_t raw_size, uint32_t cpu)
{
	stream_flush(s);
	s->run.ops->sample(s->run.ctx, event, rec, raw, raw_size, cpu);
	if (++s->loss.totals.delivered == s->opts->exit_n)
		stream_stop(s);
}

/* stream_hand_over() for a sample whose memory stays valid until the caller calls stream_flush(). */
static inline void stream_gather(struct stream *s, const struct stream_event *event,
				 const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu)
{
	const size_t at = s->gathered.n;
	struct stream_samples *v = &s->gathered.v;

	if (!s->run.ops->samples) {
		stream_hand_over(s, event, rec, raw, raw_size, cpu);
		return;
	}
	v->rec[at] = rec;
	v->raw[at] = raw;
	v->event[at] = event;
	v->cpu[at] = cpu;
	if ((s->gathered.n = at + 1) == STREAM_SAMPLES)
		stream_flush_gathered(s);
	if (++s->loss.totals.delivered == s->opts->exit_n)
		stream_stop(s);
}

/* stream_gather() for each sample. */
void stream_gather_alike(struct stream *s, const struct stream_alike *alike);
#endif
