/* SPDX-License-Identifier: Apache-2.0 */
/* The module pyperf._pyperf. */
#include "pyperf/pyperf.h"

#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(struct state, tables) == sizeof(((struct state *)0)->objects), "objects are all of them");

static struct state *state_in(PyObject *module)
{
	return PyModule_GetState(module);
}

struct state *state_of(PyTypeObject *type)
{
	PyObject *module;

	/* a subclass made in Python has no module, or another one */
	for (; type; type = PyType_GetSlot(type, Py_tp_base)) {
		if (!(PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE))
			break;
		module = PyType_GetModule(type);
		if (module && PyModule_GetDef(module) == &pyperf_module)
			return state_in(module);
		PyErr_Clear();
	}
	PyErr_SetString(PyExc_SystemError, "no type of pyperf");
	return NULL;
}

int add_object(PyObject *module, const char *name, PyObject *new)
{
	if (!new)
		return -1;
	if (PyModule_AddObject(module, name, new) == 0)
		return 0;
	Py_DECREF(new);
	return -1;
}

PyObject *add_type(PyObject *module, const char *name, PyType_Spec *spec, PyObject *bases)
{
	PyObject *type = PyType_FromModuleAndSpec(module, spec, bases);

	return add_object(module, name, new_ref(type)) ? NULL : type;
}

PyObject *text_of(const char *text)
{
	text = text ? text : "";
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

void list_add(PyObject **list, PyObject *one)
{
	if (!one || PyList_Append(*list, one))
		Py_CLEAR(*list);
	Py_XDECREF(one);
}

PyGetSetDef *new_table(struct state *st, size_t n)
{
	PyGetSetDef *table = PyMem_Calloc(n + 1, sizeof(*table));

	if (!table || st->ntables == MAX_TABLES) {
		PyMem_Free(table);
		PyErr_NoMemory();
		return NULL;
	}
	st->tables[st->ntables++] = table;
	return table;
}

PyObject *resource_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	struct state *st = state_of(type);
	PyObject *o = st ? PyType_GenericAlloc(type, 0) : NULL;

	if (o)
		((struct resource *)o)->st = st;
	return o;
}

PyMemberDef resource_members[] = {
	{ "__weaklistoffset__", T_PYSSIZET, offsetof(struct resource, weakrefs), READONLY, NULL },
	{ NULL },
};

PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	return PyErr_Format(PyExc_TypeError, "only a ring makes objects of this type");
}

/* Called in the child after fork(), where rings are not mapped. */
static PyObject *forked(PyObject *module, PyObject *unused)
{
	state_in(module)->generation++;
	Py_RETURN_NONE;
}

static PyMethodDef own_methods[] = {
	{ "_forked", forked, METH_NOARGS, "For os.register_at_fork(): rings end here." },
	{ "decode", record_decode, METH_VARARGS,
	  "decode(data, attr)\n--\n\nThe record in the bytes `data`, as an event with that perf_event_attr wrote it." },
	{ NULL },
};

static int exec_module(PyObject *module)
{
	struct state *st = state_in(module);

	if (add_constants(module) || add_errors(module, st) || add_attr(module, st) ||
	    add_records(module, st) || add_event(module, st) || add_group(module, st) ||
	    add_ring(module, st))
		return -1;
	if (PyModule_AddFunctions(module, own_methods) ||
	    PyModule_AddFunctions(module, call_methods) ||
	    PyModule_AddFunctions(module, name_methods))
		return -1;
	return PyModule_AddStringConstant(module, "__version__", PYPERF_VERSION);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
	struct state *st = state_in(module);

	for (size_t i = 0; i < sizeof(st->objects) / sizeof(*st->objects); i++)
		Py_VISIT(st->objects[i]);
	return 0;
}

static int clear(PyObject *module)
{
	struct state *st = state_in(module);

	for (size_t i = 0; i < sizeof(st->objects) / sizeof(*st->objects); i++)
		Py_CLEAR(st->objects[i]);
	return 0;
}

static void free_module(void *module)
{
	struct state *st = state_in(module);

	if (!st)
		return;
	clear(module);
	for (unsigned int i = 0; i < st->ntables; i++)
		PyMem_Free(st->tables[i]);
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, exec_module },
	{ 0, NULL },
};

struct PyModuleDef pyperf_module = {
	PyModuleDef_HEAD_INIT,
	.m_name = PYPERF_NAME "._pyperf",
	.m_doc = "The C half of pyperf: see help(pyperf).",
	.m_size = sizeof(struct state),
	.m_slots = slots,
	.m_traverse = traverse,
	.m_clear = clear,
	.m_free = free_module,
};

PyMODINIT_FUNC PyInit__pyperf(void);

PyMODINIT_FUNC PyInit__pyperf(void)
{
	return PyModuleDef_Init(&pyperf_module);
}
