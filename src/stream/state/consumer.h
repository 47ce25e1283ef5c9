/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream passes to its consumer, and what the consumer may call meanwhile. */
#ifndef STREAM_STATE_CONSUMER_H
#define STREAM_STATE_CONSUMER_H

#include "stream/asked/event.h"
#include "stream/asked/opts.h"

struct stream;
struct pev_record;

enum stream_loss_cause {
	STREAM_LOSS_RING,               /* the ring was full */
	STREAM_LOSS_TAIL,               /* full at the end, so no LOST record was written */
	STREAM_LOSS_STOP,               /* not delivered: the run ended, or memory was short */
	STREAM_LOSS_DAMAGED,            /* damaged bytes, or samples of an unknown event */
	STREAM_LOSS_THROTTLED,          /* the kernel paused an event: a span of time, count is 0 */
};

struct stream_loss {
	uint64_t count;
	int cpu;
	uint64_t start, end;            /* times of the samples before and after; 0: not known (live without
					 * --order). Throttled: the span */
	enum stream_loss_cause cause;
	const struct stream_event *event;   /* throttled: which; else NULL */
};

/* Throttling of an event on one CPU: live/throttle.h. */
struct stream_throttled {
	const struct stream_event *event;
	int cpu;
	uint64_t times, ns;
	uint64_t observed;              /* ns in which it could have been sampled there; 0: not known */
	uint64_t bound;                 /* ns that it certainly is not more than, to judge `ns` by; 0: not known */
	bool on_task;                   /* `observed` is the time that the tasks ran on that CPU, else the time of
					 * the CPU */
	bool at_most;                   /* the true time may be less than `ns` */
};

enum { STREAM_SAMPLES = 128 };          /* the most that samples() gets at once */

/* The arguments of up to STREAM_SAMPLES calls of stream_ops.sample(), each in an array of its own: consumers copy columns. */
struct stream_samples {
	const struct perf_event_header *rec[STREAM_SAMPLES];
	const void *raw[STREAM_SAMPLES];
	const struct stream_event *event[STREAM_SAMPLES];
	uint32_t cpu[STREAM_SAMPLES];
};

enum { STREAM_ALIKE = 64 };             /* the most that alike() gets at once: few, as consumers read them once for each column, from the cache */

/* n samples of the same event, CPU, size and raw size, one behind another in memory. */
struct stream_alike {
	const struct stream_event *event;
	const char *first;              /* the first record */
	size_t size, n;
	size_t raw_at;                  /* offset of the tracepoint's data in each record */
	uint32_t raw_size, cpu;
};

/* Size of the data of a tracepoint; NULL: 0. The kernel writes it before the data. */
static inline uint32_t stream_raw_size(const void *raw)
{
	return raw ? ((const uint32_t *)raw)[-1] : 0;
}

struct stream_ops {
	/* Everything is enabled, nothing delivered yet. 0, or -1 with f, which ends the run. May be
	 * NULL. */
	int (*started)(void *ctx, struct fault *f);
	/* One sample. rec and raw (the tracepoint's data, checked against its format; NULL for
	 * other events) are valid during the call only. Six words, so that all are passed in
	 * registers. */
	void (*sample)(void *ctx, const struct stream_event *event,
		       const struct perf_event_header *rec, const void *raw, uint32_t raw_size,
		       uint32_t cpu);
	/* The same for consecutive samples, where they can be gathered: a call for each costs more than the
	 * copying of its columns. Other calls come in between as if each sample had its own. NULL: sample()
	 * gets them all. */
	void (*samples)(void *ctx, const struct stream_samples *v, size_t n);
	/* The same for samples that are alike. Set if, and only if, samples is. */
	void (*alike)(void *ctx, const struct stream_alike *v);
	void (*lost)(void *ctx, const struct stream_loss *loss);
	void (*interval)(void *ctx);
	/* COMM, FORK, EXIT and LOST records of the watched tasks, as far as this user may see them; with mappings also
	 * MMAP2 and KSYMBOL. They come before the first sample with a later time;
	 * without --order, the ring of another CPU may still have earlier ones. May be NULL. */
	void (*task)(void *ctx, const struct pev_record *rec);
	void (*print_stat)(void *ctx);  /* for SIGUSR2, unless it asks for a dump or the next file */
	void (*idle)(void *ctx);        /* nothing is waiting: before each sleep. May be NULL */
	void (*ready)(void *ctx);       /* the descriptor of stream_watch() is readable. May be NULL */
	/* Before and after a sleep, for example to release a lock. May be NULL. */
	void (*wait)(void *ctx, bool begin);
	/* Called in a signal handler on the loop's thread if sample() has not returned 550 ms after
	 * a stop: must make it return. May be NULL. */
	void (*interrupt)(void *ctx);
	/* A second SIGINT, SIGTERM or SIGHUP ends the process. Called on the watchdog's thread, in
	 * any state of the others: only do what a signal handler may do. May be NULL. */
	void (*abandon)(void *ctx);
};

/* The last dump of --overwrite. */
struct stream_dump {
	uint64_t n;                     /* dumps so far */
	const char *why;                /* name of the event or signal that requested it */
	uint64_t events, older, overwritten;   /* events in it; older than its span; overwritten in memory */
	uint64_t span_ns;               /* from its first to its last event */
};

struct stream_totals {
	uint64_t delivered;             /* samples given to the consumer */
	uint64_t lost;                  /* all causes; without throttling, whose number is unknown */
	uint64_t throttled;             /* number of pauses */
	uint64_t malformed;             /* samples that contradict the format of their event */
	uint64_t late;                  /* --order, or a recording: delivered after a sample with a later time */
	uint64_t limited;               /* dropped by --sampling-limit */
	uint64_t skipped;               /* of perf-prof itself, dropped when read: see open.c */
	uint64_t filtered;              /* dropped when read, by filters that the kernel cannot evaluate */
	uint64_t beyond;                /* dropped when read, because a source reached its own -N */
	uint64_t counted;               /* event counts, read after all events were disabled; if each event counts
					 * 1 per sample, the sum of the numbers above. For a recording: its samples
					 * of wanted events */
	bool counted_other;             /* some of these counts are no number of samples for the consumer: ns, or
					 * what sources watch */
	uint64_t ring_bytes;            /* of all rings */
	uint64_t recorded_bytes, recorded_files;   /* size of the present file; number of files */
	struct stream_dump dump;
	bool lost_at_least;             /* the kernel is older than 6.0 and rings lost events: maybe more at the
					 * end */
};

/* Live only: removes the parts of samples that `reads` does not name, except who and when, and what
 * filters and sources read. Call it before expressions are compiled. 0, or -1 with f. */
int stream_narrow(struct stream *s, struct fault *f);
/* Ends the run as if all targets had ended: everything that has happened by now is still delivered. */
void stream_finish(struct stream *s);
/* After stream_run(): the next SIGINT, SIGTERM or SIGHUP ends the process, whatever the consumer still does. */
void stream_set_ended(struct stream *s);
/* Ends the run after the present callback, without delivering more. */
void stream_stop(struct stream *s);
/* Ends the run as a first SIGINT does, without the deadline. From any thread, between ops->started() and the end of
 * stream_run(). */
void stream_interrupt(struct stream *s);
/* Files with names are read as after a SIGINT from now on, for some seconds at most. From any thread, while the stream exists. */
void stream_hurry(struct stream *s);
/* When a signal, or stream_hurry(), asked the run to stop (CLOCK_MONOTONIC, ns); 0: none did. `stream` is a struct
 * stream. Thread-safe. */
uint64_t stream_asked_to_stop(void *stream);
/* Whether a callback that waits should return: a ring is more than a quarter full, or the run is to
 * end. `stream` is a struct stream. */
bool stream_is_pressed(void *stream);
/* Whether the run is about to end, for any reason. */
bool stream_is_stopping(const struct stream *s);
/* Whether the run ended because its targets ended, rather than by a signal or the consumer. */
bool stream_ended_with_targets(const struct stream *s);
/* Whether the kernel has removed the events of a task when it executed a program; it was reported: tasks/unwatched.h. */
bool stream_has_unwatched(const struct stream *s);
/* Of a recording: whether the kernel's or the user's part of recorded call chains is left out (--no-kernel-callchain, ...). */
bool stream_leaves_out_chains(const struct stream *s, bool kernel);
/* Whether a signal ended the run. */
bool stream_was_interrupted(const struct stream *s);
/* -1 with f if a signal ended the reading of a recording before the end of the file, else 0. Always
 * 0 for a pipe. */
int stream_check_whole(const struct stream *s, struct fault *f);
/* Requests a dump of what was recorded up to `time` (perf clock, ns). `why` must outlive the stream. */
void stream_ask_dump(struct stream *s, uint64_t time, const char *why);
/* The i-th pair of event and CPU that was throttled; false: there are no more. */
bool stream_throttled(const struct stream *s, size_t i, struct stream_throttled *throttled);
/* How often `event` (NULL: any event) was throttled, where that matters: throttle_matters(). */
uint64_t stream_throttled_times(const struct stream *s, const struct stream_event *event);
/* What the kernel has counted of the event, of all tasks and CPUs: at least the sum of its samples' periods. Not of a recording. */
uint64_t stream_counted(const struct stream *s, const struct stream_event *event);
/* Passes to fn, in order of time, the live records that ops->task will get later: all that the kernel has written by now, each
 * once. When ops->task gets them, stream_task_was_peeked() is true. */
void stream_peek_tasks(struct stream *s, void (*fn)(void *ctx, const struct pev_record *rec), void *ctx);
bool stream_task_was_peeked(const struct stream *s);
/* The field with a probe's own address: `ip`. NULL for other events. */
const struct trace_field *stream_probe_address(const struct stream_event *event);
/* Whether a sample of an event that is no tracepoint is well-formed. */
bool stream_sample_fits(const struct stream_event *event, const struct perf_event_header *rec);
/* Whether its samples have addresses that are shown as symbols; user: addresses of user space. */
bool stream_event_has_addresses(const struct stream_event *event, bool user);
/* stream_wants_mappings(): whether user addresses are sampled. stream_has_mappings() (after
 * stream_open()): whether there are also records of mappings to look them up. */
bool stream_wants_mappings(const struct stream *s);
/* Requests records of mappings that are not executable, too. Before stream_open(). */
void stream_want_data(struct stream *s);
/* Before stream_open(): records of mappings are wanted although no sample has addresses of user space. */
void stream_want_mappings(struct stream *s);
bool stream_has_mappings(const struct stream *s);
/* Time since the Unix epoch = perf clock + this, ns. Measured again while the run lasts. */
int64_t stream_realtime_offset(struct stream *s);
/* Whether that offset is known: some recordings lack it. */
bool stream_has_realtime(const struct stream *s);
/* The perf clock now, ns. */
uint64_t stream_now(struct stream *s);
/* The time of a sample as --tsc, --monotonic and --clock-offset show it. */
uint64_t stream_time(const struct stream *s, uint64_t time);
/* Whether that can differ from the time in the sample. */
bool stream_time_differs(const struct stream *s);
#endif
