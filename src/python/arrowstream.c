/* SPDX-License-Identifier: Apache-2.0 */
/* A session as an Arrow stream in a capsule. */
#include "python/session.h"

#include "python/capsule.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

CAPSULE(ArrowArrayStream, arrow_array_stream)

struct streaming {
	struct batch_source source;
	struct fault fault;
};

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	struct streaming *st = stream->private_data;

	return export_schema(st->source.columns, out) ? ENOMEM : 0;
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
		switch (st->source.next(st->source.ctx, &b, &st->fault)) {
		case SESSION_BATCH:
			rc = export_batch(b, 0, b->rows, out);
			batch_release(b);
			return -rc;
		case SESSION_WAIT:
			wait_for(st->source.fd);
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

	st->source.release(st->source.ctx);
	take_gil(state);
	free(st);
	stream->release = NULL;
}

PyObject *capsule_stream(const struct batch_source *source)
{
	struct ArrowArrayStream *stream = malloc(sizeof(*stream));
	struct streaming *st = calloc(1, sizeof(*st));

	if (!stream || !st) {
		source->release(source->ctx);
		free(stream);
		free(st);
		return PyErr_NoMemory();
	}
	st->source = *source;
	*stream = (struct ArrowArrayStream){ stream_schema, stream_next, stream_error, stream_release, st };
	return enclose_arrow_array_stream(stream);
}

/* ---- streams of batches that are there ---------------------------------------------- */

struct gathered {
	struct columns *columns;        /* kept */
	size_t n, at;
	struct batch *v[];              /* kept */
};

static int gathered_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
	return export_schema(((struct gathered *)stream->private_data)->columns, out) ? ENOMEM : 0;
}

static int gathered_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
	struct gathered *g = stream->private_data;

	memset(out, 0, sizeof(*out));   /* release NULL: the end */
	if (g->at == g->n)
		return 0;
	if (export_batch(g->v[g->at], 0, g->v[g->at]->rows, out))
		return ENOMEM;
	g->at++;
	return 0;
}

static const char *gathered_error(struct ArrowArrayStream *stream)
{
	return "out of memory";
}

static void gathered_free(struct gathered *g)
{
	for (size_t i = 0; i < g->n; i++)
		batch_release(g->v[i]);
	columns_release(g->columns);
	free(g);
}

static void gathered_release(struct ArrowArrayStream *stream)
{
	gathered_free(stream->private_data);
	stream->release = NULL;
}

static PyObject *enclose_gathered(struct gathered *g)
{
	struct ArrowArrayStream *stream = malloc(sizeof(*stream));

	if (!stream) {
		gathered_free(g);
		return PyErr_NoMemory();
	}
	*stream = (struct ArrowArrayStream){ gathered_schema, gathered_next, gathered_error, gathered_release, g };
	return enclose_arrow_array_stream(stream);
}

PyObject *capsule_batches(PyObject *module, PyObject *args)
{
	struct native *native = native_of(module);
	PyObject *session, *list;
	struct gathered *g;

	if (!PyArg_ParseTuple(args, "O!O", native->session, &session, &list))
		return NULL;
	if (list == Py_None)
		return session_stream_quiet(session);
	if (!PyList_Check(list))
		return PyErr_Format(PyExc_TypeError, "expected a list of batches");
	g = ((struct session_object *)session)->session ? calloc(1, sizeof(*g) + (size_t)PyList_Size(list) * sizeof(*g->v)) : NULL;
	if (!g)
		return PyErr_NoMemory();
	g->columns = columns_keep(session_columns(((struct session_object *)session)->session));
	for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
		struct batch_object *b = (struct batch_object *)PyList_GetItem(list, i);

		if (Py_TYPE((PyObject *)b) != native->host.batches.batch || b->n != b->batch->rows || !columns_are_like(b->batch->columns, g->columns)) {
			gathered_free(g);
			PyErr_SetString(PyExc_TypeError, "expected whole batches of the session");
			return NULL;
		}
		g->v[g->n++] = batch_keep(b->batch);
	}
	return enclose_gathered(g);
}
