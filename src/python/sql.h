/* SPDX-License-Identifier: Apache-2.0 */
/* Commands inside their Python: `perf-prof sql`, `perf-prof convert --to parquet`. */
#ifndef PYTHON_SQL_H
#define PYTHON_SQL_H

#include "python/python.h"
#include "python/sql_options.h"

/* Their run(). */
int sql_ask(void *config, const struct opt_parser *args, struct fault *f);
int parquet_ask(void *config, const struct opt_parser *args, struct fault *f);
/* The exception as a fault: -1. Where it is not one of those that users cause, its traceback is printed. */
int ask_failed(struct fault *f);

/* What a session is asked for beside the options. */
struct sql_asked {
	char *const *job;            /* a command to watch, NULL terminated; or NULL */
	bool everybody;              /* see struct session_asked */
	bool stacks;                 /* likewise */
};

/* Takes over the options. The session begins when it is first read. NULL with an exception. */
PyObject *sql_session(PyObject *native, struct stream_opts *stream, const struct sql_asked *more);
#endif
