/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the numbers in a stream's events: what tasks are called, where in which file
 * an address is, which function that is. Each question names its time, for tasks come and
 * go while events are on their way.
 */
#ifndef STREAM_NAMES_H
#define STREAM_NAMES_H

#include "stream/asked/branchchain.h"
#include "stream/recording/files.h"
#include "stream/stream.h"
#include "symbols/symbolizer.h"
#include "tasks/comms.h"
#include "tasks/maps.h"
#include "tasks/unwinder.h"

struct names {
	struct stream *stream;
	const struct opener *opener;      /* of other processes' files */
	struct recorded recorded;         /* of a recording: the opener then */
	struct comms *comms;
	struct symbolizer *symbolizer;    /* NULL: no event has addresses to be named */
	struct maps *maps;                /* NULL: none in user space */
	struct unwinder *unwinder;        /* once a sample's callers were asked for; or NULL */
	struct branchchain branches;
	struct symbolizer *functions;     /* for what prints pointers to them; or NULL */
	bool kernel;                      /* set before names_open(): functions of the kernel are asked for */
	bool data;                        /* set before stream_open(): mappings of data, too */
	const char *debuginfod;           /* servers that may be asked; set before names_open() */
	size_t max_symbols;               /* bytes of tables of symbols; 0: the usual; set before names_open() */
	uint64_t lost;                    /* records of what is mapped and who is who */
};

/* 0, or -1 with f. What it points to outlives it. */
int names_begin(struct names *n, struct stream *stream, const struct opener *opener, struct fault *f);
void names_end(struct names *n);

/* Before the stream is opened, with all privilege there is: where wanted events have
 * addresses, reads the kernel's table, which takes some ms; for events whose text names
 * functions, opens it. 0, or -1 with f. */
int names_open(struct names *n, int verbose, struct fault *f);
/* Once it is open, and nothing enabled yet: who is there now, and what is mapped. */
int names_watch(struct names *n, int verbose, struct fault *f);
/* A record for stream_ops.task. */
void names_take(struct names *n, const struct pev_record *rec);
/* Has all records up to that time (perf clock, ns) taken. */
void names_until(struct names *n, uint64_t time);
/* What the task was called at that time. Valid until the next call. */
const char *names_comm(struct names *n, pid_t tid, uint64_t time);
/* The sample's call chain in the kernel's words, the user's part found by registers and stack
 * or by branches where the event has these; NULL: it has none. Valid until the next call. */
const uint64_t *names_chain(struct names *n, const struct stream_event *event,
			    const struct perf_event_header *rec, uint64_t *nr);
/* Rings are read no more: from now on names are waited for. */
void names_finish(struct names *n);
/* Tells what was lost, when no name is asked any more. */
void names_tell(const struct names *n, int verbose);
#endif
