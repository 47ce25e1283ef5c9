/* SPDX-License-Identifier: Apache-2.0 */
/* The C half of perf_prof.Stream: what Session.stream() returns. */
#include "python/session.h"

#include <stdlib.h>

struct stream_object {
	READER_MEMBERS              /* ctx: its branch, which keeps the session */
	PyObject *event;
};

/* ---- batches ------------------------------------------------------------------------- */

READER(stream, branch, .works = true)

static struct branch *begun(PyObject *self)
{
	return reader_begun(self, &stream_kind);
}

static struct branch *opened(PyObject *self)
{
	return reader_opened(self, &stream_kind);
}

static PyObject *stream_iter(PyObject *self)
{
	return opened(self) ? Py_NewRef(self) : NULL;
}

static PyObject *stream_fileno(PyObject *self, PyObject *unused)
{
	struct branch *b = opened(self);

	if (!b)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	branch_watch(b);
	Py_END_ALLOW_THREADS
	return PyLong_FromLong(branch_fd(b));
}

static PyObject *stream_close(PyObject *self, PyObject *unused)
{
	struct branch *b = begun(self);

	if (!b)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	branch_close(b);
	Py_END_ALLOW_THREADS
	Py_RETURN_NONE;
}

/* ---- numbers ------------------------------------------------------------------------- */

static PyObject *stream_event(PyObject *self, void *unused)
{
	return begun(self) ? Py_NewRef(((struct stream_object *)self)->event) : NULL;
}

static PyObject *stream_stats(PyObject *self, PyObject *unused)
{
	struct branch *b = begun(self);
	struct branch_stats t;
	bool known;

	if (!b)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	known = branch_stats(b, &t);
	Py_END_ALLOW_THREADS
	if (!known)
		return session_forked();
	return Py_BuildValue("{s:K,s:K,s:K}", "rows", (unsigned long long)t.rows, "waiting", (unsigned long long)t.waiting,
			     "dropped", (unsigned long long)t.dropped);
}

/* ---- making -------------------------------------------------------------------------- */

static int begin(struct stream_object *o, struct session_object *from, const char *event, size_t limit)
{
	struct session *s = session_unread((PyObject *)from, "stream");
	struct branches *all = from->branches;
	struct branch *branch;
	struct fault f = { 0 };

	if (s && from->taken && !from->branches)
		reader_is_taken((PyObject *)from);
	if (!s || PyErr_Occurred())
		return -1;
	if (!all && !(all = branches_new(s))) {
		PyErr_NoMemory();
		return -1;
	}
	branch = branch_new(all, event, limit, &f);
	if (!branch) {
		fault_raise(&f);
		if (!from->branches)
			branches_release(all);
		return -1;
	}
	from->branches = all;
	from->taken = "stream";
	o->session = s;
	o->ctx = branch;
	return fields_of_columns(&o->names, branch_columns(branch));
}

static int stream_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "session", "event", "limit", NULL };
	struct stream_object *o = (struct stream_object *)self;
	PyObject *source, *event;
	const char *text;
	Py_ssize_t limit;

	if (o->ctx) {
		PyErr_SetString(PyExc_RuntimeError, "the stream has begun already");
		return -1;
	}
	o->native = native_of_instance(self);
	if (!o->native || !PyArg_ParseTupleAndKeywords(args, kwargs, "O!Un", names, o->native->session, &source, &event, &limit))
		return -1;
	text = PyUnicode_AsUTF8(event);
	if (!text || begin(o, (struct session_object *)source, text, (size_t)limit))
		return -1;
	o->event = Py_NewRef(event);
	return 0;
}

static void stream_dealloc(PyObject *self)
{
	struct stream_object *o = (struct stream_object *)self;
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(o->event);
	reader_end(self, &stream_kind);
	TYPE_SLOT(type, freefunc, free)(self);
	Py_DECREF(type);
}

static PyMethodDef methods[] = {
	{ "close", stream_close, METH_NOARGS, "Ends this stream: its rows are not kept any more. The session goes on." },
	{ "fileno", stream_fileno, METH_NOARGS,
	  "A descriptor that is readable when a batch may be ready, or the session has ended." },
	{ "stats", stream_stats, METH_NOARGS, "Numbers of rows so far: taken, waiting, and dropped because the stream was not read." },
	READER_METHODS(stream),
	{ NULL },
};

static PyGetSetDef getset[] = {
	READER_GETSET(stream),
	{ "event", stream_event, NULL, "The name of its event.", NULL },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, PyType_GenericNew }, { Py_tp_init, stream_init }, { Py_tp_dealloc, stream_dealloc },
	{ Py_tp_iter, stream_iter }, { Py_tp_iternext, stream_iternext },
	{ Py_tp_methods, methods }, { Py_tp_getset, getset },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "perf_prof._native.Stream", .basicsize = sizeof(struct stream_object),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .slots = slots,
};

int stream_type_add(PyObject *module)
{
	struct native *native = native_of(module);

	native->stream = type_add(module, &spec, "Stream");
	return native->stream ? 0 : -1;
}
