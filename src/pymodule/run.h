/* SPDX-License-Identifier: Apache-2.0 */
/* `perf-prof python` and `perf-prof sql` in the interpreter of an environment: pyhost/become.c starts it. */
#ifndef PYMODULE_RUN_H
#define PYMODULE_RUN_H

#include <Python.h>

/* _main(signals, words, name="python"): runs the command of that name and ends the process. */
PyObject *run_main(PyObject *module, PyObject *args);
#endif
