/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof sql inside its Python: a session of the command's options, for python/perf_prof/_sqlcommand.py. */
#include "engine/analysis.h"
#include "export/convert.h"
#include "python/session.h"
#include "python/sql_options.h"
#include "stream/replay/replay.h"
#include "tasks/workload.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- sessions ----------------------------------------------------------------------- */

static char **copy_words(char *const *words)
{
	size_t n = 0;
	char **copy;

	while (words[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++)
		if (!(copy[i] = strdup(words[i]))) {
			session_free_words(copy);
			return NULL;
		}
	return copy;
}

/* What a session is asked for beside the options. */
struct sql_asked {
	char *const *job;            /* a command to watch, NULL terminated; or NULL */
	bool everybody;              /* see struct session_asked */
	bool stacks;                 /* likewise */
};

/* Takes over the options. The session begins when it is first read. NULL with an exception. */
static PyObject *sql_session(PyObject *native, struct stream_opts *stream, const struct sql_asked *more)
{
	struct session_asked asked;

	session_asked_init(&asked);
	asked.hold = true;
	asked.everybody = more->everybody;
	asked.stacks = more->stacks;
	asked.stream = *stream;
	asked.stream.embedded = true;
	asked.stream.interval_ms = 0;   /* the query's */
	asked.ns = asked.stream.run_ns;
	asked.stream.run_ns = 0;
	memset(stream, 0, sizeof(*stream));
	stream->input_fd = -1;
	if (more->job && !(asked.command = copy_words(more->job))) {
		session_asked_free(&asked);
		return PyErr_NoMemory();
	}
	return session_object_new(native_of(native), &asked);
}

/* ---- messages ----------------------------------------------------------------------- */

/* The attribute as a text, or NULL if it is none. */
static PyObject *text_attribute(PyObject *error, const char *name)
{
	PyObject *words = attribute(error, name);

	if (words && !PyUnicode_Check(words))
		Py_CLEAR(words);
	return words;
}

/* Python puts "[Errno 13]" before the words of an OSError: a command's message does without. */
static PyObject *text_of_error(PyObject *error)
{
	PyObject *words = PyErr_GivenExceptionMatches(error, PyExc_OSError) ? text_attribute(error, "strerror") : NULL;
	PyObject *file = words ? text_attribute(error, "filename") : NULL, *text;

	if (!words)
		return PyObject_Str(error);
	text = file ? PyUnicode_FromFormat("%U: %U", file, words) : PyUnicode_FromObject(words);
	Py_XDECREF(file);
	Py_DECREF(words);
	return text;
}

/* The exception as a fault: -1. Where it is not one of those that users cause, its traceback is printed. */
static int ask_failed(struct fault *f)
{
	PyObject *error, *trace, *text, *bytes;
	bool usage = PyErr_ExceptionMatches(PyExc_ValueError);
	bool known = usage || PyErr_ExceptionMatches(PyExc_ImportError) || PyErr_ExceptionMatches(PyExc_OSError) ||
		     PyErr_ExceptionMatches(PyExc_RuntimeError) || PyErr_ExceptionMatches(PyExc_MemoryError);

	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
		PyErr_Clear();
		return fault_set(f, EXIT_INTERRUPTED, "interrupted");
	}
	error = take_error();
	text = error ? text_of_error(error) : NULL;
	bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL;
	fault_set(f, usage ? EXIT_USAGE : EXIT_FAILED, "%s", bytes ? PyBytes_AS_STRING(bytes) : "an exception without a text");
	Py_XDECREF(text);
	Py_XDECREF(bytes);
	trace = error && !known ? PyException_GetTraceback(error) : NULL;
	if (!known)
		PyErr_Display((PyObject *)Py_TYPE(error), error, trace);
	Py_XDECREF(trace);
	Py_XDECREF(error);
	return -1;
}

static int ask(PyObject *command, struct sql_config *config, const struct opt_parser *args, struct fault *f)
{
	unsigned long long interval = config->stream.interval_ms;
	const struct sql_asked asked = { .job = sql_job(args), .everybody = config->everybody };
	int verbose = config->stream.verbose, code = -1;
	PyObject *native = PyImport_ImportModule("perf_prof._native");
	PyObject *signals = native ? PyObject_CallMethod(command, "Signals", "O", config->stream.input ? Py_True : Py_False) : NULL;
	PyObject *session = signals ? sql_session(native, &config->stream, &asked) : NULL;
	PyObject *query = session ? PyUnicode_DecodeFSDefault(args->operands[0]) : NULL;
	PyObject *rc = query ? PyObject_CallMethod(command, "run", "OOOKsii", signals, session, query, interval,
						   config->json ? "json" : config->csv ? "csv" : "text", asked.job != NULL, verbose) : NULL;

	if (rc)
		code = (int)PyLong_AsLong(rc);
	if (PyErr_Occurred())
		code = ask_failed(f);
	Py_XDECREF(rc);
	Py_XDECREF(query);
	Py_XDECREF(session);
	Py_XDECREF(signals);
	Py_XDECREF(native);
	return code;
}

int sql_ask(void *config_, const struct opt_parser *args, struct fault *f)
{
	struct sql_config *config = config_;
	struct reading reading = { 0 };
	char *const *job = sql_job(args);
	PyObject *command, *checked;
	char path[PATH_MAX];
	int code = -1;

	if (sql_check(config, args, f))
		return -1;
	if (job && !workload_find(job[0], path, sizeof(path)))   /* as an exception it would have no exit code */
		return workload_missing(job[0], f);
	/* DuckDB is loaded first: who may read a recording from another user need not be one who may read the environment */
	command = PyImport_ImportModule("perf_prof._sqlcommand");
	checked = command ? PyObject_CallMethod(command, "check", NULL) : NULL;
	if (!checked)
		ask_failed(f);
	else if (!analysis_open_input(&config->stream, &reading, args, f))
		code = ask(command, config, args, f);
	Py_XDECREF(checked);
	Py_XDECREF(command);
	reading_end(&reading);
	return code;
}

/* ---- convert --to parquet ----------------------------------------------------------- */

/* perf-prof convert --to parquet inside its Python. */

static int write_all(PyObject *module, struct convert *c, struct fault *f)
{
	PyObject *native = PyImport_ImportModule("perf_prof._native");
	PyObject *session = native ? sql_session(native, &c->common.stream, &(struct sql_asked){ .stacks = true }) : NULL;
	PyObject *folder = session ? PyUnicode_DecodeFSDefault(c->out) : NULL;
	PyObject *done = folder ? PyObject_CallMethod(module, "run", "OOss", session, folder, c->host, c->date) : NULL;
	int code = done ? 0 : ask_failed(f);

	Py_XDECREF(done);
	Py_XDECREF(folder);
	Py_XDECREF(session);
	Py_XDECREF(native);
	return code;
}

int parquet_ask(void *config, const struct opt_parser *args, struct fault *f)
{
	struct convert *c = config;
	struct reading reading = { 0 };
	PyObject *module, *checked;
	struct opt_parser rest;
	int code = -1;

	if (analysis_take_input("convert", &c->common.stream, args, &rest, f))
		return -1;
	c->common.stream.sources = c->sources;
	/* see sql_ask() */
	module = PyImport_ImportModule("perf_prof._parquetcommand");
	checked = module ? PyObject_CallMethod(module, "check", NULL) : NULL;
	if (!checked)
		ask_failed(f);
	else if (!analysis_open_input(&c->common.stream, &reading, &rest, f))
		code = write_all(module, c, f);
	Py_XDECREF(checked);
	Py_XDECREF(module);
	reading_end(&reading);
	return code;
}
