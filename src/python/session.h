/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions as Python's objects. */
#ifndef PYTHON_SESSION_H
#define PYTHON_SESSION_H

#include "base/fault.h"
#include "python/batch.h"
#include "python/native.h"
#include "session/branches.h"

struct session_object {
	PyObject_HEAD
	struct native *native;
	struct session *session; /* NULL: never began */
	struct fields names;
	bool beginning;          /* some thread is in __init__() */
	bool streamed;           /* __arrow_c_stream__() was called */
	bool read;               /* a batch was taken */
	unsigned long ended;     /* the thread that saw the end of the batches; 0: none yet */
	bool aggregated;         /* its batches go to an Aggregate */
	struct branches *branches;   /* or to Streams; NULL: they do not */
};

/* Adds the type to the module. 0, or -1 with an exception. */
int session_type_add(PyObject *module);
int aggregate_type_add(PyObject *module);
int stream_type_add(PyObject *module);

/* session.c: NULL with an exception if it never began, or was closed. */
struct session *session_opened(PyObject *self);
/* session.c: raises that others take the batches of the session. NULL: they do not, or with an exception. */
PyObject *session_taken(const struct session_object *o);
/* The session, if nobody has read from it; NULL with an exception that says what `use` needs. */
struct session *session_unread(PyObject *self, const char *use);
/* session.c: raises that this process is a fork. Returns NULL. */
PyObject *session_forked(void);
/* The state of the module of an object's class, maybe derived; NULL with an exception. */
struct native *native_of_instance(PyObject *self);

/* stacks.c: methods of sessions. The number of stacks; the numbers of the frames of one; the frames from one number on, as
 * perf_prof.Frame; the tables of stacks and frames. */
PyObject *session_stack_count(PyObject *self, PyObject *unused);
PyObject *session_stack(PyObject *self, PyObject *args);
PyObject *session_stack_samples(PyObject *self, PyObject *number);
PyObject *session_stack_frames(PyObject *self, PyObject *from);
PyObject *session_stack_tables(PyObject *self, PyObject *patient);
PyObject *session_stack_settled(PyObject *self, PyObject *patient);
/* parts.c: methods of sessions. What _rows() takes of batches: the rows of these events, maybe losses; {name of an event: its
 * function in scripts}. */
PyObject *session_part(PyObject *self, PyObject *args);
PyObject *session_rows(PyObject *self, PyObject *args);
PyObject *session_words_get(PyObject *self, void *unused);
/* A session whose options are parsed already: asked->words is NULL. Takes over *asked, also if it fails. */
PyObject *session_object_new(struct native *native, struct session_asked *asked);
/* A capsule of its stream. An error of the session ends it, and the session keeps it. NULL with an exception. */
PyObject *session_stream_quiet(PyObject *self);
/* lists.c: _batch(NAMES, TYPES, LISTS) makes a batch of lists of values. */
PyObject *batch_of_lists(PyObject *module, PyObject *args);

/* faults.c: raises what the fault says. Returns NULL. */
PyObject *fault_raise(const struct fault *f);
/* Of live events that a program asked for. If they were refused: adds what it may do without more rights, and names
 * parameters instead of options. */
void fault_say_what_works(struct fault *f);

/* Batches for a stream; its own reference. next() is session_next(), or like it. */
struct batch_source {
	void *ctx;
	struct columns *columns;
	int fd;                  /* readable while next() may return something else than SESSION_WAIT */
	enum session_answer (*next)(void *ctx, struct batch **out, struct fault *f);
	void (*release)(void *ctx);
};
/* capsule.c: a capsule of the Arrow PyCapsule interface. NULL with an exception. Takes over the source, also if it fails. */
PyObject *capsule_stream(const struct batch_source *source);
/* _native._stream(): whole batches of a session, or None: all that it will have, as a stream. */
PyObject *capsule_batches(PyObject *module, PyObject *args);

/* Waits until the descriptor is readable. 0, or -1: a signal's handler raised, and the exception is set. Call it with
 * the GIL. */
int wait_readable(int fd);
enum { WAIT_SLICE_MS = 500 };    /* after which a waiting thread looks for signals */

#endif
