/* SPDX-License-Identifier: Apache-2.0 */
/* `perf-prof python` in the interpreter of an environment: pyhost/launch.c starts it. */
#ifndef PYMODULE_RUN_H
#define PYMODULE_RUN_H

#include <Python.h>

/* _main(signals, words): runs the command and ends the process. */
PyObject *run_main(PyObject *module, PyObject *args);
#endif
