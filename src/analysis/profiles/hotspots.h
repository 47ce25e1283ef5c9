/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hottest functions and stacks: sums of the weights of samples, by task name and call chain while
 * samples come, and by function when they are printed.
 */
#ifndef ANALYSIS_PROFILES_HOTSPOTS_H
#define ANALYSIS_PROFILES_HOTSPOTS_H

#include "engine/analysis.h"
#include "table/groups.h"
#include "tasks/cputime.h"

/* --rows, --stacks, --sort, --comms, --dsos, --than, --below, --callers, --callees, --tree, --annotate and --inline-rows; their fields are in
 * struct analysis_opts. */
enum {
	HOTSPOTS_ROWS, HOTSPOTS_STACKS, HOTSPOTS_SORT, HOTSPOTS_COMMS, HOTSPOTS_DSOS, HOTSPOTS_THAN, HOTSPOTS_BELOW, HOTSPOTS_CALLERS,
	HOTSPOTS_CALLEES, HOTSPOTS_TREE, HOTSPOTS_ANNOTATE, HOTSPOTS_INLINE_ROWS, HOTSPOTS_NOPTS
};
extern const struct opt hotspots_opts[HOTSPOTS_NOPTS];
/* Call it first in a command's run(): --callers, --callees and --tree turn on -g; with --json they are refused. command: its name. */
int hotspots_check(struct analysis_opts *o, const char *command, struct fault *f);
int hotspots_parse_rows(const char *text, void *field, struct fault *f);   /* into an uint64_t; "0": UINT32_MAX */

/* --sort: what makes a row. */
enum {
	SORT_COMM = 1 << 0, SORT_PID = 1 << 1, SORT_CPU = 1 << 2, SORT_SYMBOL = 1 << 3, SORT_LINE = 1 << 4, SORT_DSO = 1 << 5,
	SORT_CGROUP = 1 << 6, SORT_TID = 1 << 7,
	SORT_DEFAULT = SORT_SYMBOL | SORT_DSO,
};

/* Whether functions of Python under -X perf replace those of the interpreter: not where these are asked for. */
static inline bool hotspots_merge_python(const struct analysis_opts *o)
{
	return !o->full && !o->inline_rows && !o->annotate.n && !(o->sort & SORT_LINE);
}

struct hotspots {
	struct groups all;           /* of struct hotspot */
	struct groups names;         /* of struct task_name */
	struct task_name *recent;    /* the last one used */
	struct groups processes;     /* of struct process_name, if rows are by process */
	uint64_t weight, samples;    /* sums */
	double squares;              /* sum of the squares of the samples' weights */
	struct task_name *program;   /* of the next sample: hotspots_see(); NULL: not known */
	int64_t pid, tid;            /* names_task() of the next sample: hotspots_see(); 0: rows are not by process, or thread */
	uint32_t cpu;                /* likewise */
	const char *cgroup;          /* likewise; NULL: rows are not by control group */
	size_t nmore;                /* number of other events' counts in each sample; set before the first */
	uint64_t blocked;            /* part of the weight: time off CPUs */
	uint64_t left_out, left_out_blocked, left_out_samples;   /* parts of weight, blocked and samples, by --comm and --dso */
	uint64_t own;                /* waits of the recording itself, which are in no sum */
	uint64_t refused;            /* weight without a stack, or that there was no room for */
	uint64_t refused_blocked;    /* part of refused: time off CPUs */
};

void hotspots_free(struct hotspots *h);   /* frees all; h can be used again */
/* Before a sample is added: its program, if tasks may get a column; its process, CPU and control group, if --sort names them. */
void hotspots_see(struct hotspots *h, struct analysis *a, const struct analysis_sample *s);
/* Adds a sample. blocked: time off the CPU, in separate rows; it is the self time of the function that called the
 * kernel, not of the scheduler. */
void hotspots_add(struct hotspots *h, const char *comm, struct callstack *stack, uint64_t weight,
		  bool blocked);
/* Adds time for which a task with this name slept in an unknown place. */
void hotspots_add_asleep(struct hotspots *h, const char *comm, uint64_t ns);
/* Adds a group's sample: the weight, then h->nmore counts of other events; all may be 0. */
void hotspots_add_counts(struct hotspots *h, const char *comm, struct callstack *stack, const uint64_t *counts);

/* Adds time for which tasks with this name were on CPUs. */
void hotspots_measure(struct hotspots *h, const char *comm, uint64_t ns);
/* Before output: replaces the weights of samples on CPUs by the measured time. The time of a name is divided among its
 * samples by weight; without samples, it is in a row "[not sampled]". Kernels before 5.16 do not measure real-time
 * tasks: without a measured time, the mean time per weight is used. */
void hotspots_spread(struct hotspots *h);

/* The ratio of two counts: `of` divided by `by`. 0 is the event of the weights, 1 the first other one. */
struct hotspots_ratio {
	size_t of, by;
	double factor;
	const char *unit;            /* "insn per cycle", "% of all branches" */
};

struct hotspots_view {
	const char *name;            /* the tables' name */
	const char *what;            /* the event whose counts are the weights: "cpu-clock" */
	const char *sampled;         /* the same, with its rate: "cpu-clock, 997 Hz" */
	const struct stream_event *event;   /* the event of the samples; NULL: several events */
	unsigned int functions, stacks;   /* rows of text; 0: no such table. JSON has all functions */
	unsigned int fits;           /* rows of functions that fit, whatever --rows says; 0: no limit */
	bool timed;                  /* the weights are ns on and off CPUs, and have a column; */
	uint64_t preempted;          /* and the ns that are in neither: waits for a CPU of preempted tasks */
	uint64_t unseen;             /* stretches on CPUs that could not be measured */
	uint64_t idle;               /* weight of idle CPUs, which is not in the tables */
	bool has_outside;            /* part of `idle` may be from tasks outside of this PID namespace */
	bool without_kernel;         /* the event excludes the kernel */
	bool lowered;                /* as this user may not sample it */
	uint64_t cpu_time, shown_time;   /* ns of the watched processes, with the kernel's; the part in the table; 0: not known */
	uint64_t counted_all;        /* what the kernel counted of the event, if clearly more than was sampled; else 0 */
	uint64_t faults;             /* page faults of these, with the kernel's; 0: not known */
	uint64_t torn;               /* stacks that are missing, because they changed each time they were read */
	uint64_t late;               /* times at which no sample was taken: perf-prof did not get a CPU */
	uint64_t skid;               /* samples in the kernel, though the event counts user space only */
	bool counted;                /* the weights are counts, whose sum is reported */
	uint64_t count;              /* the sum, with idle CPUs */
	bool in_ns;                  /* the sum is ns */
	bool elapsed;                /* of elapsed time, of all threads */
	const char *chainless;       /* the event for blocked time, if it has no call chains; or NULL */
	const char *if_none;         /* what would show more, if there are no samples; NULL: nothing */
	bool may_read_python;        /* --python would show the Python functions of an interpreter */
	bool placeless;              /* samples have no call chain and no address */
	const char *const *more;     /* hotspots.nmore names of other events */
	const uint64_t *more_counts; /* their counts without idle CPUs */
	const uint64_t *more_idle;   /* their counts on idle CPUs */
	const struct hotspots_ratio *ratios;
	size_t nratios;
};
/* Sets view->counted_all, of a whole run. */
void hotspots_find_unsampled(const struct analysis *a, const struct stream_event *event, const struct hotspots *h,
			     struct hotspots_view *view);
/* What the watched processes have used by now. False: not all of them are known, or samples are left out for another reason. */
bool hotspots_read_cputime(const struct stream_opts *o, struct cputime *t);
/* Prints the tables as text or JSON. to: the end of their time. */
void hotspots_print(struct analysis *a, struct hotspots *h, const struct hotspots_view *view, uint64_t to);
/* At the end: 0, or -1 with f if no sample was in the function of --annotate, --callers or --callees, or passed --comm and --dso.
 * what: the events. */
int hotspots_found(const struct analysis *a, const char *what, struct fault *f);
/* Whether --dso selects a file, which may also call another one that is left out. */
bool hotspots_selects_dso(const struct analysis_opts *o, const char *dso);
/* At the end: 0, or -1 with f if --comm and --dso have left out all. what: the events; command: "perf-prof report ", unless this
 * command has --sort. */
int hotspots_selected(const struct analysis *a, const char *what, const char *command, struct fault *f);
/* Adds all stacks to f. event: the event whose counts are the weights; NULL: not samples of one event. */
void hotspots_fold(struct analysis *a, struct hotspots *h, struct folded *f, const char *event);
/* Adds all stacks to a picture, if there is one: those of the interval that ends at `to`; 0: they are not of an interval. */
void hotspots_draw(struct analysis *a, struct hotspots *h, struct flame_config *flame, uint64_t to, const char *event);
/* On a terminal: replaces its contents by the functions so far, as many as fit. */
void hotspots_refresh(struct analysis *a, struct hotspots *h, struct hotspots_view view, uint64_t to);
/* Calls fn for each stack, with names. */
void hotspots_each(struct analysis *a, struct hotspots *h,
		   void (*fn)(void *ctx, const struct callstack *stack, uint64_t weight), void *ctx);
#endif
