/* SPDX-License-Identifier: Apache-2.0 */
/* The C half of perf_prof.Stream: what Session.stream() returns. */
#include "python/source.h"

#include <stdlib.h>

struct stream_object {
	PyObject_HEAD
	struct native *native;
	struct session *session;     /* its branch keeps it */
	struct branch *branch;       /* NULL: never began */
	struct fields names;
	PyObject *event;
	bool streamed;               /* __arrow_c_stream__() was called */
};

/* ---- batches ------------------------------------------------------------------------- */

/* NULL with an exception if it never began. */
static struct branch *begun(PyObject *self)
{
	struct branch *b = ((struct stream_object *)self)->branch;

	if (!b)
		PyErr_SetString(PyExc_ValueError, "the stream has not begun");
	return b;
}

/* The same if the session is closed. */
static struct branch *opened(PyObject *self)
{
	struct branch *b = begun(self);

	if (!b || !session_is_closed(((struct stream_object *)self)->session))
		return b;
	PyErr_SetString(PyExc_ValueError, "the session is closed");
	return NULL;
}

static enum session_answer next_of(void *ctx, struct batch **out, struct fault *f)
{
	return branch_next(ctx, out, f);
}

static void release(void *ctx)
{
	branch_release(ctx);
}

/* Without a reference of its own. */
static struct batch_source source_of(struct branch *b)
{
	return (struct batch_source){ b, branch_columns(b), branch_fd(b), next_of, release };
}

static PyObject *stream_next(PyObject *self)
{
	struct stream_object *o = (struct stream_object *)self;
	struct branch *b = begun(self);
	struct batch_source source;

	if (!b)
		return NULL;
	source = source_of(b);
	return source_next(&source, o->native, &o->names);
}

static PyObject *stream_take(PyObject *self, PyObject *unused)
{
	struct stream_object *o = (struct stream_object *)self;
	struct branch *b = begun(self);
	struct batch_source source;

	if (!b)
		return NULL;
	source = source_of(b);
	return source_take(&source, o->native, &o->names);
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

/* ---- Arrow --------------------------------------------------------------------------- */

static PyObject *stream_arrow_schema(PyObject *self, PyObject *unused)
{
	struct branch *b = begun(self);

	return b ? capsule_schema(branch_columns(b), -1) : NULL;
}

static PyObject *stream_arrow_stream(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "requested_schema", NULL };
	struct stream_object *o = (struct stream_object *)self;
	struct branch *b = opened(self);
	struct batch_source source;
	PyObject *unused = NULL;

	if (!b || !PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &unused))
		return NULL;
	if (o->streamed) {
		PyErr_SetString(PyExc_ValueError, "a stream can be read as an Arrow stream once");
		return NULL;
	}
	o->streamed = true;
	source = source_of(branch_keep(b));
	return capsule_stream(&source);
}

/* ---- numbers ------------------------------------------------------------------------- */

static PyObject *stream_columns(PyObject *self, void *unused)
{
	return begun(self) ? Py_NewRef(((struct stream_object *)self)->names.tuple) : NULL;
}

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
	struct fault f = { 0 };

	if (s && from->aggregated)
		session_taken(from);
	if (!s || PyErr_Occurred())
		return -1;
	if (!all && !(all = branches_new(s))) {
		PyErr_NoMemory();
		return -1;
	}
	o->branch = branch_new(all, event, limit, &f);
	if (!o->branch) {
		fault_raise(&f);
		if (!from->branches)
			branches_release(all);
		return -1;
	}
	from->branches = all;
	o->session = s;
	return fields_of_columns(&o->names, branch_columns(o->branch));
}

static int stream_init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "session", "event", "limit", NULL };
	struct stream_object *o = (struct stream_object *)self;
	PyObject *source, *event;
	const char *text;
	Py_ssize_t limit;

	if (o->branch) {
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

	fields_release(&o->names);
	Py_XDECREF(o->event);
	if (o->branch) {
		Py_BEGIN_ALLOW_THREADS
		branch_release(o->branch);
		Py_END_ALLOW_THREADS
	}
	TYPE_SLOT(type, freefunc, free)(self);
	Py_DECREF(type);
}

static PyMethodDef methods[] = {
	{ "close", stream_close, METH_NOARGS, "Ends this stream: its rows are not kept any more. The session goes on." },
	{ "fileno", stream_fileno, METH_NOARGS,
	  "A descriptor that is readable when a batch may be ready, or the session has ended." },
	{ "stats", stream_stats, METH_NOARGS, "Numbers of rows so far: taken, waiting, and dropped because the stream was not read." },
	{ "_take", stream_take, METH_NOARGS, "The next batch; None: none is ready; False: there will be none." },
	{ "__arrow_c_schema__", stream_arrow_schema, METH_NOARGS, "The columns as an Arrow schema." },
	{ "__arrow_c_stream__", (PyCFunction)(void (*)(void))stream_arrow_stream, METH_VARARGS | METH_KEYWORDS,
	  "The batches as an Arrow stream, once. It ends with the session." },
	{ NULL },
};

static PyGetSetDef getset[] = {
	{ "columns", stream_columns, NULL, "The names of the columns that its batches have.", NULL },
	{ "event", stream_event, NULL, "The name of its event.", NULL },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_new, PyType_GenericNew }, { Py_tp_init, stream_init }, { Py_tp_dealloc, stream_dealloc },
	{ Py_tp_iter, stream_iter }, { Py_tp_iternext, stream_next },
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
