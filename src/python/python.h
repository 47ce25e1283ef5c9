/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python.h, with the names that are used beside it made equal for all: what 3.9 lacks, and what the limited API lacks, by
 * which one wheel serves all versions since 3.11. There, functions stand for macros that look into objects.
 */
#ifndef PYTHON_PYTHON_H
#define PYTHON_PYTHON_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *Py_NewRef(PyObject *o)
{
	Py_INCREF(o);
	return o;
}
#define Py_TPFLAGS_DISALLOW_INSTANTIATION 0   /* type_add() does it */
#define Py_TPFLAGS_IMMUTABLETYPE 0
#define Py_TPFLAGS_SEQUENCE 0
#endif

#ifdef Py_LIMITED_API
/* A slot of a type, such as TYPE_SLOT(Py_TYPE(self), freefunc, free). 3.9 has no function for it that takes all types. */
#define TYPE_SLOT(type, kind, slot) ((kind)PyType_GetSlot(type, Py_tp_##slot))
#define PyTuple_GET_SIZE PyTuple_Size
#define PyTuple_GET_ITEM PyTuple_GetItem
#define PyTuple_SET_ITEM PyTuple_SetItem
#define PyList_GET_SIZE PyList_Size
#define PyList_GET_ITEM PyList_GetItem
#define PyList_SET_ITEM PyList_SetItem
#define PyBytes_GET_SIZE PyBytes_Size
#define PyBytes_AS_STRING PyBytes_AsString
#define PyUnicode_GET_LENGTH PyUnicode_GetLength
#define PyUnicode_READ_CHAR PyUnicode_ReadChar
#define PyUnicode_AsUTF8(text) PyUnicode_AsUTF8AndSize(text, NULL)
#define Py_TPFLAGS_SEQUENCE (1ul << 5)
/* In the stable ABI since 3.12, and unchanged in 3.11, which changes no more. */
typedef PyObject *(*vectorcallfunc)(PyObject *callable, PyObject *const *args, size_t nargs, PyObject *names);
PyAPI_FUNC(PyObject *) PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t nargs, PyObject *names);
#define PY_VECTORCALL_ARGUMENTS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1))
/* Every version has these without promising them: if a later one does not, a call is slower, or a wait keeps the GIL. The last
 * is the former's name since 3.13. */
PyAPI_FUNC(vectorcallfunc) PyVectorcall_Function(PyObject *callable) __attribute__((weak));
PyAPI_FUNC(PyThreadState *) _PyThreadState_UncheckedGet(void) __attribute__((weak));
PyAPI_FUNC(PyThreadState *) PyThreadState_GetUnchecked(void) __attribute__((weak));
#define VECTORCALL_OF(callable) (PyVectorcall_Function ? PyVectorcall_Function(callable) : NULL)
#define THREAD_NOW() \
	(PyThreadState_GetUnchecked ? PyThreadState_GetUnchecked() : \
	 _PyThreadState_UncheckedGet ? _PyThreadState_UncheckedGet() : NULL)
#else
#define TYPE_SLOT(type, kind, slot) ((type)->tp_##slot)
#define VECTORCALL_OF PyVectorcall_Function
#if PY_VERSION_HEX < 0x030d0000
#define THREAD_NOW _PyThreadState_UncheckedGet
#else
#define THREAD_NOW PyThreadState_GetUnchecked
#endif
#endif

/* The exception that is set, which is not from here on; or NULL. */
PyObject *take_error(void);
/* Sets it again; takes over the reference. */
void put_error(PyObject *error);
/* An attribute: a new reference. NULL, without an exception: there is none, or it is None. No exception may be set. */
PyObject *attribute(PyObject *o, const char *name);
/* Takes over the value; NULL: it could not be made. 0, or -1 with an exception. */
int dict_put(PyObject *dict, const char *key, PyObject *value);
/* Likewise; returns the list, or NULL with an exception instead of it. list NULL: it could not be made. */
PyObject *list_put(PyObject *list, PyObject *value);
/* A sequence of str as an array that ends with NULL; it and its texts come from malloc(). NULL with an exception. */
char **words_of(PyObject *sequence, size_t *n);
/* The name of a type, cut to fit. An exception that is set stays. */
enum { TYPE_NAME = 64 };
const char *type_name(PyTypeObject *type, char buf[TYPE_NAME]);
/* Makes a type of the module, and adds it by that name, if it has one. Only of a type with Py_TPFLAGS_BASETYPE can programs make
 * objects. NULL with an exception. */
PyTypeObject *type_add(PyObject *module, PyType_Spec *spec, const char *name);
#endif
