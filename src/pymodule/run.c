/* SPDX-License-Identifier: Apache-2.0 */
#include "pymodule/run.h"

#include "analysis/commands.h"
#include "base/signals.h"
#include "export/commands.h"
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

PyObject *run_main(PyObject *module, PyObject *args)
{
	unsigned int signals;
	const char *name = "python";
	struct command command;
	PyObject *list;
	char **words;

	if (!PyArg_ParseTuple(args, "IO!|s", &signals, &PyList_Type, &list, &name))
		return NULL;
	if (!find_command(name, &command))
		return PyErr_Format(PyExc_ValueError, "there is no command %s here", name);
	words = words_of(list, PyList_Size(list));
	if (!words)
		return NULL;
	prctl(PR_SET_NAME, "perf-prof");   /* as its events show it */
	pysignals_end(signals);
	signals_pass(SIGPIPE);
	exit(end_output(command_run(&command, (int)PyList_Size(list), words, analysis_sources)));
}
