/* SPDX-License-Identifier: Apache-2.0 */
/* `perf-prof python` and its options, also for builds without Python. */
#ifndef PYTHON_PYTHON_OPTIONS_H
#define PYTHON_PYTHON_OPTIONS_H

#include "base/command.h"
#include "stream/stream.h"

struct python_config {
	struct stream_opts stream;
	bool everybody;          /* -a */
	const char *venv, *user, *workload;
	uint64_t batch;                 /* rows */
};

extern const struct command python_command;

/* What has to be there before Python can start: a script, descriptors, the environment of --venv. 0, or -1 with f. */
int python_check_start(const struct python_config *config, const struct opt_parser *args, struct fault *f);
/* Runs the script, or fails in a build without Python. */
int python_run(void *config, const struct opt_parser *args, struct fault *f);
/* "3.11.2 (/usr/bin/python3)", or "no". */
const char *python_version(void);
#endif
