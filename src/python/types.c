/* SPDX-License-Identifier: Apache-2.0 */
#include "python/batch.h"

#include <stdio.h>

const char *type_name(PyTypeObject *type, char buf[TYPE_NAME])
{
	PyObject *error, *value, *trace, *name;
	const char *text;

	PyErr_Fetch(&error, &value, &trace);
	name = PyObject_GetAttrString((PyObject *)type, "__name__");
	text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
	snprintf(buf, TYPE_NAME, "%s", text ? text : "unknown");
	Py_XDECREF(name);
	PyErr_Restore(error, value, trace);
	return buf;
}

PyTypeObject *type_add(PyObject *module, PyType_Spec *spec, const char *name)
{
	PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

	if (!type)
		return NULL;
#if PY_VERSION_HEX < 0x030a0000
	if (!(spec->flags & Py_TPFLAGS_BASETYPE))
		((PyTypeObject *)type)->tp_new = NULL;
#endif
	if (name && PyModule_AddObject(module, name, Py_NewRef(type))) {
		Py_DECREF(type);
		Py_DECREF(type);
		return NULL;
	}
	return (PyTypeObject *)type;   /* struct batch_types, or another state of the module, has the other reference */
}

int batch_types_add(PyObject *module, struct batch_types *types)
{
	static int (*const steps[])(PyObject *module, struct batch_types *types) = {
		row_type_add, column_type_add, batch_type_add,
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		if (steps[i](module, types))
			return -1;
	return 0;
}

int batch_types_visit(struct batch_types *types, visitproc visit, void *arg)
{
	Py_VISIT(types->batch);
	Py_VISIT(types->column);
	Py_VISIT(types->row);
	Py_VISIT(types->iterator);
	return 0;
}

void batch_types_clear(struct batch_types *types)
{
	Py_CLEAR(types->batch);
	Py_CLEAR(types->column);
	Py_CLEAR(types->row);
	Py_CLEAR(types->iterator);
}

PyObject *column_name_text(const char *name)
{
	PyObject *text = PyUnicode_DecodeUTF8(name, (Py_ssize_t)strlen(name), "backslashreplace");

	if (text)
		PyUnicode_InternInPlace(&text);
	return text;
}
