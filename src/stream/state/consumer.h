/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream hands to its consumer, and what the consumer may ask and tell it meanwhile. */
#ifndef STREAM_STATE_CONSUMER_H
#define STREAM_STATE_CONSUMER_H

#include "stream/asked/event.h"
#include "stream/asked/opts.h"

struct stream;
struct pev_record;

enum stream_loss_cause {
	STREAM_LOSS_RING,               /* the ring was full */
	STREAM_LOSS_TAIL,               /* full, and no record came after */
	STREAM_LOSS_STOP,               /* undelivered when the run ended */
	STREAM_LOSS_DAMAGED,            /* bytes that were no record */
	STREAM_LOSS_THROTTLED,          /* the kernel stopped an event for a while: a span, count is 0 */
};

struct stream_loss {
	uint64_t count;
	int cpu;
	uint64_t start, end;            /* last sample before, first after; 0 without --order. Throttled: from, to */
	enum stream_loss_cause cause;
	const struct stream_event *event;   /* throttled: it; else NULL */
};

/* What an event lost on one CPU by throttling: throttle.h. */
struct stream_throttled {
	const struct stream_event *event;
	int cpu;
	uint64_t times, ns;
	uint64_t observed;              /* ns that it could have been sampled there; 0: not known */
	bool on_task;                   /* observed is the time that the tasks were on that CPU, else the CPU's */
	bool at_most;                   /* the time is no more, but may be less */
};

struct stream_ops {
	/* All is enabled, nothing delivered yet: 0, or -1 with f, which ends the run. May be
	 * NULL. */
	int (*started)(void *ctx, struct fault *f);
	/* One sample; rec and raw (the tracepoint's data, checked against its format) are
	 * borrowed for the length of the call. Six words, so that all go in registers. */
	void (*sample)(void *ctx, const struct stream_event *event,
		       const struct perf_event_header *rec, const void *raw, uint32_t raw_size,
		       uint32_t cpu);
	void (*lost)(void *ctx, const struct stream_loss *loss);
	void (*interval)(void *ctx);
	/* COMM, FORK, EXIT and, if wanted, MMAP2 and LOST records: when stream_tasks_until()
	 * asks for them, or earlier. May be NULL. */
	void (*task)(void *ctx, const struct pev_record *rec);
	void (*print_stat)(void *ctx);  /* SIGUSR2 */
	void (*idle)(void *ctx);        /* nothing waits: about to sleep. May be NULL */
	/* Before a sleep and after it: others may run meanwhile. May be NULL. */
	void (*wait)(void *ctx, bool begin);
	/* Called in a signal handler on the loop's thread when sample() is still inside
	 * its call 550 ms after a stop: has to make it return. May be NULL. */
	void (*interrupt)(void *ctx);
	/* The process ends at once, on a second SIGINT: called on the watchdog's thread,
	 * whatever the others do; only what a signal handler may do. May be NULL. */
	void (*abandon)(void *ctx);
};

/* The last file of a recording that is written when asked for. */
struct stream_dump {
	uint64_t n;                     /* how many there were */
	const char *why;                /* the event, or the signal */
	uint64_t events, older, overwritten;   /* in it; before its span; that had made room */
	uint64_t span_ns;               /* from its first event to its last */
};

struct stream_totals {
	uint64_t delivered;             /* samples that passed the filters, to the consumer */
	uint64_t lost;                  /* all causes together, but throttling, of which no count is known */
	uint64_t throttled;             /* so often */
	uint64_t malformed;             /* samples too short for their own format */
	uint64_t late;                  /* --order: delivered below a time already passed */
	uint64_t limited;               /* beyond --sampling-limit */
	uint64_t skipped;               /* perf-prof's own, dropped when read: see open.c */
	uint64_t filtered;              /* dropped when read by filters that the kernel can't do */
	uint64_t beyond;                /* dropped when read: a source's own -N was reached */
	uint64_t counted;               /* by the kernel, read(2) when all was off; of events
					 * that count 1 each it is the sum of all above */
	bool counted_other;             /* and of one that counts something else, or is not delivered itself */
	uint64_t ring_bytes;            /* of all rings */
	uint64_t recorded_bytes, recorded_files;   /* of the present file; how many */
	struct stream_dump dump;
	bool lost_at_least;             /* kernel before 6.0 and a ring ended full */
};

/* Of live events: what their `reads` does not name is not sampled, but who and when, and what filters and
 * sources read. Before expressions are compiled. 0, or -1 with f. */
int stream_narrow(struct stream *s, struct fault *f);
/* Ends the run as if all targets had ended: what has happened by now is delivered. */
void stream_finish(struct stream *s);
/* Ends the run after the present callback (for the consumer). */
void stream_stop(struct stream *s);
/* When a signal asked it to (CLOCK_MONOTONIC, ns); 0: none did. Of a struct stream; for any thread. */
uint64_t stream_asked_to_stop(void *stream);
/* Whether who waits within a callback has to go on: a ring is a quarter full, or the run is to end. Of a struct
 * stream. */
bool stream_is_pressed(void *stream);
/* Whether the run is about to end, for whatever reason. */
bool stream_is_stopping(const struct stream *s);
/* Whether the run ended because its targets did, not by a signal or its consumer. */
bool stream_ended_with_targets(const struct stream *s);
/* Whether a signal ended it. */
bool stream_was_interrupted(const struct stream *s);
/* -1 with f if a signal ended the reading of a recording before the end of the file, else 0 (also for a pipe). */
int stream_check_whole(const struct stream *s, struct fault *f);
/* Asks for what is recorded up to that time (perf clock); why outlives the stream. */
void stream_ask_dump(struct stream *s, uint64_t time, const char *why);
/* The i-th event and CPU that was throttled: false: there are no more. */
bool stream_throttled(const struct stream *s, size_t i, struct stream_throttled *throttled);
/* How often `event` (NULL: all of them) was, where that is worth a word. */
uint64_t stream_throttled_times(const struct stream *s, const struct stream_event *event);
/* Hands the records of tasks up to `time` (perf clock, ns) to ops->task: who was who, and
 * what was mapped where. Those of the watched tasks, as far as the user may have them;
 * UINT64_MAX: all that the kernel has written by now. */
void stream_tasks_until(struct stream *s, uint64_t time);
/* The field that says where a probe is, in memory: its field `ip`; NULL of other events. */
const struct trace_field *stream_probe_address(const struct stream_event *event);
/* Whether a sample of an event that is no tracepoint has its parts where they can be. */
bool stream_sample_fits(const struct stream_event *event, const struct perf_event_header *rec);
/* Whether its samples have addresses that are shown by name; those of users. */
bool stream_event_has_addresses(const struct stream_event *event, bool user);
/* Whether user addresses are sampled; whether records of what is mapped come with them,
 * too (after stream_open()). */
bool stream_wants_mappings(const struct stream *s);
/* Before stream_open(): records of mappings that are no code are wanted, too. */
void stream_want_data(struct stream *s);
bool stream_has_mappings(const struct stream *s);
/* perf clock + this = ns since the Unix epoch; measured again while running. */
int64_t stream_realtime_offset(struct stream *s);
/* Whether that is known: not of every recording. */
bool stream_has_realtime(const struct stream *s);
/* The perf clock now, ns. */
uint64_t stream_now(struct stream *s);
/* A sample's time as --tsc, --monotonic and --clock-offset want it shown. */
uint64_t stream_time(const struct stream *s, uint64_t time);
/* Whether that differs from what the sample says. */
bool stream_time_differs(const struct stream *s);
#endif
