/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof convert --to parquet inside its Python. */
#include "python/sql.h"

#include "engine/analysis.h"
#include "export/convert.h"
#include "stream/replay/replay.h"

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
