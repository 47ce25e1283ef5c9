/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values by name: what events of scripts and rows of batches have in common. Behind the head of such an object stands a pointer
 * to its names, which all objects of one event or of one session share.
 *
 * For `event.prio` the interpreter passes the interned string "prio". Its address is hashed, so a hit is mostly one comparison
 * of pointers. A name that was built at run time is another object with the same text: it is looked up by equality.
 */
#ifndef PYTHON_FIELDS_H
#define PYTHON_FIELDS_H

#include "python/python.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fields_kind {
	/* The value with that index: a new reference, or NULL with an exception. */
	PyObject *(*value)(PyObject *self, size_t index);
	/* What error messages call the object: a new reference; or NULL without an exception, for "the row". */
	PyObject *(*title)(PyObject *self);
	/* There is no such name. True: the exception that is set from here on says so. False: it is to be made; none may be set. */
	bool (*refuse)(PyObject *self, PyObject *name, PyObject *error);
	bool hidden;           /* event.NAME is the method of that name, if there is one; only event["NAME"] is the value */
};

struct field_slot {
	PyObject *name;        /* NULL: free */
	size_t index;
};

struct fields {
	const struct fields_kind *kind;
	PyObject *tuple;       /* of interned str, those of keys() */
	PyObject *index;       /* dict: name -> index, also for names that are not in keys() */
	PyObject *template;    /* dict of the names in keys(), copied by to_dict() */
	PyObject *memory;      /* bytes, which has the slots */
	const struct field_slot *slots;
	unsigned int shift;
};

/* Takes the interned names of a list, of which the first `nkeys` are those of keys(). Where two are equal, the last one counts.
 * type: whose methods may hide names. 0, or -1 with an exception; fields_release() always. */
int fields_make(struct fields *names, const struct fields_kind *kind, PyObject *list, size_t nkeys, PyTypeObject *type);
struct fields fields_keep(const struct fields *names);
void fields_release(struct fields *names);

struct fielded_object {
	PyObject_HEAD
	const struct fields *names;
};

static inline const struct fields *fields_of(PyObject *self)
{
	return ((const struct fielded_object *)self)->names;
}

/* The index of an interned name, or -1. */
static inline ssize_t fields_at(const struct fields *names, PyObject *name)
{
	const size_t mask = ~(uint64_t)0 >> names->shift;
	size_t i = (uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> names->shift;

	for (; names->slots[i].name; i = (i + 1) & mask)
		if (names->slots[i].name == name)
			return (ssize_t)names->slots[i].index;
	return -1;
}

/* Attribute access by a name that fields_at() did not find. */
PyObject *fields_getattr_slow(PyObject *self, PyObject *name);
PyObject *fields_to_dict(PyObject *self, PyObject *unused);
PyObject *fields_get(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *fields_keys(PyObject *self, PyObject *unused);
PyObject *fields_values(PyObject *self, PyObject *unused);
PyObject *fields_items(PyObject *self, PyObject *unused);
PyObject *fields_iter(PyObject *self);
PyObject *fields_subscript(PyObject *self, PyObject *key);
Py_ssize_t fields_length(PyObject *self);
int fields_contains(PyObject *self, PyObject *key);

/* For the tables of a type. */
#define FIELDS_METHODS \
	{ "get", (PyCFunction)(void (*)(void))fields_get, METH_VARARGS | METH_KEYWORDS, \
	  "get(field, default=None)\n--\n\nValue of the field, or default if there is none." }, \
	{ "keys", fields_keys, METH_NOARGS, "keys()\n--\n\nList of the field names." }, \
	{ "values", fields_values, METH_NOARGS, "values()\n--\n\nList of the field values." }, \
	{ "items", fields_items, METH_NOARGS, "items()\n--\n\nList of (name, value) tuples." }, \
	{ "to_dict", fields_to_dict, METH_NOARGS, "to_dict()\n--\n\nThe event as a plain dict." }
#define FIELDS_SLOTS \
	{ Py_tp_iter, fields_iter }, { Py_mp_subscript, fields_subscript }, { Py_mp_length, fields_length }, \
	{ Py_sq_contains, fields_contains }
#endif
