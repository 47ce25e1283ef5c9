/* SPDX-License-Identifier: Apache-2.0 */
#include "python/native.h"

#include "analysis/commands.h"
#include "base/output.h"
#include "base/signals.h"
#include "export/commands.h"
#include "python/become.h"
#include "python/python_options.h"
#include "python/session.h"
#include "python/sql_options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* `perf-prof python` and `perf-prof sql` in the interpreter of an environment: python/become.c starts it. */

static int end_output(int code)
{
	const int error = output_flush(stdout);

	if (!error || error == EPIPE)
		return code;
	fprintf(stderr, "perf-prof: cannot write to stdout: %s\n", strerror(error));
	return code ? code : EXIT_FAILED;
}

/* The command of that name as it runs here. False: there is none. */
static bool find_command(const char *name, struct command *out)
{
	static const struct {
		const struct command *command;
		int (*run)(void *config, const struct opt_parser *args, struct fault *f);
	} inside[] = {
		{ &python_command, python_run }, { &sql_command, sql_ask }, { &convert_command, parquet_ask },
	};

	for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++)
		if (!strcmp(inside[i].command->name, name)) {
			*out = *inside[i].command;
			out->run = inside[i].run;
			return true;
		}
	return false;
}

/* _main(signals, words, name="python"): runs the command of that name and ends the process. */
static PyObject *run_main(PyObject *module, PyObject *args)
{
	unsigned int signals;
	const char *name = "python";
	struct command command;
	PyObject *list;
	char **words;   /* they live as long as the process */
	size_t n;

	if (!PyArg_ParseTuple(args, "IO!|s", &signals, &PyList_Type, &list, &name))
		return NULL;
	if (!find_command(name, &command))
		return PyErr_Format(PyExc_ValueError, "there is no command %s here", name);
	words = words_of(list, &n);
	if (!words)
		return NULL;
	prctl(PR_SET_NAME, "perf-prof");   /* as its events show it */
	pysignals_end(signals);
	signals_pass(SIGPIPE);
	exit(end_output(command_run(&command, (int)n, words, analysis_sources)));
}

static PyMethodDef functions[] = {
	{ "_main", run_main, METH_VARARGS, "(signals, words, name='python'): the command of that name with these words; does not return." },
	{ "_stream", capsule_batches, METH_VARARGS,
	  "(session, batches): a list of its whole batches, or None: all to come, as an Arrow stream." },
	{ "_batch", batch_of_lists, METH_VARARGS, "_batch(NAMES, TYPES, LISTS, names_events=True): a batch of these columns; None is null." },
	{ NULL, NULL, 0, NULL },
};

static int add_version(PyObject *module)
{
	return PyModule_AddStringConstant(module, "__version__", PERF_PROF_VERSION);
}

static int native_exec(PyObject *module)
{
	static int (*const steps[])(PyObject *module) = {
		add_version, hostmodule_fill, session_type_add, aggregate_type_add, stream_type_add,
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i](module))
			return -1;
	return 0;
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, native_exec },
	{ 0, NULL },
};

static struct PyModuleDef def = {
	PyModuleDef_HEAD_INIT,
	.m_name = "perf_prof._native",
	.m_doc = "The C part of perf_prof.",
	.m_size = sizeof(struct native),
	.m_methods = functions,
	.m_slots = slots,
	.m_traverse = hostmodule_traverse,
	.m_clear = hostmodule_clear,
	.m_free = hostmodule_free,
};

PyMODINIT_FUNC PyInit__native(void);   /* no header has it */

PyMODINIT_FUNC PyInit__native(void)
{
	return PyModuleDef_Init(&def);
}
