/* SPDX-License-Identifier: Apache-2.0 */
/* `perf-prof sql` and its options. The command becomes a Python, in which the package perf_prof reads the options again and
 * does the work (python/sql.c). */
#ifndef PYTHON_SQL_OPTIONS_H
#define PYTHON_SQL_OPTIONS_H

#include "base/command.h"
#include "stream/stream.h"

struct sql_config {
	struct stream_opts stream;
	bool everybody;          /* -a */
	const char *venv;
	bool json, csv;
};

extern const struct command sql_command;

/* The command behind --, NULL terminated; NULL: there is none. */
char *const *sql_job(const struct opt_parser *args);
/* 0, or -1 with f. */
int sql_check(const struct sql_config *config, const struct opt_parser *args, struct fault *f);
/* Becomes Python, or fails: -1 with f. */
int sql_run(void *config, const struct opt_parser *args, struct fault *f);
#endif
