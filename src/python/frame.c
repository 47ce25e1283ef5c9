/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_prof.Frame: a read-only dict, since all stacks share it. Copies, frame.copy(), frame | other
 * and pickles are plain dicts.
 */
#include "python/frames.h"

static PyObject *refuse(PyObject *self, PyObject *args, PyObject *kwargs)
{
	PyErr_SetString(PyExc_TypeError, "a frame is read-only, as all stacks share it; "
			"frame.copy() makes a dict that can be changed");
	return NULL;
}

static int refuse_item(PyObject *self, PyObject *key, PyObject *value)
{
	refuse(self, NULL, NULL);
	return -1;
}

static PyObject *refuse_or(PyObject *self, PyObject *other)
{
	return refuse(self, NULL, NULL);
}

/* Equal frames have equal addresses. */
static Py_hash_t hash(PyObject *self)
{
	PyObject *addr = PyDict_GetItemString(self, "addr");

	if (addr)
		return PyObject_Hash(addr);
	PyErr_SetString(PyExc_TypeError, "not a frame");
	return -1;
}

/* A type that defines a hash does not inherit this. */
static PyObject *richcompare(PyObject *a, PyObject *b, int op)
{
	return TYPE_SLOT(&PyDict_Type, richcmpfunc, richcompare)(a, b, op);
}

static int refuse_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	refuse(self, args, kwargs);
	return -1;
}

static PyObject *reduce(PyObject *self, PyObject *protocol)
{
	PyObject *copy = PyDict_Copy(self);

	return copy ? Py_BuildValue("O(N)", (PyObject *)&PyDict_Type, copy) : NULL;
}

static PyObject *to_dict(PyObject *self, PyObject *unused)
{
	return PyDict_Copy(self);
}

#define REFUSED(name)                                                                              \
	{ name, (PyCFunction)(void (*)(void))refuse, METH_VARARGS | METH_KEYWORDS,                 \
	  "Raises TypeError: a frame is read-only." }

static PyMethodDef methods[] = {
	REFUSED("clear"),
	REFUSED("pop"),
	REFUSED("popitem"),
	REFUSED("setdefault"),
	REFUSED("update"),
	{ "__reduce_ex__", reduce, METH_O, NULL },
	{ "__copy__", to_dict, METH_NOARGS, NULL },
	{ "__deepcopy__", to_dict, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

static const char doc[] =
	"A frame of a call chain: a read-only dict. Equal frames are the same object.\nKeys:\n  "
	"addr     address, as it was sampled (int)\n  symbol   function, 'Unknown' if it has no "
	"name (str)\n  offset   of the address in the function (int)\n  kernel   whether it is the "
	"kernel's (bool)\n  dso      path of the file, or '[kernel.kallsyms]', '[module]', "
	"'[vdso]' (str)";

static PyType_Slot slots[] = {
	{ Py_tp_doc, (void *)doc },
	{ Py_tp_methods, methods },
	{ Py_tp_hash, hash },
	{ Py_tp_richcompare, richcompare },
	{ Py_tp_init, refuse_init },
	{ Py_mp_ass_subscript, refuse_item },
	{ Py_nb_inplace_or, refuse_or },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "perf_prof.Frame",
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = slots,
};

PyTypeObject *frame_type_new(PyObject *module)
{
	PyObject *bases = PyTuple_Pack(1, &PyDict_Type), *type;   /* 3.9 takes no type alone */

	type = bases ? PyType_FromModuleAndSpec(module, &spec, bases) : NULL;
	Py_XDECREF(bases);
	return (PyTypeObject *)type;
}

PyObject *frame_new(PyTypeObject *type)
{
	PyObject *none = PyTuple_New(0), *frame;

	frame = none ? TYPE_SLOT(&PyDict_Type, newfunc, new)(type, none, NULL) : NULL;
	Py_XDECREF(none);
	return frame;
}
