/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a profile, for the files that fill and print them. */
#ifndef ANALYSIS_PROFILES_HOTSPOTS_PRIVATE_H
#define ANALYSIS_PROFILES_HOTSPOTS_PRIVATE_H

#include "analysis/profiles/hotspots.h"
#include "report/fit.h"
#include "report/folded.h"

enum { HOTSPOTS_FRAMES = 1024 };    /* of a stack in pictures and trees */

/* --stacks 0 */
#define HOTSPOTS_NO_STACKS UINT64_MAX

struct hotspot_key {
	const char *comm;            /* the text of a task_name */
	struct callstack *stack;     /* NULL: the place is not known */
	uint64_t blocked;
	int64_t pid, tid, cpu;       /* 0, unless rows are by these */
	const char *cgroup;          /* likewise; NULL */
};

struct hotspot {
	struct hotspot_key key;
	uint64_t weight, samples;
	uint64_t more[];             /* hotspots.nmore counts */
};

/* The stack; if it is not known, one frame: "[not sampled]" or "[asleep throughout]". */
const struct callstack *hotspot_stack(const struct hotspot *spot);
/* The name of a process in these rows: that of its first thread, as last seen. */
const char *hotspots_process(const struct hotspots *h, int64_t pid);
/* Whether samples are of several programs: at least 1 % are not of the main one. Threads of a program have names, too. */
bool hotspots_have_programs(const struct hotspots *h);
/* The frame whose self weight this is: the innermost one. Blocked stacks all end in the scheduler: for them, it is
 * the function in user space that called the kernel, or, in kernel threads, the first function outside of the
 * scheduler. */
uint32_t hotspot_own_frame(const struct hotspot *spot);
/* --annotate: the source lines of a function. */
void hotspots_annotate(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view);
/* Before output: callstacks_expand() for all stacks, then hotspots_drop_own() and hotspots_select(). */
void hotspots_prepare(struct analysis *a, struct hotspots *h);
/* Drops the waits of the recording itself. */
void hotspots_drop_own(struct analysis *a, struct hotspots *h);
/* Drops the stacks that --comm and --dso leave out. */
void hotspots_select(struct analysis *a, struct hotspots *h);
/* What follows outside of the frames: "[cut]", if its outermost callers are missing; the task. */
enum { HOTSPOT_CUT = 1, HOTSPOT_TASK = 2 };
/* Adds these frames of its stack, innermost first, and `roots`. FOLDED_ROOT_FIRST: the innermost frame is the root. */
void hotspot_fold(const struct hotspot *spot, struct callstack part, enum folded_order order, unsigned int roots, struct folded *f);
/* The name of the option that replaces the list of stacks, such as "--tree"; NULL: none is given. */
const char *hotspots_stacks_option(const struct analysis_opts *o);
/* Puts a name on stdout: escaped, and shortened to part of a line of the terminal. */
void hotspots_put(const struct analysis *a, enum fit fit, const char *text);
/* The hottest stacks as text, below the table. */
void hotspots_print_stacks(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view);

/* The line above the tables. To be freed; NULL: out of memory. */
char *hotspots_caption(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view, const char *when);

static inline uint64_t hotspots_more(const struct hotspots_view *view, size_t i)
{
	return view->more_counts[i] + view->more_idle[i];
}

static inline double hotspots_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}
#endif
