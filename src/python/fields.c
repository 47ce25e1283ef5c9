/* SPDX-License-Identifier: Apache-2.0 */
#include "python/fields.h"

#include "base/nearest.h"

#include <string.h>

/* ---- making -------------------------------------------------------------------------- */

static void put_slot(struct fields *names, struct field_slot *slots, PyObject *name, size_t index)
{
	const size_t mask = ~(uint64_t)0 >> names->shift;
	size_t i = (uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> names->shift;

	while (slots[i].name && slots[i].name != name)
		i = (i + 1) & mask;
	slots[i] = (struct field_slot){ name, index };
}

/* Most slots are free, so that nearly all names are at their first place. */
static int make_slots(struct fields *names, PyObject *list, PyTypeObject *type)
{
	const size_t n = (size_t)PyList_GET_SIZE(list);
	struct field_slot *slots;
	unsigned int bits = 5;

	while (1ul << bits < 8 * n)
		bits++;
	names->shift = 64 - bits;
	names->memory = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof(*slots) << bits));
	if (!names->memory)
		return -1;
	slots = (struct field_slot *)(void *)PyBytes_AS_STRING(names->memory);
	memset(slots, 0, sizeof(*slots) << bits);
	names->slots = slots;
	for (size_t i = 0; i < n; i++) {
		PyObject *name = PyList_GET_ITEM(list, (Py_ssize_t)i);

		if (!names->kind->hidden || !PyObject_HasAttr((PyObject *)type, name))
			put_slot(names, slots, name, i);
	}
	return 0;
}

int fields_make(struct fields *names, const struct fields_kind *kind, PyObject *list, size_t nkeys, PyTypeObject *type)
{
	PyObject *keys = PyList_GetSlice(list, 0, (Py_ssize_t)nkeys);

	*names = (struct fields){ .kind = kind, .index = PyDict_New(), .template = PyDict_New() };
	names->tuple = keys ? PyList_AsTuple(keys) : NULL;
	Py_XDECREF(keys);
	if (!names->tuple || !names->index || !names->template)
		return -1;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
		PyObject *name = PyList_GET_ITEM(list, i), *index = PyLong_FromSsize_t(i);
		int rc = index ? PyDict_SetItem(names->index, name, index) : -1;

		Py_XDECREF(index);
		if (rc || ((size_t)i < nkeys && PyDict_SetItem(names->template, name, Py_None)))
			return -1;
	}
	return make_slots(names, list, type);
}

struct fields fields_keep(const struct fields *names)
{
	Py_INCREF(names->tuple);
	Py_INCREF(names->index);
	Py_INCREF(names->template);
	Py_INCREF(names->memory);
	return *names;
}

void fields_release(struct fields *names)
{
	Py_CLEAR(names->tuple);
	Py_CLEAR(names->index);
	Py_CLEAR(names->template);
	Py_CLEAR(names->memory);
}

/* ---- looking up ---------------------------------------------------------------------- */

/* By equality. An unhashable name is no field either. */
static ssize_t find_equal(const struct fields *names, PyObject *name)
{
	PyObject *index = PyDict_GetItemWithError(names->index, name);

	if (!index)
		PyErr_Clear();
	return index ? PyLong_AsSsize_t(index) : -1;
}

static ssize_t find(const struct fields *names, PyObject *name)
{
	const ssize_t i = fields_at(names, name);

	return i >= 0 ? i : find_equal(names, name);
}

/* Without this, Python 3.10 and later add their own "Did you mean" to the message. */
static void forget_object(PyObject *name)
{
	PyObject *error = take_error();

	if (PyObject_SetAttrString(error, "name", name) || PyObject_SetAttrString(error, "obj", Py_None))
		PyErr_Clear();
	put_error(error);
}

/* Says which name was probably meant. */
static PyObject *no_name(PyObject *self, PyObject *name, PyObject *error)
{
	const struct fields *names = fields_of(self);
	PyObject *title;
	const char *text;
	struct nearest n;

	if (names->kind->refuse(self, name, error))
		return NULL;
	title = names->kind->title(self);
	text = PyUnicode_AsUTF8(name);
	PyErr_Clear();
	nearest_begin(&n, text ? text : "");
	for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names->tuple); i++)
		nearest_offer(&n, PyUnicode_AsUTF8(PyTuple_GET_ITEM(names->tuple, i)));
	for (const PyMethodDef *m = TYPE_SLOT(Py_TYPE(self), PyMethodDef *, methods); error == PyExc_AttributeError && m->ml_name; m++)
		nearest_offer(&n, m->ml_name);
	if (nearest_get(&n))
		PyErr_Format(error, "%V has no field '%U'; did you mean '%s'?", title, "the row", name, nearest_get(&n));
	else
		PyErr_Format(error, "%V has no field '%U'; %s.keys() lists them", title, "the row", name, title ? "event" : "row");
	if (error == PyExc_AttributeError)
		forget_object(name);
	Py_XDECREF(title);
	return NULL;
}

PyObject *fields_getattr_slow(PyObject *self, PyObject *name)
{
	const struct fields *names = fields_of(self);
	PyObject *value;
	ssize_t i = names->kind->hidden ? -1 : find_equal(names, name);

	if (i >= 0)
		return names->kind->value(self, (size_t)i);
	value = PyObject_GenericGetAttr(self, name);
	if (value || !PyErr_ExceptionMatches(PyExc_AttributeError))
		return value;
	if (names->kind->hidden)
		i = find_equal(names, name);
	if (i < 0)
		return no_name(self, name, PyExc_AttributeError);
	PyErr_Clear();
	return names->kind->value(self, (size_t)i);
}

PyObject *fields_subscript(PyObject *self, PyObject *key)
{
	const struct fields *names = fields_of(self);
	const ssize_t i = find(names, key);
	PyObject *args;

	if (i >= 0)
		return names->kind->value(self, (size_t)i);
	if (PyUnicode_Check(key))
		return no_name(self, key, PyExc_KeyError);
	args = PyTuple_Pack(1, key);   /* None or a tuple would be taken for the arguments */
	if (args)
		PyErr_SetObject(PyExc_KeyError, args);
	Py_XDECREF(args);
	return NULL;
}

PyObject *fields_get(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *words[] = { "field", "default", NULL };
	const struct fields *names = fields_of(self);
	PyObject *name, *fallback = Py_None;
	ssize_t i;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:get", words, &name, &fallback))
		return NULL;
	i = find(names, name);
	return i >= 0 ? names->kind->value(self, (size_t)i) : Py_NewRef(fallback);
}

int fields_contains(PyObject *self, PyObject *key)
{
	return find(fields_of(self), key) >= 0;
}

Py_ssize_t fields_length(PyObject *self)
{
	return PyTuple_GET_SIZE(fields_of(self)->tuple);
}

/* ---- all of them --------------------------------------------------------------------- */

static PyObject *pair(PyObject *self, size_t i)
{
	PyObject *value = fields_of(self)->kind->value(self, i);
	PyObject *pair = value ? PyTuple_Pack(2, PyTuple_GET_ITEM(fields_of(self)->tuple, (Py_ssize_t)i), value) : NULL;

	Py_XDECREF(value);
	return pair;
}

static PyObject *list_of(PyObject *self, PyObject *(*item)(PyObject *self, size_t i))
{
	const Py_ssize_t n = fields_length(self);
	PyObject *list = PyList_New(n);

	for (Py_ssize_t i = 0; list && i < n; i++) {
		PyObject *v = item(self, (size_t)i);

		if (v)
			PyList_SET_ITEM(list, i, v);
		else
			Py_CLEAR(list);
	}
	return list;
}

PyObject *fields_keys(PyObject *self, PyObject *unused)
{
	return PySequence_List(fields_of(self)->tuple);
}

PyObject *fields_values(PyObject *self, PyObject *unused)
{
	return list_of(self, fields_of(self)->kind->value);
}

PyObject *fields_items(PyObject *self, PyObject *unused)
{
	return list_of(self, pair);
}

PyObject *fields_iter(PyObject *self)
{
	PyObject *list = fields_items(self, NULL), *it = list ? PyObject_GetIter(list) : NULL;

	Py_XDECREF(list);
	return it;
}

PyObject *fields_to_dict(PyObject *self, PyObject *unused)
{
	const struct fields *names = fields_of(self);
	const Py_ssize_t n = PyTuple_GET_SIZE(names->tuple);
	PyObject *dict = PyDict_Copy(names->template);

	for (Py_ssize_t i = 0; dict && i < n; i++) {
		PyObject *v = names->kind->value(self, (size_t)i);

		if (!v || PyDict_SetItem(dict, PyTuple_GET_ITEM(names->tuple, i), v))
			Py_CLEAR(dict);
		Py_XDECREF(v);
	}
	return dict;
}
