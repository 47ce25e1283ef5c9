/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in module perf_prof, and what it shares with the extension module. */
#include "python/native.h"

#include "python/frames.h"
#include "python/host.h"

static PyObject *restore(PyObject *module, PyObject *args)
{
	return event_restore(native_of(module)->host, args);
}

static PyObject *concat(PyObject *module, PyObject *batches)
{
	return batches_concat(&native_of(module)->batches, batches);
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

	struct native *state = module ? native_of(module) : NULL;

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
	if (batch_types_add(module, &native_of(module)->batches))
		return -1;
	return PyModule_AddFunctions(module, functions);
}

int hostmodule_traverse(PyObject *module, visitproc visit, void *arg)
{
	struct native *n = native_of(module);

	Py_VISIT(n->session);
	Py_VISIT(n->aggregate);
	Py_VISIT(n->stream);
	return batch_types_visit(&n->batches, visit, arg);
}

int hostmodule_clear(PyObject *module)
{
	struct native *n = native_of(module);

	Py_CLEAR(n->session);
	Py_CLEAR(n->aggregate);
	Py_CLEAR(n->stream);
	batch_types_clear(&n->batches);
	return 0;
}

void hostmodule_free(void *module)
{
	hostmodule_clear(module);
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
	.m_size = sizeof(struct native),
	.m_slots = slots,
	.m_traverse = hostmodule_traverse,
	.m_clear = hostmodule_clear,
	.m_free = hostmodule_free,
};

PyObject *PyInit_perf_prof(void)
{
	return PyModuleDef_Init(&def);
}
