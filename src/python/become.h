/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Becomes a Python (execve, so the process, its parent, terminal and descriptors stay the same), which loads the package
 * perf_prof and runs a command by perf_prof._native.
 *
 * That Python loads packages and .pth files of an environment before the first line of ours. So it only starts where the
 * process has no more rights than the user's code will have: for a user without capabilities of the program's file, and for
 * root itself. Where rights would be dropped between opening the events and running that code (sudo, --user,
 * capabilities), nothing is started: rings and descriptors of the one half are not handed to another program.
 */
#ifndef PYTHON_BECOME_H
#define PYTHON_BECOME_H

#include "base/options.h"

/* 0: the command's code may run with this process's rights; -1 with f. user: of --user, or NULL. */
int become_check_rights(const char *command, const char *user, const char *remedy, struct fault *f);
/* packages: a folder that has perf_prof; "": the Python has it. Returns only if it fails: -1 with f. */
int become_python(const char *python, const char *packages, const char *command, const struct opt_parser *args, struct fault *f);
/* The Python for --venv (or NULL), and `packages` for it. 0, or -1 with f: then it must not run. */
int become_find(const char *venv, char *python, size_t size, char *packages, size_t packages_size, struct fault *f);

/*
 * Signals while Python starts as a program. It ignores some, and what is ignored stays so in programs that it starts. And
 * Ctrl-C while it loads the packages of its environment is a fatal error of Python: it waits.
 */
/* Before that program starts. Returns the state that pysignals_end() restores, in it or if it could not be started. */
unsigned int pysignals_begin(void);
void pysignals_end(unsigned int state);
#endif
