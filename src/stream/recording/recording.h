/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in the place of rings: the file, its events, the machine that it is of, and how far its replay came. This
 * room knows nothing of a stream: stream/replay/replay.c makes its samples those of one.
 */
#ifndef STREAM_RECORDING_RECORDING_H
#define STREAM_RECORDING_RECORDING_H

#include "base/cpulist.h"
#include "base/opener.h"
#include "stream/recording/facts.h"
#include "tracefmt/tracefmt.h"

#include <perfevent.h>

struct stream_event;

enum { NO_EVENT = UINT32_MAX };

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

/* tracks.c: fills tracks and ntracks; formats are read. 0, or -1 with f. */
int tracks_make(struct replay *p, const struct tracefmt_db *formats, struct fault *f);
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
/* The event that has samples of that tracepoint; p->ntracks: there is none. */
size_t track_of_samples(const struct replay *p, const char *sys, const char *name);
/* widen.c: the sample with zeros for the parts of `to` that are not in `from` (the period for
 * its own); NULL if it gets too long. */
const struct perf_event_header *widen_sample(const struct perf_event_header *rec, uint64_t from,
					     uint64_t to, uint64_t period, char *buf);
/* samehost.c */
void replay_compare_machine(struct replay *p, const struct opener *o);
/* mend.c: the file's build id, where the recording has it. */
void replay_identify(const struct replay *p, struct pev_mmap *m);
/* Takes a mark back that a kernel forgot in a mapping. */
void replay_mend(const struct perfdata_event *e, const struct perf_event_header *rec);
#endif
