/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python that runs a script, where pip installed perf-prof: the one of its environment. The program has no interpreter;
 * launch.c replaces it by that Python, whose module perf_prof._native then runs the command.
 */
#ifndef PYTHON_ENVIRONMENT_H
#define PYTHON_ENVIRONMENT_H

#include "base/fault.h"

#include <stddef.h>

/* The interpreter of --venv, or else of perf-prof's own environment. 0, or -1 with f. */
int environment_python(const char *venv, char *path, size_t size, struct fault *f);
/* Root starts no Python whose packages another user can change. 0, or -1 with f. */
int environment_check_root(const char *python, struct fault *f);
/* Root loads no libraries that another user can change: those below the program's own prefix, if Python's environment is another
 * one. 0, or -1 with f. */
int environment_check_own(const char *python, struct fault *f);
#endif
