/* SPDX-License-Identifier: Apache-2.0 */
/* Two profiles that are compared, for the files that read and print them. */
#ifndef ANALYSIS_PROFILES_DIFF_PRIVATE_H
#define ANALYSIS_PROFILES_DIFF_PRIVATE_H

#include "analysis/profiles/hotspots.h"
#include "analysis/profiles/shares.h"
#include "engine/analysis.h"
#include "engine/progress.h"
#include "keeper/reading.h"
#include "report/flame.h"

/* Where the callers in a recording come from. */
enum chains { CHAINS_NONE, CHAINS_FP, CHAINS_DWARF, CHAINS_BRANCHES };

/* A recording, or a file of folded stacks. */
struct input {
	const char *path;
	int fd;                      /* open, if it is a regular file or a pipe; else -1 */
	bool is_folded;              /* folded stacks; else a recording */
};

/* BEFORE or AFTER: one input, or several of runs of the same program. */
struct side {
	struct input *inputs, *in;   /* in: the one that is read */
	size_t n, runs;              /* runs: the inputs that have samples */
	char name[300];              /* what messages call it: "old.data", "old.1.data and 4 more" */
	enum chains chains;          /* of a recording */
	enum folded_inlined inlined;
	char what[128];              /* the event that is compared; "": not known */
	bool mixed;                  /* not all recordings have the same of the three below */
	bool in_ns;                  /* weights are CPU time */
	bool without_kernel;         /* the event has user space only */
	bool off_cpu;                /* time off CPUs was also recorded, and is not compared */
	bool of_command;             /* from its start on, so that its CPU time is that of its work */
	uint64_t samples, weight, lost;   /* samples: 0: not known */
	uint64_t left_out;           /* weight of samples that --comm and --dso leave out */
	uint64_t slowest, fastest;   /* Hz at which the recordings were sampled; 0: not known */
	uint64_t throttled;          /* ns for which the event was throttled, at most */
	bool timed;                  /* folded stacks of times, without samples */
	bool uncounted;              /* of some of the inputs, the number of samples is not known */
	double squares;              /* sum of the squares of the samples' weights */
	struct folded *folded;
};

/* After its name. */
static inline const char *has(const struct side *side)
{
	return side->n > 1 ? "have" : "has";
}

struct diff {
	struct analysis_opts common;
	struct flame_config flame;
	struct opt_strings vs;       /* of --vs */
	bool total, different;
	bool csv, csv_safe;
	int names_alone;             /* -1: files that were renamed are not matched either */
	struct shares_move renamed[SHARES_MOVES];   /* pairs of files whose functions are matched by name */
	size_t nrenamed;
	bool of_folded;              /* a side is folded stacks, without files and marks of inlined functions */
	uint64_t confidence;         /* hundredths of a percent */
	uint64_t least;              /* likewise */
	struct side sides[SHARES_SIDES];
	struct input *inputs;        /* of both sides */
	struct side *side;           /* the one that is being read */
	struct shares *shares;
	struct kallsyms *kernel;     /* the kernel's table, which recordings share */
	struct hotspots hot;
	const struct stream_event *event;
	bool all;
	struct progress progress;
};

/* diff_inputs.c: which recordings or folded stacks are compared. 0, or -1 with f. */
int diff_inputs(struct diff *d, const struct opt_parser *args, struct fault *f);
/* Opens them, perhaps as root; they are read with the rights of the user who ran sudo. 0, or -1 with f. */
int diff_open_inputs(struct diff *d, struct reading *reading, const struct opt_parser *args, struct fault *f);
void diff_close_inputs(struct diff *d);

/* The table, and the lines below it. */
int diff_show(struct diff *d, struct fault *f);
#endif
