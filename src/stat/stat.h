/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof stat, inside. An event is counted in places (a thread, a CPU, a cgroup on a
 * CPU); places are added up by where (all, CPU, core, thread, cgroup), and event × where
 * is a row of the result.
 */
#ifndef STAT_STAT_H
#define STAT_STAT_H

#include "base/artifact.h"
#include "stat/counts.h"
#include "stream/live/hotplug.h"
#include "stream/targets.h"
#include "tasks/workload.h"

#include <perfevent.h>

enum stat_by { BY_ALL, BY_CPU, BY_CORE, BY_THREAD, BY_CGROUP };

struct stat_config {
	struct stream_opts common;      /* targets and output */
	struct opt_strings events;      /* -e */
	int detail;                     /* -d */
	bool all_cpus, per_cpu, per_core, per_thread;
	bool csv, csv_safe, json;
	const char *separator;
	uint64_t runs;                  /* -r; 0: not said */
	uint64_t interval_ms;
	const char *vs;
};

struct stat_event {
	union pev_attr_buf buf;
	char *label;
	const char *unit;               /* NULL: a number; borrowed */
	double scale;
	size_t leader;                  /* index; its own: none */
	const int *cpus;                /* of its PMU; NULL: all. Borrowed */
	size_t ncpus;
	bool snapshot;                  /* a level: intervals don't subtract */
	bool weak;                      /* :W: its group may be broken up */
	bool asked;                     /* by -e, not by default: its trouble is told */
	bool user_only;                 /* the kernel's part was refused */
	bool opened;                    /* in one place at least */
	bool denied;                    /* not to this user, not even user space alone */
	bool told;                      /* its trouble, to the user */
	char *why;                      /* why it could not be */
};

struct stat_place {
	struct pev_target target;
	int cpu;                        /* -1: any */
	size_t where;
};

/* What an event counted in a place when it was last read. */
struct stat_counter {
	struct pev_event *ev;           /* NULL: not opened */
	struct pev_count last;
	bool lost;                      /* pinned, and without a counter */
};

struct stat {
	const struct stat_config *config;
	enum stat_by by;
	struct pev_attr_list *list;     /* what events borrow from */
	struct stat_event *events;
	size_t nevents;
	struct targets targets;
	bool on_command;                /* the command's own tasks are counted */
	struct stat_place *places;
	size_t nplaces;
	char **wheres;                  /* NULL members: all */
	size_t nwheres;
	struct stat_counter *counters;  /* event by event, nplaces each */
	struct count_row *rows;         /* event by event, nwheres each */
	bool hinted;                    /* what there is to say of events that are counted */
	struct rlimit files;            /* RLIMIT_NOFILE as it was */
	struct hotplug hotplug;
};

/* events.c */
int stat_events_parse(struct stat *s, struct fault *f);
void stat_events_free(struct stat *s);

/* places.c: whom and where to count. child: of the command, or 0. */
int stat_places_make(struct stat *s, pid_t child, struct fault *f);
void stat_places_free(struct stat *s);

/* counters.c */
/* Opens all events in all places, off (on_command: on with exec). What can't be opened is
 * told and left out; needs_one: a fault if nothing is left. */
int stat_open(struct stat *s, bool needs_one, struct fault *f);
/* Whether any event is open, or was before stat_close(). */
bool stat_any_open(const struct stat *s);
void stat_enable(struct stat *s);
void stat_disable(struct stat *s);
void stat_close(struct stat *s);
/* Fills s->rows with what was counted since the last time. */
void stat_read(struct stat *s);

/* metrics.c: fills in the metrics of s->rows. seconds: of the time counted. */
void stat_metrics(struct stat *s, double seconds);
/* What one event's count is by another's, times *factor: "insn per cycle"; NULL: nothing known. */
const char *stat_ratio(const struct perf_event_attr *of, const struct perf_event_attr *by, double *factor);

/* compare.c: two commands in turns. The exit code. */
int stat_compare(struct stat *s, char **argv, struct fault *f);
/* run.c */
int stat_run(struct stat *s, char **argv, struct fault *f);
/* One run of a command, without a word about it: rows are filled. Its exit status, or -1
 * with f. *interrupted: a signal asked to stop. */
struct stat_run_times {
	double elapsed, user, sys;      /* s */
};
int stat_run_once(struct stat *s, char *const *argv, struct stat_run_times *times,
		  bool *interrupted, struct fault *f);
/* output.c: where results go: -o, else stderr beside a command (whose stdout is its own), else
 * stdout. What is told once makes a whole file or none; with -i the file grows. */
struct stat_output {
	FILE *out;
	const char *path;              /* for messages */
	struct artifact whole;
};
/* 0, or -1 with f. */
int stat_output_open(struct stat_output *o, const struct stat *s, bool has_command, struct fault *f);
/* good: all is written that was to be; else an older file stays. 0, or -1 with f. */
int stat_output_close(struct stat_output *o, bool good, struct fault *f);
#endif
