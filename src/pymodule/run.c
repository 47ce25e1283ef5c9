/* SPDX-License-Identifier: Apache-2.0 */
#include "pymodule/run.h"

#include "analysis/commands.h"
#include "base/signals.h"
#include "pyhost/pysignals.h"
#include "pyhost/python_options.h"
#include "pymodule/sql.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

/* The words as the kernel passed them, NULL terminated; or NULL with an exception. They live as long as the process. */
static char **words_of(PyObject *list, Py_ssize_t n)
{
	char **words = PyMem_Calloc((size_t)n + 1, sizeof(*words));

	for (Py_ssize_t i = 0; words && i < n; i++) {
		PyObject *bytes = PyUnicode_EncodeFSDefault(PyList_GetItem(list, i));

		words[i] = bytes ? PyBytes_AsString(bytes) : NULL;   /* the reference is kept */
		if (!words[i])
			return NULL;
	}
	return words ? words : (char **)PyErr_NoMemory();
}

static int end_output(int code)
{
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE)
		return code;
	fprintf(stderr, "perf-prof: cannot write to stdout: %s\n", strerror(errno));
	return code ? code : EXIT_FAILED;
}

/* `perf-prof sql`, but for what it does. */
static const struct command *sql_inside(struct command *sql)
{
	*sql = sql_command;
	sql->run = sql_ask;
	return sql;
}

PyObject *run_main(PyObject *module, PyObject *args)
{
	unsigned int signals;
	const char *name = "python";
	struct command sql;
	PyObject *list;
	char **words;

	if (!PyArg_ParseTuple(args, "IO!|s", &signals, &PyList_Type, &list, &name))
		return NULL;
	words = words_of(list, PyList_Size(list));
	if (!words)
		return NULL;
	prctl(PR_SET_NAME, "perf-prof");   /* as its events show it */
	pysignals_end(signals);
	signals_pass(SIGPIPE);
	exit(end_output(command_run(strcmp(name, "sql") ? &python_command : sql_inside(&sql), (int)PyList_Size(list), words,
				    analysis_sources)));
}
