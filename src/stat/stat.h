/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of perf-prof stat. An event is counted in places (a thread, a CPU, a cgroup on a
 * CPU). The counts of places are added up by where (all, CPU, core, thread, cgroup). Each event ×
 * where is a row of the result.
 */
#ifndef STAT_STAT_H
#define STAT_STAT_H

#include "base/artifact.h"
#include "stat/counts.h"
#include "stream/live/hotplug.h"
#include "stream/watched/targets.h"
#include "tasks/unwatched.h"
#include "tasks/workload.h"

#include <perfevent.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * What several runs of commands read from standard input. Without this, the first run would read it, and the others would do less
 * work. A file is read by each run from where it was. What comes through a pipe or a socket is there only once.
 */

struct stat_input {
	off_t start;             /* of a file; -1: it is none */
	bool is_stream;
};

/* Before and after a run. */
void stat_input_rewind(const struct stat_input *in);
void stat_input_tell(struct stat_input *in);

enum stat_by { BY_ALL, BY_CPU, BY_CORE, BY_THREAD, BY_CGROUP };

struct stat_config {
	struct stream_opts common;      /* targets and output */
	struct opt_strings events;      /* -e */
	int detail;                     /* -d */
	bool all_cpus, per_cpu, per_core, per_thread;
	bool csv, csv_safe, json;
	const char *separator;
	uint64_t runs;                  /* -r; 0: not given */
	uint64_t warmup;                /* runs before those that count */
	uint64_t interval_ms;
	struct opt_strings vs;          /* one: compared with the operands; two: with each other */
	double confidence;              /* percent; 0: not given */
};

struct stat_event {
	union pev_attr_buf buf;
	char *label;
	const char *unit;               /* NULL: none; borrowed */
	double scale;
	size_t leader;                  /* index of the group's leader; its own index: no group */
	const int *cpus;                /* of its PMU; NULL: all. Borrowed */
	size_t ncpus;
	bool snapshot;                  /* a level: not subtracted for intervals */
	bool weak;                      /* :W: its group may be split */
	bool from_glob;                 /* one of those that a glob matches */
	bool asked;                     /* by -e, not by default: problems are reported */
	bool of_kernel;                 /* it happens in the kernel only: :u counts nothing of it */
	bool user_only;                 /* the kernel's part was refused */
	bool opened;                    /* in at least one place */
	bool denied;                    /* refused to this user, even for user space only */
	bool told;                      /* the problem was reported */
	char *why;                      /* why it could not be opened */
};

struct stat_place {
	struct pev_target target;
	int cpu;                        /* -1: any */
	size_t where;
};

/* What an event had counted in a place at the last read. */
struct stat_counter {
	struct pev_event *ev;           /* NULL: not opened */
	struct pev_count last;
	bool lost;                      /* pinned, but without a counter */
};

struct counting {
	const struct stat_config *config;
	enum stat_by by;
	struct pev_attr_list *list;     /* owns the events' borrowed strings */
	struct stat_event *events;
	size_t nevents;
	struct targets targets;
	struct stat_input input;        /* what the command reads from standard input */
	bool on_command;                /* tasks of the command are counted */
	struct stat_place *places;
	size_t nplaces;
	char **wheres;                  /* names; a member NULL: all */
	size_t nwheres;
	struct stat_counter *counters;  /* by event, nplaces each */
	int *anchors;                   /* by event: of a tracepoint, a descriptor that stays open between runs, or 0 */
	struct count_row *rows;         /* by event, nwheres each */
	char unwatched[UNWATCHED_TEXT]; /* why the command of this run is not counted; empty: it is */
	bool told_unwatched;
	struct sideband *children;      /* of the command, or of -p: shows those that are not counted; or NULL */
	char partial[UNWATCHED_TEXT];   /* why one of these is not counted; empty: all are */
	bool hinted;                    /* the hints were printed */
	bool counts_say_why;            /* CSV and JSON on stderr: their member `why` has the reasons, and messages would break them */
	struct rlimit files;            /* RLIMIT_NOFILE before it was raised */
	struct hotplug hotplug;
};

/* events.c */
int stat_events_parse(struct counting *s, struct fault *f);
void stat_events_free(struct counting *s);

/* places.c: the tasks and CPUs to count on. child: of the command, or 0. */
int stat_places_make(struct counting *s, pid_t child, struct fault *f);
void stat_places_free(struct counting *s);

/* counters.c */
/* Opens all events in all places, disabled (on_command: enabled by exec). Events that cannot be
 * opened are reported and left out; needs_one: a fault if none is left. */
int stat_open(struct counting *s, bool needs_one, struct fault *f);
/* Whether an event is open, or was before stat_close(), or is in the kernel's account. */
bool stat_any_open(const struct counting *s);
void stat_enable(struct counting *s);
void stat_disable(struct counting *s);
void stat_close(struct counting *s);
/* Opens the events of a CPU again that was offline, for which the kernel has removed them. 0, or -1 with err. */
int stat_reopen(struct counting *s, int cpu, struct pev_error *err);
/* Also closes what stat_close() keeps, so that the next run need not wait for the kernel. */
void stat_close_all(struct counting *s);
/* Fills s->rows with the counts since the last call. */
void stat_read(struct counting *s);

/* children.c: children of the command, or watched processes and their children, whose events the kernel removes at exec
 * (stream/watched/execs.h). child: of the command, or 0. */
void stat_children_open(struct counting *s, pid_t child);
/* Says it once if there were any. */
void stat_children_tell(struct counting *s, pid_t child);
void stat_children_close(struct counting *s);

/* account.c */
/* Whether the event, which this user may not count, is in the kernel's account of the command. */
bool stat_is_accounted(const struct counting *s, size_t event);
/* What else shows an event that was refused: "; without privilege: ..."; empty: nothing does. */
const char *stat_account_advice(const struct counting *s, size_t event);
/* Context switches of a process so far. */
uint64_t stat_switches_of(pid_t pid);
/* Fills the rows of such events; before: stat_switches_of() before the command's exec. */
void stat_take_account(struct counting *s, const struct rusage *usage, uint64_t before);
/* What the kernel's scheduler says of the first thread of a process. */
struct stat_scheduled {
	double ran, delayed;            /* s on a CPU, and s in which it could have run, but waited for one */
};
struct stat_scheduled stat_scheduled(pid_t pid);   /* of one that is not known: 0 */
/* The seconds in which a process that has ended waited for a CPU since `before`. cpu: seconds that it used, with the children for
 * which it waited. -1: not known, as most of that CPU time is not its first thread's. */
double stat_delayed(const struct stat_scheduled *ended, const struct stat_scheduled *before, double cpu);

/* metrics.c: fills in the metrics of s->rows. seconds: the time counted. */
void stat_metrics(struct counting *s, double seconds);
/* Unit of the quotient of two events' counts times *factor: "insn per cycle"; NULL: unknown. */
const char *stat_ratio(const struct perf_event_attr *of, const struct perf_event_attr *by, double *factor);

/* compare.c: runs two commands alternately. argv: the first, if there is one --vs. Returns the exit code. */
int stat_compare(struct counting *s, char **argv, struct fault *f);
/* The words of a command with blanks between them, to be freed; NULL: out of memory. */
char *stat_words(char *const *argv);
/* run.c */
int stat_run(struct counting *s, char **argv, struct fault *f);
/* Runs a command once and fills the rows, without output. Returns its exit status, or -1 with f.
 * *interrupted: a signal asked to stop. */
struct stat_run_times {
	double elapsed, user, sys;      /* s */
	double delayed;                 /* s in which the command waited for a CPU; -1: not known */
	int signal;                     /* that ended the command, or 0 */
	struct rusage usage;            /* of the command */
};
int stat_run_once(struct counting *s, char *const *argv, struct stat_run_times *times,
		  bool *interrupted, struct fault *f);
/* Sets the error of a signal before the first run that counts: -1. */
int stat_no_runs(struct fault *f);
/* output.c: the file for results: -o, else stderr for a command (which uses stdout), else stdout. --vs discards what its
 * commands print: CSV and JSON go to stdout.
 * A single result is written as a whole file or not at all; with -i the file grows. */
struct stat_output {
	FILE *out;
	const char *path;              /* for messages */
	struct artifact whole;
};
/* 0, or -1 with f. */
int stat_output_open(struct stat_output *o, const struct counting *s, bool has_command, struct fault *f);
/* good: everything was written; else an older file stays. 0, or -1 with f. */
int stat_output_close(struct stat_output *o, bool good, struct fault *f);
#endif
