/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the numbers in a stream's events: tasks, and the file and function of an address. Task records come in time order
 * among the samples, so what is known at a lookup is what was true then.
 */
#ifndef STREAM_NAMES_H
#define STREAM_NAMES_H

#include "stream/asked/branchchain.h"
#include "stream/recording/files.h"
#include "stream/stream.h"
#include "symbols/symbolizer.h"
#include "tasks/cgroupnames.h"
#include "tasks/comms.h"
#include "tasks/maps.h"
#include "tasks/unwinder.h"

struct names {
	struct stream *stream;
	const struct opener *opener;      /* opens files of other processes */
	struct recorded recorded;         /* for a recording: the opener of its files */
	struct comms *comms;
	struct symbolizer *symbolizer;    /* NULL: no event has addresses to look up */
	struct cgroupnames *cgroups;      /* NULL: samples do not say the control groups of tasks */
	struct maps *maps;                /* NULL: no addresses of user space */
	struct unwinder *unwinder;        /* created when the first stack is unwound; or NULL */
	struct branchchain branches;
	uint64_t *filled;                 /* the last chain that words were put into, */
	size_t filled_room;               /* and how many words there is room for */
	struct symbolizer *functions;     /* for tracepoints that print function pointers; or NULL */
	bool kernel;                      /* set before names_open(): look up kernel functions in any case */
	bool user;                        /* set before names_open(): mappings of processes in any case */
	bool code;                        /* set before names_open(): instructions of functions will be asked for */
	bool data;                        /* set before stream_open(): also read mappings of data */
	const char *debuginfod;           /* servers to ask; set before names_open() */
	struct kallsyms **kept;           /* see symbolizer.h; set before names_open() */
	size_t max_symbols;               /* bytes of symbol tables; 0: default, more for recordings; set before names_open() */
	uint64_t chains, deep;            /* call chains of frame pointers; those that are full */
	uint64_t max_stack, longest;      /* frames of a full one; of the longest that was as long as that or longer */
	uint64_t lost;                    /* lost records of tasks and mappings */
	char no_kernel[400];              /* why kernel functions have no names; "": they have, or none are wanted */
	bool said_no_kernel;              /* names_open() has reported it */
	bool chain_is_cut;                /* the last chain lacks its outermost callers: the sample or the limit of frames has no more */
	bool has_said_cut;
	bool arm32;                       /* the recording is of a 32-bit Arm */
	bool other_machine;               /* the recording is of one: its files are not ours */
};

/* Both pointers must outlive it. 0, or -1 with f. */
int names_begin(struct names *n, struct stream *stream, const struct opener *opener, struct fault *f);
void names_end(struct names *n);

/* Call it before stream_open(), while all privileges are kept. Reads the kernel's symbols (some ms)
 * if wanted events have addresses; opens them if the text of events has names of functions. 0, or
 * -1 with f. */
int names_open(struct names *n, int verbose, struct fault *f);
/* Call it after stream_open(), before anything is enabled: reads the present names and mappings of
 * tasks. 0, or -1 with f. */
int names_watch(struct names *n, int verbose, struct fault *f);
/* Takes a record of stream_ops.task. */
void names_take(struct names *n, const struct pev_record *rec);
/* The name of the task. Valid until the next call. */
const char *names_comm(struct names *n, pid_t tid);
/* A number for the task that has this id now: another one than that of earlier tasks with the same id, which is its lower half. */
uint64_t names_task(struct names *n, pid_t tid);
/* The name of a task's control group, by its id in a sample. Valid as long as n. */
const char *names_cgroup(struct names *n, uint64_t id);
/* Whether its samples are taken when a function has returned (uretprobe, kretprobe): where they are is a return address. */
bool names_is_return(const struct stream_event *event);
/* The sample's call chain, as in the kernel's callchain, for a return probe with CHAIN_RETURNS (symbols/chain.h). The
 * user's part comes from registers and stack, or from branches, if the event has them. NULL: no chain. Valid until the next call. */
const uint64_t *names_chain(struct names *n, const struct stream_event *event,
			    const struct perf_event_header *rec, uint64_t *nr);
/* Rings are not read any more: from now on, lookups wait for symbols to be loaded. */
void names_finish(struct names *n);
/* Reports lost records and cut stacks, after the last lookup. */
void names_tell(struct names *n, int verbose);
/* Says how many stacks were cut off and why, if these are not few: lines in buf, which names_tell() then leaves out. */
bool names_say_cut(struct names *n, char *buf, size_t size);
/* Whether names_tell() reports stacks that were cut off. */
bool names_tells_cut(const struct names *n);
#endif
