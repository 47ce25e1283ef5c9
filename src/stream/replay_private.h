/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of replay share. */
#ifndef STREAM_REPLAY_PRIVATE_H
#define STREAM_REPLAY_PRIVATE_H

#include "stream/private.h"

enum { NO_EVENT = UINT32_MAX };
enum { REPLAY_MAX_HELD = 48 << 20 };   /* bytes of records that wait for earlier ones */
enum { MIXED = UINT16_MAX };           /* tag of a run of several events; else it is the event's index */

/* An event of the recording. */
struct track {
	uint32_t first;                /* index of the stream's first event of it, or NO_EVENT */
	bool wanted;                   /* one of these is */
	const struct stream_event *plain;   /* the one that is wanted, and all of its samples as
					     * they are; NULL: they need a closer look */
	uint8_t time_at, cpu_at;       /* in a sample, as recorded; 0: not there */
	uint64_t type;                 /* sample_type as recorded */
	uint64_t widened;              /* and with what every sample has here */
	uint64_t period;               /* for samples that don't say theirs */
	const struct tracefmt *fmt;
	const char *probe;             /* of perf-prof's own making: without alias; fmt's name says nothing. Or NULL */
	char name[256];                /* sys:name, or as the recorder calls it */
};

/* What stands in a queue for a gap: delivered as a loss in its place. */
struct replay_gap {
	struct perf_event_header header;   /* type PERF_RECORD_LOST */
	uint64_t count, start, end;
};

struct replay {
	struct perfdata_reader *reader;
	uint64_t size;                 /* of the file; 0: none, as of a pipe */
	struct timespec written;       /* when it was last written to; of a pipe: opened */
	struct track *tracks;
	size_t ntracks;
	uint32_t *next;                /* of a stream event: the next one of the same track */
	size_t leaders_from;           /* in the list: those that are there for the counts in their samples */
	uint32_t nqueues;
	struct numlist pids, tids;     /* -p, -t, and whom they fork */
	bool chooses_tasks;
	bool same_machine, same_kernel;
	struct replay_kernel kernel;
	int formats_bad;               /* formats that can't be parsed */
	uint64_t newest, round;        /* times: of what was read; of the round before */
	uint64_t run_time;             /* of samples without a CPU: the last one's time, */
	uint32_t run;                  /* and its queue */
	uint64_t interval, next_interval;   /* -i, in ns */
	uint64_t reached;                   /* with -i: what was told is not later */
	uint32_t empty_intervals;      /* so many of them had no event before them */
	uint64_t unknown;              /* samples of no event */
	uint64_t damaged;              /* places of which the loss was told */
	uint64_t kernel_lost, counted_lost; /* by LOST records; as the recorder counted */
	bool ordered;                  /* rounds were seen */
	_Alignas(8) char wide[UINT16_MAX + 1];
};

/* replay_events.c */
int recording_events(struct stream *s, struct fault *f);
/* tracks.c: fills tracks and ntracks; formats are read. 0, or -1 with f. */
int tracks_make(struct stream *s, struct fault *f);
/* Whether perf-prof made the recording. */
bool recording_is_ours(const struct perfdata_info *info);
/* What the attr says, in the words of whoever asked for it. False: it has no words. */
bool track_label(const struct replay *p, const struct perfdata_event *e, char *buf, size_t size);
/* The name of a tracepoint, or its alias; NULL: it is not called by its system. */
const char *track_behind_system(const struct track *t);
/* A group's member that is not sampled: the samples of another one bear its count. */
bool track_is_counted(const struct replay *p, size_t track);
/* Whether the event tells of tasks and nothing else, in a ring of its own: so perf-prof records it. */
bool recording_is_about_tasks(const struct replay *p, const struct perfdata_event *e);
/* Whether there are samples of that tracepoint. */
bool recording_has(const struct stream *s, const char *sys, const char *name);
/* maker.c's: a tracepoint that a source watches, which is not shown. NULL with f: it was not recorded. */
struct stream_event *recording_watch(struct stream *s, const struct spec_item *item, const char *source,
				     const char *sys, const char *name, struct fault *f);
/* widen.c: the sample with zeros for the parts of `to` that are not in `from` (the period for
 * its own); NULL if it gets too long. */
const struct perf_event_header *widen_sample(const struct perf_event_header *rec, uint64_t from,
					     uint64_t to, uint64_t period, char *buf);
/* samehost.c */
void replay_compare_machine(struct replay *p, const struct opener *o);
/* delivery.c: the file's build id, where the recording has it. */
void replay_identify(const struct replay *p, struct pev_mmap *m);
/* Takes a mark back that a kernel forgot in a mapping. */
void replay_mend(const struct perfdata_event *e, const struct perf_event_header *rec);
void delivery_task(struct stream *s, const struct perf_event_header *rec);
/* All that is due up to that time. */
void delivery_until(struct stream *s, uint64_t watermark);
/* Where too much is held: the earliest goes, though earlier ones may still come. */
void delivery_make_room(struct stream *s);
/* runs.c: a sample that is wanted, and those behind it that make a run with it. False where it
 * is to be taken alone. */
bool run_take(struct stream *s, const struct perf_event_header *rec, uint32_t event, uint32_t queue,
	      uint64_t time);

static inline uint32_t cpu_of(const struct track *t, const struct perf_event_header *rec)
{
	return t->cpu_at ? layout_u32(rec, t->cpu_at) : UINT32_MAX;
}
#endif
