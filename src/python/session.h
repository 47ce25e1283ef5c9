/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions as Python's objects. */
#ifndef PYTHON_SESSION_H
#define PYTHON_SESSION_H

#include "base/fault.h"
#include "python/batch.h"
#include "python/native.h"
#include "session/branches.h"

/* Where the batches of an object come from. Functions get its ctx. */
struct source_kind {
	const char *name;        /* "session" */
	const char *read_before; /* warned of, if an Arrow stream lacks batches that were read before; NULL: nothing */
	struct columns *(*columns)(void *ctx);
	int (*fd)(void *ctx);    /* readable while next() may return something else than SESSION_WAIT */
	enum session_answer (*next)(void *ctx, struct batch **out, struct fault *f);
	bool works;              /* next() may take long: others get the GIL meanwhile */
	void *(*keep)(void *ctx);
	void (*release)(void *ctx);
};
/* quiet: an error of the session is an end; it stays for session_next(). */
extern const struct source_kind session_kind, session_quiet_kind, aggregate_kind, stream_kind;

/* What sessions, aggregates and streams begin with. */
#define READER_MEMBERS \
	PyObject_HEAD \
	struct native *native; \
	void *ctx;               /* NULL: never began */ \
	struct session *session; /* when it is closed, so is this; NULL: this stays open */ \
	struct fields names; \
	const char *taken;       /* "aggregate" or "stream", to which its batches go; or NULL */ \
	bool streamed;           /* __arrow_c_stream__() was called */ \
	bool read;               /* a batch was taken */ \
	unsigned long ended;     /* the thread that saw the end of the batches; 0: none yet */

struct reader_object {
	READER_MEMBERS
};

struct session_object {
	READER_MEMBERS
	bool beginning;          /* some thread is in __init__() */
	struct branches *branches;   /* of its Streams; NULL: it has none */
};

/* reader.c: each returns NULL with an exception. The ctx, if it has begun; if it is open. */
void *reader_begun(PyObject *self, const struct source_kind *kind);
void *reader_opened(PyObject *self, const struct source_kind *kind);
/* Whether others take the batches: then with an exception. */
bool reader_is_taken(PyObject *self);
PyObject *reader_columns(PyObject *self, const struct source_kind *kind);
/* The next batch, waiting for it; NULL without an exception: there will be none. */
PyObject *reader_next(PyObject *self, const struct source_kind *kind);
/* What _take() returns, without waiting: the batch; None: none is ready; False: there will be none. */
PyObject *reader_take(PyObject *self, const struct source_kind *kind);
PyObject *reader_arrow_schema(PyObject *self, const struct source_kind *kind);
PyObject *reader_arrow_stream(PyObject *self, const struct source_kind *kind, PyObject *args, PyObject *kwargs);
/* For dealloc. */
void reader_end(PyObject *self, const struct source_kind *kind);
/* Warns about the line that called the package. 0, or -1 with an exception. */
int reader_warn(const char *text);

/* Defines NAME_kind by the functions NAME_columns(), NAME_next(), ... of a room below, and the methods of its objects. */
#define READER(name, from, ...) \
	static struct columns *name##_columns_of(void *ctx) { return from##_columns(ctx); } \
	static int name##_fd_of(void *ctx) { return from##_fd(ctx); } \
	static enum session_answer name##_next_of(void *ctx, struct batch **out, struct fault *f) { return from##_next(ctx, out, f); } \
	static void *name##_keep_of(void *ctx) { return from##_keep(ctx); } \
	static void name##_release_of(void *ctx) { from##_release(ctx); } \
	const struct source_kind name##_kind = { \
		#name, .columns = name##_columns_of, .fd = name##_fd_of, .next = name##_next_of, .keep = name##_keep_of, \
		.release = name##_release_of, __VA_ARGS__ \
	}; \
	static PyObject *name##_iternext(PyObject *self) { return reader_next(self, &name##_kind); } \
	static PyObject *name##_take(PyObject *self, PyObject *unused) { return reader_take(self, &name##_kind); } \
	static PyObject *name##_columns_get(PyObject *self, void *unused) { return reader_columns(self, &name##_kind); } \
	static PyObject *name##_arrow_schema(PyObject *self, PyObject *unused) { return reader_arrow_schema(self, &name##_kind); } \
	static PyObject *name##_arrow_stream(PyObject *self, PyObject *args, PyObject *kwargs) \
	{ \
		return reader_arrow_stream(self, &name##_kind, args, kwargs); \
	}
#define READER_METHODS(name) \
	{ "_take", name##_take, METH_NOARGS, "The next batch; None: none is ready; False: there will be none." }, \
	{ "__arrow_c_schema__", name##_arrow_schema, METH_NOARGS, "The columns as an Arrow schema." }, \
	{ "__arrow_c_stream__", (PyCFunction)(void (*)(void))name##_arrow_stream, METH_VARARGS | METH_KEYWORDS, \
	  "The batches as an Arrow stream, once. It ends with the session." }
#define READER_GETSET(name) { "columns", name##_columns_get, NULL, "The names of the columns that its batches have.", NULL }

/* Adds the type to the module. 0, or -1 with an exception. */
int session_type_add(PyObject *module);
int aggregate_type_add(PyObject *module);
int stream_type_add(PyObject *module);

/* session.c: NULL with an exception if it never began, or was closed. */
struct session *session_opened(PyObject *self);
/* The session, if nobody has read from it; NULL with an exception that says what `use` needs. */
struct session *session_unread(PyObject *self, const char *use);
/* session.c: raises that this process is a fork. Returns NULL. */
PyObject *session_forked(void);
/* The state of the module of an object's class, maybe derived; NULL with an exception. */
struct native *native_of_instance(PyObject *self);

/* sessionstacks.c: methods of sessions. The number of stacks; the numbers of the frames of one; the frames from one number on, as
 * perf_prof.Frame; the tables of stacks and frames. */
PyObject *session_stack_count(PyObject *self, PyObject *unused);
PyObject *session_stack(PyObject *self, PyObject *args);
PyObject *session_stack_samples(PyObject *self, PyObject *number);
PyObject *session_stack_frames(PyObject *self, PyObject *from);
PyObject *session_stack_tables(PyObject *self, PyObject *patient);
PyObject *session_stack_settled(PyObject *self, PyObject *patient);
/* A session whose options are parsed already: asked->words is NULL. Takes over *asked, also if it fails. */
PyObject *session_object_new(struct native *native, struct session_asked *asked);
/* lists.c: _batch(NAMES, TYPES, LISTS) makes a batch of lists of values. */
PyObject *batch_of_lists(PyObject *module, PyObject *args);

/* faults.c: raises what the fault says. Returns NULL. */
PyObject *fault_raise(const struct fault *f);
/* Of live events that a program asked for. If they were refused: adds what it may do without more rights, and names
 * parameters instead of options. */
void fault_say_what_works(struct fault *f);

/* reader.c: _native._stream(): whole batches of a session, or None: all that it will have, as a stream. */
PyObject *capsule_batches(PyObject *module, PyObject *args);

/* Waits until the descriptor is readable. 0, or -1: a signal's handler raised, and the exception is set. Call it with
 * the GIL. */
int wait_readable(int fd);
enum { WAIT_SLICE_MS = 500 };    /* after which a waiting thread looks for signals */

#endif
