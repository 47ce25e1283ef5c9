/* SPDX-License-Identifier: Apache-2.0 */
#include "python/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if PY_VERSION_HEX >= 0x030c0000 && !defined(Py_LIMITED_API)
PyObject *take_error(void)
{
	return PyErr_GetRaisedException();
}

void put_error(PyObject *error)
{
	PyErr_SetRaisedException(error);
}
#else
PyObject *take_error(void)
{
	PyObject *type, *error, *trace;

	PyErr_Fetch(&type, &error, &trace);
	PyErr_NormalizeException(&type, &error, &trace);
	if (error && trace)
		PyException_SetTraceback(error, trace);
	Py_XDECREF(type);
	Py_XDECREF(trace);
	return error;
}

void put_error(PyObject *error)
{
	PyErr_Restore(error ? Py_NewRef((PyObject *)Py_TYPE(error)) : NULL, error, error ? PyException_GetTraceback(error) : NULL);
}
#endif

PyObject *attribute(PyObject *o, const char *name)
{
	PyObject *value = o ? PyObject_GetAttrString(o, name) : NULL;

	PyErr_Clear();
	if (value == Py_None)
		Py_CLEAR(value);
	return value;
}

int dict_put(PyObject *dict, const char *key, PyObject *value)
{
	int rc = value ? PyDict_SetItemString(dict, key, value) : -1;

	Py_XDECREF(value);
	return rc;
}

PyObject *list_put(PyObject *list, PyObject *value)
{
	if (list && (!value || PyList_Append(list, value)))
		Py_CLEAR(list);
	Py_XDECREF(value);
	return list;
}

char **words_of(PyObject *sequence, size_t *n)
{
	PyObject *fast = PySequence_Fast(sequence, "expected a sequence of str");
	char **words = fast ? calloc((size_t)PySequence_Fast_GET_SIZE(fast) + 1, sizeof(*words)) : NULL;

	*n = 0;
	if (fast && !words)
		PyErr_NoMemory();
	for (Py_ssize_t i = 0; words && i < PySequence_Fast_GET_SIZE(fast); i++) {
		PyObject *bytes = PyUnicode_EncodeFSDefault(PySequence_Fast_GET_ITEM(fast, i));
		const char *text = bytes ? PyBytes_AsString(bytes) : NULL;

		if (text && strlen(text) != (size_t)PyBytes_GET_SIZE(bytes))
			PyErr_SetString(PyExc_ValueError, "a NUL character in a text");
		else if (text && !(words[(*n)++] = strdup(text)))
			PyErr_NoMemory();
		Py_XDECREF(bytes);
		if (!PyErr_Occurred())
			continue;
		for (size_t k = 0; k < *n; k++)
			free(words[k]);
		free(words);
		words = NULL;
		*n = 0;
	}
	Py_XDECREF(fast);
	return words;
}

const char *type_name(PyTypeObject *type, char buf[TYPE_NAME])
{
	PyObject *error = take_error(), *name = attribute((PyObject *)type, "__name__");
	const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;

	snprintf(buf, TYPE_NAME, "%s", text ? text : "unknown");
	Py_XDECREF(name);
	put_error(error);
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
