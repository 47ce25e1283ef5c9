/* SPDX-License-Identifier: Apache-2.0 */
/* `perf-prof sql` inside its Python. */
#ifndef PYMODULE_SQL_H
#define PYMODULE_SQL_H

#include "pyhost/sql_options.h"

#include <Python.h>

/* Its run(). */
int sql_ask(void *config, const struct opt_parser *args, struct fault *f);

/* Takes over the options. job: a command to watch, NULL terminated; or NULL. It begins when it is first read. NULL with an
 * exception. */
PyObject *sql_session(PyObject *native, struct stream_opts *stream, char *const *job);
#endif
