/* SPDX-License-Identifier: Apache-2.0 */
/* A session as an Arrow stream in a capsule. */
#include "pymodule/session.h"

#include "pybatch/capsule.h"

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
#if PY_VERSION_HEX < 0x030d0000
	PyThreadState *now = _PyThreadState_UncheckedGet();
#else
	PyThreadState *now = PyThreadState_GetUnchecked();
#endif

	/* until 3.11, `now` may be another thread's */
	return now && now == PyGILState_GetThisThreadState() ? PyEval_SaveThread() : NULL;
}

static void take_gil(PyThreadState *state)
{
	if (state)
		PyEval_RestoreThread(state);
}

/* False: interrupted by a signal. */
static bool wait_for(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	PyThreadState *state = release_gil();
	int rc = poll(&p, 1, -1);

	take_gil(state);
	return rc >= 0;
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
			if (!wait_for(st->source.fd) && is_interrupted())
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
