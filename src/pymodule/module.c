/* SPDX-License-Identifier: Apache-2.0 */
#include "pymodule/module.h"

#include "pymodule/run.h"
#include "pymodule/session.h"

static PyMethodDef functions[] = {
	{ "_main", run_main, METH_VARARGS, "(signals, words, name='python'): the command of that name with these words; does not return." },
	{ "_stream", capsule_batches, METH_VARARGS,
	  "(session, batches): a list of its whole batches, or None: all to come, as an Arrow stream." },
	{ "_batch", batch_of_lists, METH_VARARGS, "_batch(NAMES, TYPES, LISTS): a batch of these columns; None is null." },
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

static int native_traverse(PyObject *module, visitproc visit, void *arg)
{
	struct native *n = native_of(module);

	Py_VISIT(n->session);
	Py_VISIT(n->aggregate);
	Py_VISIT(n->stream);
	return batch_types_visit(&n->host.batches, visit, arg);
}

static int native_clear(PyObject *module)
{
	struct native *n = native_of(module);

	Py_CLEAR(n->session);
	Py_CLEAR(n->aggregate);
	Py_CLEAR(n->stream);
	batch_types_clear(&n->host.batches);
	return 0;
}

static void native_free(void *module)
{
	native_clear(module);
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
	.m_traverse = native_traverse,
	.m_clear = native_clear,
	.m_free = native_free,
};

PyMODINIT_FUNC PyInit__native(void);   /* no header has it */

PyMODINIT_FUNC PyInit__native(void)
{
	return PyModuleDef_Init(&def);
}
