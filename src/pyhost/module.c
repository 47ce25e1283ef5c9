/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in module perf_prof. */
#include "pyhost/frames.h"
#include "pyhost/host.h"

struct state {
	struct host *host;   /* NULL before host_start() */
};

void module_set_host(PyObject *module, struct host *h)
{
	((struct state *)PyModule_GetState(module))->host = h;
}

static PyObject *restore(PyObject *module, PyObject *args)
{
	return event_restore(((struct state *)PyModule_GetState(module))->host, args);
}

static PyMethodDef functions[] = {
	{ "_restore", restore, METH_VARARGS, "An event out of its pickle." },
	{ NULL, NULL, 0, NULL },
};

static int exec_module(PyObject *module)
{
	static PyTypeObject *(*const make[])(PyObject *module) = { event_type_new, frame_type_new };

	for (size_t i = 0; i < sizeof(make) / sizeof(*make); i++) {
		PyTypeObject *type = make[i](module);
		int rc = type ? PyModule_AddType(module, type) : -1;

		Py_XDECREF(type);
		if (rc)
			return -1;
	}
	return 0;
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, exec_module },
	{ 0, NULL },
};

static struct PyModuleDef def = {
	PyModuleDef_HEAD_INIT,
	.m_name = "perf_prof",
	.m_doc = "Kernel events in Python functions. A script run by `perf-prof python` finds this\n"
		 "module imported; its handlers get PerfEvent objects: help(perf_prof.PerfEvent).",
	.m_size = sizeof(struct state),
	.m_methods = functions,
	.m_slots = slots,
};

PyObject *PyInit_perf_prof(void)
{
	return PyModuleDef_Init(&def);
}
