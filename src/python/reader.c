/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of a session, an aggregate or a stream for Python: iteration, _take(), and as an Arrow stream in a capsule. */
#include "python/session.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

CAPSULE(ArrowArrayStream, arrow_array_stream)

int reader_warn(const char *text)
{
	PyObject *module = PyImport_ImportModule("perf_prof._keywords");
	PyObject *none = module ? PyObject_CallMethod(module, "warn", "sO", text, PyExc_UserWarning) : NULL;

	Py_XDECREF(module);
	Py_XDECREF(none);
	return none ? 0 : -1;
}

/* ---- state --------------------------------------------------------------------------- */

void *reader_begun(PyObject *self, const struct source_kind *kind)
{
	void *ctx = ((struct reader_object *)self)->ctx;

	if (!ctx)
		PyErr_Format(PyExc_ValueError, "the %s has not begun", kind->name);
	return ctx;
}

void *reader_opened(PyObject *self, const struct source_kind *kind)
{
	const struct reader_object *o = (struct reader_object *)self;
	void *ctx = reader_begun(self, kind);

	if (!ctx || !o->session || !session_is_closed(o->session))
		return ctx;
	PyErr_SetString(PyExc_ValueError, "the session is closed");
	return NULL;
}

bool reader_is_taken(PyObject *self)
{
	const char *taken = ((struct reader_object *)self)->taken;

	if (taken)
		PyErr_Format(PyExc_ValueError, "the batches of this session go to its %s()", taken);
	return taken != NULL;
}

PyObject *reader_columns(PyObject *self, const struct source_kind *kind)
{
	return reader_begun(self, kind) ? Py_NewRef(((struct reader_object *)self)->names.tuple) : NULL;
}

void reader_end(PyObject *self, const struct source_kind *kind)
{
	struct reader_object *o = (struct reader_object *)self;

	fields_release(&o->names);
	if (!o->ctx)
		return;
	Py_BEGIN_ALLOW_THREADS
	kind->release(o->ctx);
	Py_END_ALLOW_THREADS
}

/* ---- batches ------------------------------------------------------------------------- */

/* A signal that comes just before poll() does not end it. */
int wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int rc;

	do {
		Py_BEGIN_ALLOW_THREADS
		rc = poll(&p, 1, WAIT_SLICE_MS);
		Py_END_ALLOW_THREADS
		if (rc <= 0 && PyErr_CheckSignals())
			return -1;
	} while (!rc);
	return 0;
}

/* A batch; NULL with *answer, and with an exception if it failed. */
static PyObject *take(PyObject *self, const struct source_kind *kind, enum session_answer *answer)
{
	struct reader_object *o = (struct reader_object *)self;
	void *ctx = reader_begun(self, kind);
	PyThreadState *state;
	struct fault f = { 0 };
	struct batch *b = NULL;

	*answer = SESSION_FAILED;
	if (!ctx || reader_is_taken(self))
		return NULL;
	o->read = true;
	state = kind->works ? PyEval_SaveThread() : NULL;
	*answer = kind->next(ctx, &b, &f);
	if (state)
		PyEval_RestoreThread(state);
	if (*answer == SESSION_BATCH)
		return batch_object_new(&o->native->batches, b, 0, b->rows, &o->names);
	if (*answer == SESSION_END)
		o->ended = PyThread_get_thread_ident();
	return *answer == SESSION_FORKED ? session_forked() : *answer == SESSION_FAILED ? fault_raise(&f) : NULL;
}

PyObject *reader_next(PyObject *self, const struct source_kind *kind)
{
	enum session_answer answer;
	PyObject *batch;

	while (!(batch = take(self, kind, &answer)) && answer == SESSION_WAIT)
		if (wait_readable(kind->fd(((struct reader_object *)self)->ctx)))
			return NULL;
	return batch;
}

PyObject *reader_take(PyObject *self, const struct source_kind *kind)
{
	enum session_answer answer;
	PyObject *batch = take(self, kind, &answer);

	if (batch || PyErr_Occurred())
		return batch;
	return Py_NewRef(answer == SESSION_WAIT ? Py_None : Py_False);
}

/* ---- Arrow --------------------------------------------------------------------------- */

struct streaming {
	const struct source_kind *kind;
	void *ctx;                      /* a reference */
	struct columns *columns;
	int fd;
	struct fault fault;
};

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct streaming *st = stream->private_data;

	return export_schema(st->columns, out) ? ENOMEM : 0;
}

/* The consumer may hold the GIL or not. If it does, others get it while it waits, for one of them may be who closes the session.
 * NULL: it does not. */
static PyThreadState *release_gil(void)
{
	PyThreadState *now = THREAD_NOW();

	/* until 3.11, `now` may be another thread's */
	return now && now == PyGILState_GetThisThreadState() ? PyEval_SaveThread() : NULL;
}

static void take_gil(PyThreadState *state)
{
	if (state)
		PyEval_RestoreThread(state);
}

/* Or until a signal comes, or for a while. */
static void wait_for(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	PyThreadState *state = release_gil();

	poll(&p, 1, WAIT_SLICE_MS);
	take_gil(state);
}

/* An exception of a handler stays for the interpreter to raise, once the
 * consumer has returned. */
static bool is_interrupted(void)
{
	PyGILState_STATE state = PyGILState_Ensure();
	bool raised = PyErr_CheckSignals() != 0;

	if (raised) {
		PyErr_Clear();
		PyErr_SetInterrupt();
	}
	PyGILState_Release(state);
	return raised;
}

static int failed(struct streaming *st, int error)
{
	if (error == EINTR)
		fault_set(&st->fault, EXIT_INTERRUPTED, "interrupted by a signal");
	return error;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct streaming *st = stream->private_data;
	struct batch *b;
	int rc;

	for (;;) {
		switch (st->kind->next(st->ctx, &b, &st->fault)) {
		case SESSION_BATCH:
			rc = export_batch(b, 0, b->rows, out);
			batch_release(b);
			return -rc;
		case SESSION_WAIT:
			wait_for(st->fd);
			if (is_interrupted())   /* also if a batch came first */
				return failed(st, EINTR);
			break;
		case SESSION_END:
			memset(out, 0, sizeof(*out));   /* release NULL: the end */
			return 0;
		case SESSION_FORKED:
			fault_set(&st->fault, EXIT_FAILED, "this process is a fork of the one that has the session");
			return EINVAL;
		case SESSION_FAILED:
			return st->fault.error ? st->fault.error : EIO;
		}
	}
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
	struct streaming *st = stream->private_data;

	return st->fault.exit_code ? st->fault.text : NULL;
}

static void stream_release(struct ArrowArrayStream *stream)
{
	struct streaming *st = stream->private_data;
	PyThreadState *state = release_gil();

	st->kind->release(st->ctx);
	take_gil(state);
	free(st);
	stream->release = NULL;
}

/* A capsule of the Arrow PyCapsule interface. NULL with an exception. Takes over the reference, also if it fails. */
static PyObject *stream_of(const struct source_kind *kind, void *ctx)
{
	struct ArrowArrayStream *stream = malloc(sizeof(*stream));
	struct streaming *st = calloc(1, sizeof(*st));

	if (!stream || !st) {
		kind->release(ctx);
		free(stream);
		free(st);
		return PyErr_NoMemory();
	}
	/* the descriptor first: with it a held session begins, and its columns stay */
	*st = (struct streaming){ .kind = kind, .ctx = ctx, .fd = kind->fd(ctx) };
	st->columns = kind->columns(ctx);
	*stream = (struct ArrowArrayStream){ stream_schema, stream_next, stream_error, stream_release, st };
	return enclose_arrow_array_stream(stream);
}

PyObject *reader_arrow_schema(PyObject *self, const struct source_kind *kind)
{
	void *ctx = reader_begun(self, kind);

	return ctx ? capsule_schema(kind->columns(ctx), -1) : NULL;
}

PyObject *reader_arrow_stream(PyObject *self, const struct source_kind *kind, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "requested_schema", NULL };
	struct reader_object *o = (struct reader_object *)self;
	void *ctx = reader_opened(self, kind);
	PyObject *unused = NULL;

	if (!ctx || !PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &unused) || reader_is_taken(self))
		return NULL;
	if (o->streamed) {
		PyErr_Format(PyExc_ValueError, "%s %s can be read as an Arrow stream once", *kind->name == 'a' ? "an" : "a", kind->name);
		return NULL;
	}
	if (o->read && kind->read_before && reader_warn(kind->read_before))
		return NULL;
	o->streamed = true;
	return stream_of(kind, kind->keep(ctx));
}

/* ---- streams of batches that are there ---------------------------------------------- */

struct gathered {
	struct columns *columns;        /* kept */
	size_t n, at;
	struct batch *v[];              /* kept */
};

static struct columns *gathered_columns(void *ctx)
{
	return ((struct gathered *)ctx)->columns;
}

static int gathered_fd(void *ctx)
{
	return -1;
}

static enum session_answer gathered_next(void *ctx, struct batch **out, struct fault *f)
{
	struct gathered *g = ctx;

	if (g->at == g->n)
		return SESSION_END;
	*out = batch_keep(g->v[g->at++]);
	return SESSION_BATCH;
}

static void gathered_release(void *ctx)
{
	struct gathered *g = ctx;

	for (size_t i = 0; i < g->n; i++)
		batch_release(g->v[i]);
	columns_release(g->columns);
	free(g);
}

static const struct source_kind gathered_kind = {
	.columns = gathered_columns, .fd = gathered_fd, .next = gathered_next, .release = gathered_release,
};

/* All that the session will have. */
static PyObject *quiet_stream(PyObject *self)
{
	struct reader_object *o = (struct reader_object *)self;

	if (!reader_begun(self, &session_kind) || reader_is_taken(self))
		return NULL;
	o->read = true;
	return stream_of(&session_quiet_kind, session_keep(o->session));
}

PyObject *capsule_batches(PyObject *module, PyObject *args)
{
	struct native *native = native_of(module);
	PyObject *session, *list;
	struct gathered *g;

	if (!PyArg_ParseTuple(args, "O!O", native->session, &session, &list))
		return NULL;
	if (list == Py_None)
		return quiet_stream(session);
	if (!PyList_Check(list))
		return PyErr_Format(PyExc_TypeError, "expected a list of batches");
	g = ((struct session_object *)session)->session ? calloc(1, sizeof(*g) + (size_t)PyList_Size(list) * sizeof(*g->v)) : NULL;
	if (!g)
		return PyErr_NoMemory();
	g->columns = columns_keep(session_columns(((struct session_object *)session)->session));
	for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
		struct batch_object *b = (struct batch_object *)PyList_GetItem(list, i);

		if (Py_TYPE((PyObject *)b) != native->batches.batch || b->n != b->batch->rows || !columns_are_like(b->batch->columns, g->columns)) {
			gathered_release(g);
			PyErr_SetString(PyExc_TypeError, "expected whole batches of the session");
			return NULL;
		}
		g->v[g->n++] = batch_keep(b->batch);
	}
	return stream_of(&gathered_kind, g);
}
