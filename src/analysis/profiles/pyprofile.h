/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile of Python programs: the functions of their threads, read from the interpreter's memory at a rate
 * (pystack/pystack.h). No perf event is opened.
 */
#ifndef ANALYSIS_PROFILES_PYPROFILE_H
#define ANALYSIS_PROFILES_PYPROFILE_H

#include "analysis/profiles/profile.h"
#include "report/flame.h"

/* The options; and what the rest of the command line asks for. */
struct pyprofile_opts {
	int python;                  /* OPT_TRI: --python, --no-python */
	bool gil, idle, tasks;       /* --gil, --idle, --tasks */
	struct profile_opts *profile;
	struct flame_config *flame;
	bool refreshes;              /* on a terminal: the table so far, each second */
	const char *other;           /* an option that only samples of events know; NULL: none was given */
};

/* The event in folded stacks of --idle, whose weights are elapsed ns. */
#define PYPROFILE_ELAPSED "python-elapsed"

enum { PYPROFILE_NOPTS = 4 };
extern const struct opt pyprofile_opts[PYPROFILE_NOPTS];

/* Whether Python functions are to be shown: with --python, or if all that -p names are Python programs that can be read, and
 * no option needs samples of events. 1; 0; or -1 with f: --python does not fit. */
int pyprofile_is_wanted(const struct pyprofile_opts *o, const struct opt_parser *args, struct fault *f);
/* The run; returns the exit code. */
int pyprofile_run(const struct pyprofile_opts *o, const struct opt_parser *args, struct fault *f);
#endif
