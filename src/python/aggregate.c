/* SPDX-License-Identifier: Apache-2.0 */
/* The C half of perf_prof.Aggregate: what Session.aggregate() returns. */
#include "python/session.h"

#include "sums/aggregation.h"

#include <stdlib.h>

struct aggregate_object {
	READER_MEMBERS
};

/* ---- batches ------------------------------------------------------------------------- */

READER(aggregate, aggregation, .works = true)

static struct aggregation *begun(PyObject *self)
{
	return reader_begun(self, &aggregate_kind);
}

/* The batch tells the types of the columns. */
static PyObject *aggregate_empty(PyObject *self, PyObject *unused)
{
	struct aggregate_object *o = (struct aggregate_object *)self;
	struct aggregation *a = begun(self);
	struct batch *b = a ? batch_new_rows(aggregation_columns(a), 0) : NULL;

	if (a && !b)
		PyErr_NoMemory();
	return b ? batch_object_new(&o->native->batches, b, 0, 0, &o->names) : NULL;
}

static PyObject *aggregate_fileno(PyObject *self, PyObject *unused)
{
	struct aggregation *a = begun(self);

	return a ? PyLong_FromLong(aggregation_fd(a)) : NULL;
}

/* ---- numbers ------------------------------------------------------------------------- */

static PyObject *aggregate_stats(PyObject *self, PyObject *unused)
{
	struct aggregation *a = begun(self);
	struct sums_stats t;
	bool known;

	if (!a)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	known = aggregation_stats(a, &t);
	Py_END_ALLOW_THREADS
	if (!known)
		return session_forked();
	return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K}", "events", (unsigned long long)t.rows,
			     "keys", (unsigned long long)t.keys, "no_value", (unsigned long long)t.no_value,
			     "lost_keys", (unsigned long long)t.lost_keys, "open_pairs", (unsigned long long)t.open_pairs,
			     "dropped_pairs", (unsigned long long)t.dropped_pairs);
}

/* ---- making -------------------------------------------------------------------------- */

/* A sequence of pairs of str. The texts live as long as the sequence. -1 with an exception. */
static int pairs_of(PyObject *sequence, struct sums_word **out, size_t *n)
{
	struct sums_word *words = calloc((size_t)PyTuple_GET_SIZE(sequence) + 1, sizeof(*words));

	*out = words;
	*n = (size_t)PyTuple_GET_SIZE(sequence);
	if (!words) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < *n; i++) {
		if (!PyArg_ParseTuple(PyTuple_GET_ITEM(sequence, (Py_ssize_t)i), "ss", &words[i].name, &words[i].text))
			return -1;
	}
	return 0;
}

static int begin(struct aggregate_object *o, PyObject *source, const struct sums_asked *asked, bool live)
{
	struct session_object *from = (struct session_object *)source;
	struct session *s = session_unread(source, "aggregate");
	struct aggregation *a;
	struct fault f = { 0 };
	int rc;

	if (s && from->taken && !from->branches)
		PyErr_SetString(PyExc_ValueError, "the session has an aggregate() already, which takes all its batches: make another session");
	else if (s)
		reader_is_taken(source);
	if (!s || PyErr_Occurred())
		return -1;
	a = aggregation_new(s, asked, live, &f);
	if (!a) {
		fault_raise(&f);
		return -1;
	}
	from->taken = "aggregate";
	rc = fields_of_columns(&o->names, aggregation_columns(a));
	o->ctx = a;   /* others may ask for the names from here on */
	return rc;
}

static int aggregate_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "session", "keys", "values", "ns", "max_keys", "live", NULL };
	struct aggregate_object *o = (struct aggregate_object *)self;
	struct sums_word *keys = NULL, *values = NULL;
	PyObject *source, *key_words, *value_words;
	unsigned long long ns, max_keys;
	struct sums_asked asked;
	int live, rc = -1;

	if (o->ctx) {
		PyErr_SetString(PyExc_RuntimeError, "the aggregate has begun already");
		return -1;
	}
	o->native = native_of_instance(self);
	if (!o->native ||
	    !PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!O!KKp", names, o->native->session, &source, &PyTuple_Type,
					 &key_words, &PyTuple_Type, &value_words, &ns, &max_keys, &live))
		return -1;
	if (!pairs_of(key_words, &keys, &asked.nkeys) && !pairs_of(value_words, &values, &asked.nvalues)) {
		asked.keys = keys;
		asked.values = values;
		asked.interval = ns;
		asked.max_keys = (size_t)max_keys;
		rc = begin(o, source, &asked, live);
	}
	free(keys);
	free(values);
	return rc;
}

static void aggregate_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	reader_end(self, &aggregate_kind);
	TYPE_SLOT(type, freefunc, free)(self);
	Py_DECREF(type);
}

static PyMethodDef methods[] = {
	{ "fileno", aggregate_fileno, METH_NOARGS,
	  "A descriptor that is readable when a batch may be ready, or the session has ended." },
	{ "stats", aggregate_stats, METH_NOARGS,
	  "Numbers so far: events, keys, expressions without a value, and what did not fit." },
	{ "_empty", aggregate_empty, METH_NOARGS, "A batch without rows." },
	READER_METHODS(aggregate),
	{ NULL },
};

static PyGetSetDef getset[] = {
	READER_GETSET(aggregate),
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, PyType_GenericNew }, { Py_tp_init, aggregate_init }, { Py_tp_dealloc, aggregate_dealloc },
	{ Py_tp_iter, PyObject_SelfIter }, { Py_tp_iternext, aggregate_iternext },
	{ Py_tp_methods, methods }, { Py_tp_getset, getset },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "perf_prof._native.Aggregate", .basicsize = sizeof(struct aggregate_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .slots = slots,
};

int aggregate_type_add(PyObject *module)
{
	struct native *native = native_of(module);

	native->aggregate = type_add(module, &spec, "Aggregate");
	return native->aggregate ? 0 : -1;
}
