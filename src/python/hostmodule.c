/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in module perf_prof, and what it shares with the extension module. */
#include "python/hostmodule.h"

#include "python/frames.h"
#include "python/host.h"

static PyObject *restore(PyObject *module, PyObject *args)
{
	return event_restore(((struct hostmodule *)PyModule_GetState(module))->host, args);
}

static PyObject *concat(PyObject *module, PyObject *batches)
{
	return batches_concat(&((struct hostmodule *)PyModule_GetState(module))->batches, batches);
}

static PyMethodDef functions[] = {
	{ "concat", concat, METH_O, "concat(batches): the rows of batches with the same columns as one batch, a copy." },
	{ "_restore", restore, METH_VARARGS, "An event out of its pickle." },
	{ "_nearest", host_nearest, METH_VARARGS, "_nearest(wanted, names): the most similar name, or None." },
	{ NULL, NULL, 0, NULL },
};

/* In a package, it is a module inside that has the state: the one that _restore() is bound to. */
int hostmodule_set_host(PyObject *package, struct host *h)
{
	PyObject *bound = PyObject_GetAttrString(package, "_restore");
	PyObject *module = bound ? PyObject_GetAttrString(bound, "__self__") : NULL;

	struct hostmodule *state = module ? PyModule_GetState(module) : NULL;

	if (state) {
		state->host = h;
		h->batch_types = &state->batches;
	}
	Py_XDECREF(bound);
	Py_XDECREF(module);
	return module ? 0 : -1;
}

int hostmodule_fill(PyObject *module)
{
	static PyTypeObject *(*const make[])(PyObject *module) = { event_type_new, frame_type_new };

	for (size_t i = 0; i < sizeof(make) / sizeof(*make); i++) {
		PyTypeObject *type = make[i](module);
		int rc = type ? PyModule_AddType(module, type) : -1;

		Py_XDECREF((PyObject *)type);
		if (rc)
			return -1;
	}
	if (batch_types_add(module, &((struct hostmodule *)PyModule_GetState(module))->batches))
		return -1;
	return PyModule_AddFunctions(module, functions);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
	return batch_types_visit(&((struct hostmodule *)PyModule_GetState(module))->batches, visit, arg);
}

static int clear(PyObject *module)
{
	batch_types_clear(&((struct hostmodule *)PyModule_GetState(module))->batches);
	return 0;
}

static void free_state(void *module)
{
	clear(module);
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, hostmodule_fill },
	{ 0, NULL },
};

static struct PyModuleDef def = {
	PyModuleDef_HEAD_INIT,
	.m_name = "perf_prof",
	.m_doc = "Kernel events in Python functions. A script run by `perf-prof python` finds this\n"
		 "module imported; its handlers get PerfEvent objects: help(perf_prof.PerfEvent).",
	.m_size = sizeof(struct hostmodule),
	.m_slots = slots,
	.m_traverse = traverse,
	.m_clear = clear,
	.m_free = free_state,
};

PyObject *PyInit_perf_prof(void)
{
	return PyModuleDef_Init(&def);
}
