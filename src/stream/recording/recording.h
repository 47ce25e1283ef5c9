/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is read instead of rings: the file, its events, its machine, and how far it was
 * replayed. This room knows no stream: stream/replay/replay.c delivers the samples.
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

/* An event in the recording. */
struct track {
	uint32_t first;                /* index of the first event in the stream's list that is this one, or
				        * NO_EVENT */
	bool wanted;                   /* the consumer wants one of them */
	const struct stream_event *plain;   /* the only wanted one, if its samples can be delivered unchanged and
					     * unchecked; else NULL */
	uint8_t time_at, cpu_at;       /* offsets in a recorded sample; 0: not in it */
	uint64_t type;                 /* sample_type as recorded */
	uint64_t widened;              /* the same plus what every sample has when it is delivered: widen_sample() */
	uint64_t period;               /* for samples without a period */
	uint64_t counted;              /* by READ records */
	const struct tracefmt *fmt;
	const char *probe;             /* name without alias, for a probe that perf-prof created (fmt's name is
				        * then internal); or NULL */
	char name[256];                /* sys:name, or the name in the recording */
};

struct replay {
	struct perfdata_reader *reader;
	uint64_t size;                 /* of the file; 0: unknown (a pipe) */
	struct timespec written;       /* time of the last write; 0 for a pipe */
	bool own;                      /* only root and this user can write to it */
	struct track *tracks;
	size_t ntracks;
	uint32_t *next;                /* for each stream event: the next one with the same track */
	size_t leaders_from;           /* index in the list from which events are there only for the counts in
				        * their samples */
	uint32_t nqueues;
	struct numlist pids, tids;     /* -p, -t and their descendants */
	struct numlist narrow;         /* processes with 32-bit programs */
	bool chooses_tasks;
	bool found;                    /* a sample is from one of these */
	pid_t thread, thread_of;       /* -p names a thread, which is one of that process; 0: none was found */
	bool same_machine, same_kernel, same_vdso;
	struct replay_kernel kernel;
	int formats_bad;               /* formats of tracepoints that could not be parsed */
	uint64_t newest, round;        /* times: the latest one read; the latest one at the end of the previous
				        * round */
	bool cut;                      /* what comes after --time was not read */
	uint64_t outside;              /* samples outside of --time, */
	uint64_t outside_first, outside_last;   /* and the times of the first and last of them */
	uint64_t run_time;             /* the last sample without a CPU: its time, */
	uint32_t run;                  /* and its queue */
	uint64_t interval, next_interval;   /* -i: length, and end of the present interval; ns */
	uint64_t reached;                   /* -i: output so far is not later than this */
	uint32_t empty_intervals;      /* intervals without an event before them */
	uint64_t unknown;              /* samples that belong to no event */
	uint64_t damaged;              /* damaged places reported as lost */
	uint64_t kernel_lost, counted_lost; /* from LOST records; as counted by the recorder */
	bool ordered;                  /* the recording has FINISHED_ROUND records */
	struct execs *execs;           /* processes whose events the kernel removed, if perf-prof recorded them */
	_Alignas(8) char wide[UINT16_MAX + 1];
};

/* tracks.c: fills tracks and ntracks; formats must be read. 0, or -1 with f. */
int tracks_make(struct replay *p, const struct tracefmt_db *formats, struct fault *f);
/* Whether perf-prof wrote the recording. */
bool recording_is_ours(const struct perfdata_info *info);
/* Writes the event as a user would write it in -e. False: there is no such form. */
bool track_label(const struct replay *p, const struct perfdata_event *e, char *buf, size_t size);
/* The tracepoint or alias behind "sys:"; NULL if the name does not begin with its system. */
const char *track_behind_system(const struct track *t);
/* Whether the event is a group member without samples: samples of its leader have its count. */
bool track_is_counted(const struct replay *p, size_t track);
/* Whether the event only reports tasks and mappings: perf-prof records those in separate rings. */
bool recording_is_about_tasks(const struct replay *p, const struct perfdata_event *e);
/* Index of the event with samples of that tracepoint; p->ntracks: none. */
size_t track_of_samples(const struct replay *p, const char *sys, const char *name);
/* widen.c: copies the sample into buf (UINT16_MAX + 1 bytes), adding the parts of `to` that `from`
 * lacks: `period` for the period, zeros for the others. NULL if it gets too long. */
const struct perf_event_header *widen_sample(const struct perf_event_header *rec, uint64_t from,
					     uint64_t to, uint64_t period, char *buf);
/* samehost.c: fills in same_machine, same_kernel, same_vdso and kernel. */
void replay_compare_machine(struct replay *p, const struct opener *o);
/* mend.c: adds the file's build id, if the recording has it. */
void replay_identify(const struct replay *p, struct pev_mmap *m);
/* Clears a wrong build id flag in an MMAP2 record. */
void replay_mend(const struct perfdata_event *e, const struct perf_event_header *rec);
#endif
