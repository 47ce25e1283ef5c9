/* SPDX-License-Identifier: Apache-2.0 */
#include "python/host.h"

#include "base/fault.h"
#include "base/note.h"
#include "base/now.h"
#include "perfevent.h"
#include "python/native.h"
#include "stream/rings/ids.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static struct trouble_kind *kind_of(struct trouble *t, PyObject *type, const char *where)
{
	char name[sizeof(t->kinds[0].name)];
	char kind[TYPE_NAME];
	struct trouble_kind *k;

	snprintf(name, sizeof(name), "%s in %s", PyType_Check(type) ? type_name((PyTypeObject *)type, kind) : "exception", where);
	for (int i = 0; i < t->nkinds; i++)
		if (!strcmp(t->kinds[i].name, name))
			return &t->kinds[i];
	if (t->nkinds == TROUBLE_KINDS)
		return &t->kinds[TROUBLE_KINDS - 1];
	k = &t->kinds[t->nkinds++];
	snprintf(k->name, sizeof(k->name), "%s",
		 t->nkinds == TROUBLE_KINDS ? "other exceptions" : name);
	return k;
}

static void tell(struct trouble *t)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC);

	if (now - t->told_ns < SECOND)
		return;
	t->told_ns = now;
	for (int i = 0; i < t->nkinds; i++) {
		struct trouble_kind *k = &t->kinds[i];

		if (k->count != k->told)
			PySys_WriteStderr("perf-prof: %s: %" PRIu64 " more\n", k->name,
					  k->count - k->told);
		k->told = k->count;
	}
}

/* Takes the current exception, raised in `where`. */
static void trouble_take(struct trouble *t, const char *where)
{
	struct trouble_kind *k = kind_of(t, PyErr_Occurred(), where);

	k->count++;
	t->count++;
	if (k->count <= TROUBLE_FULL) {
		PyErr_Print();
		k->told = k->count;
		return;
	}
	PyErr_Clear();
	tell(t);
}

/* Takes the KeyboardInterrupt of the watchdog and prints where it interrupted the script. */
static void trouble_take_interrupt(struct host *h, const char *where)
{
	PyObject *error = take_error(), *place = PyObject_CallMethod(h->loader, "place", "O", error);

	PyErr_Clear();
	PySys_FormatStderr("perf-prof: %s was interrupted at %V: it had not returned 500 ms after the stop\n", where, place,
			   "an unknown place");
	Py_XDECREF(place);
	Py_XDECREF(error);
}

/* Prints the totals, if there was more than one exception. */
static void trouble_summary(const struct trouble *t)
{
	if (t->count <= 1)
		return;
	PySys_WriteStderr("perf-prof: the script raised %" PRIu64 " exceptions:\n", t->count);
	for (int i = 0; i < t->nkinds; i++)
		PySys_WriteStderr("  %10" PRIu64 "  %s\n", t->kinds[i].count, t->kinds[i].name);
}

int trouble_take_exit(void)
{
	PyObject *error = take_error(), *code = attribute(error, "code");
	int rc = EXIT_FAILED;

	if (!code)
		rc = 0;
	else if (PyLong_Check(code))
		rc = (int)(PyLong_AsLong(code) & 0xff);
	else
		PySys_FormatStderr("%S\n", code);
	PyErr_Clear();
	Py_XDECREF(code);
	Py_XDECREF(error);
	return rc;
}

/* ---- names -------------------------------------------------------------------------- */

void host_task(void *ctx, const struct pev_record *rec)
{
	struct host *h = ctx;

	names_take(&h->names, rec);
}

static const char *comm_of(void *ctx, const struct stream_event *event, const struct perf_event_header *rec, const void *raw)
{
	struct host *h = ctx;

	return names_comm(&h->names, stream_tid(event, rec, raw));
}

const char *event_comm(const struct perf_event *e)
{
	if (e->owned && e->comm[0])
		return e->comm;
	return comm_of(e->cls->host, e->cls->event, e->rec, e->raw);
}

PyObject *host_callchain(struct host *h, const struct perf_event *e)
{
	const struct layout *l = &e->cls->event->layout;
	const uint64_t *ips;
	uint64_t nr = 0;

	if (e->chain)
		return PyList_GetSlice(e->chain, 0, PyList_GET_SIZE(e->chain));
	ips = names_chain(&h->names, e->cls->event, e->rec, &nr);
	if (!h->frames)
		return PyList_New(0);
	return frames_list(h->frames, ips, ips ? nr : 0, (pid_t)layout_u32(e->rec, l->tid), event_time(e));
}

static bool has_user_part(const uint64_t *ips, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++)
		if (ips[i] == (uint64_t)PERF_CONTEXT_USER)
			return true;
	return false;
}

PyObject *host_chain_to_keep(struct host *h, const struct perf_event *e)
{
	uint64_t nr = 0;
	const struct stream_event *event = e->cls->event;
	const uint64_t *ips = layout_callchain(&event->layout, e->rec, &nr);
	PyObject *chain;

	if (!h->names.maps || !ips || (!event->opened.stack_format && !has_user_part(ips, nr)))
		return NULL;
	chain = host_callchain(h, e);
	if (!chain)
		PyErr_Clear();
	return chain;
}

/* ---- opening -------------------------------------------------------------- */

static void drop_frames(PyObject *capsule)
{
	struct host *h = PyCapsule_GetPointer(capsule, NULL);

	frames_free(h->frames);
	h->frames = NULL;
	Py_CLEAR(h->frame_type);
}

/* Functions of atexit may still use events, so frames are freed with the modules instead of at the end of
 * the run. */
static int keep_until_finalization(struct host *h)
{
	PyObject *capsule = PyCapsule_New(h, NULL, drop_frames);
	int rc = capsule ? PyObject_SetAttrString(h->loader, "_frames", capsule) : -1;

	Py_XDECREF(capsule);
	return rc;
}

static int open_frames(struct host *h)
{
	struct frames_opts opts = {
		.symbolizer = h->names.symbolizer, .maps = h->names.maps, .type = h->frame_type,
	};

	h->frames = frames_new(&opts);
	if (h->frames && !keep_until_finalization(h))
		return 0;
	PyErr_Clear();
	return -1;
}

int host_open_frames(struct host *h, struct fault *f)
{
	if (!h->names.symbolizer || !open_frames(h))
		return 0;
	return fault_set(f, EXIT_FAILED, "out of memory");
}

/* ---- output ------------------------------------------------------------------------- */

/* The script's sys.stdout. The run ends when it cannot be written any more. */

/* Whether sys.stdout cannot be written: its flush() raises. */
static bool output_is_broken(struct host *h)
{
	struct pollfd p = { .fd = STDOUT_FILENO };
	PyObject *rc = PyObject_CallMethod(h->loader, "flush", NULL);

	if (rc) {
		Py_DECREF(rc);
		/* the failed write may have emptied the buffer: ask the pipe */
		return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
	}
	PyErr_Clear();
	return true;
}

static void stop_broken_output(struct host *h, int error)
{
	if (!h->output_error)
		h->output_error = error ? error : EIO;
	if (h->stream)
		stream_stop(h->stream);
}

static int os_error_number(void)
{
	PyObject *error = take_error(), *number = attribute(error, "errno");
	int n = number && PyLong_Check(number) ? (int)PyLong_AsLong(number) : 0;

	PyErr_Clear();
	Py_XDECREF(number);
	put_error(error);
	return n;
}

bool host_take_broken_output(struct host *h)
{
	PyObject *error;
	bool broken;

	if (!h->loader || !PyErr_ExceptionMatches(PyExc_OSError))
		return false;
	error = take_error();
	broken = output_is_broken(h);
	put_error(error);
	if (broken) {
		stop_broken_output(h, os_error_number());
		PyErr_Clear();
	}
	return broken;
}

static void flush(struct host *h)
{
	PyObject *rc = PyObject_CallMethod(h->loader, "flush", NULL);

	if (!rc && PyErr_ExceptionMatches(PyExc_OSError))
		stop_broken_output(h, os_error_number());
	PyErr_Clear();   /* the script set another object as sys.stdout */
	Py_XDECREF(rc);
}

/* ---- forks -------------------------------------------------------------------------- */

/*
 * Scripts that fork (os.fork(), multiprocessing). Rings are not mapped in a child, so the event in
 * hand gets a copy of its record before the fork. A child exits when its function returns to
 * perf-prof; only the parent continues the run.
 */

static PyObject *before_fork(PyObject *capsule, PyObject *unused)
{
	struct host *h = PyCapsule_GetPointer(capsule, NULL);

	if (!h || !h->event || h->held)
		Py_RETURN_NONE;
	if (event_is_kept(h->event) && event_keep(h->event))
		return NULL;
	/* makes host_sample() replace the event after the handler, in the child as well */
	Py_INCREF((PyObject *)h->event);
	h->held = h->event;
	Py_RETURN_NONE;
}

/* In the parent the event needs to be replaced only if it was copied. */
static PyObject *after_in_parent(PyObject *capsule, PyObject *unused)
{
	struct host *h = PyCapsule_GetPointer(capsule, NULL);

	if (h && h->held && !h->event->owned)
		Py_CLEAR(h->held);
	Py_RETURN_NONE;
}

static PyMethodDef fork_after = { "after_in_parent", after_in_parent, METH_NOARGS, NULL };
static PyMethodDef fork_before = { "before_fork", before_fork, METH_NOARGS, NULL };

/* Makes Python know a handler of SIGINT, by which the watchdog interrupts the script; the loop replaces the process's handler
 * later. */
static int begin(struct host *h)
{
	PyObject *capsule = PyCapsule_New(h, NULL, NULL);
	PyObject *rc = capsule ? PyObject_CallMethod(h->loader, "begin", "NN", PyCFunction_New(&fork_before, capsule),
						     PyCFunction_New(&fork_after, capsule)) : NULL;

	h->pid = getpid();
	Py_XDECREF(capsule);
	Py_XDECREF(rc);
	return rc ? 0 : -1;
}

static void end_forked(const struct host *h, int code)
{
	if (getpid() != h->pid)
		_exit(Py_FinalizeEx() < 0 ? EXIT_FAILED : code);
}

/* ---- set-up --------------------------------------------------------------- */

static int fetch_types(struct host *h)
{
	PyObject *module = PyImport_ImportModule("perf_prof");

	if (module) {
		h->event_type = (PyTypeObject *)PyObject_GetAttrString(module, "PerfEvent");
		if (hostmodule_set_host(module, h))
			Py_CLEAR(h->event_type);
	}
	if (h->event_type)
		h->frame_type = (PyTypeObject *)PyObject_GetAttrString(module, "Frame");
	Py_XDECREF(module);
	return h->frame_type ? 0 : -1;
}

/* Blocks Ctrl-C meanwhile. Otherwise it could interrupt an import, or a callback whose exceptions are
 * ignored. */
static int set_up(struct host *h)
{
	sigset_t interrupt, before;
	int rc;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	pthread_sigmask(SIG_BLOCK, &interrupt, &before);
	rc = fetch_types(h);
	if (!rc)
		h->loader = host_import_loader();
	if (!h->loader || begin(h))
		rc = -1;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc ? rc : PyErr_CheckSignals();
}

int host_start(struct host *h, const struct host_script *script, struct fault *f)
{
	host_tell_ignored(script);
	if (host_start_interpreter(script, f))
		return -1;
	h->started = true;
	h->script = script;
	h->verbose = script->verbose;
	h->interval_ms = script->interval_ms;
	h->batch_rows = script->batch_rows;
	if (set_up(h)) {
		if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
			return host_interrupted(f);
		PyErr_Print();
		return fault_set(f, EXIT_FAILED, "setting up Python failed with the exception "
				 "above");
	}
	return host_load(h, script, f);
}

/* Functions that are called for other things than events. */
static const struct {
	const char *name;
	size_t member;
} callbacks[] = {
	{ "__init__", offsetof(struct host, on_init) }, { "__exit__", offsetof(struct host, on_exit) },
	{ "__interval__", offsetof(struct host, on_interval) }, { "__print_stat__", offsetof(struct host, on_print_stat) },
	{ "__lost__", offsetof(struct host, on_lost) },
};
enum { NCALLBACKS = sizeof(callbacks) / sizeof(*callbacks) };

static PyObject **callback_at(struct host *h, size_t i)
{
	return (PyObject **)(void *)((char *)h + callbacks[i].member);
}

/* Otherwise the interpreter's last flush would fail again and complain again. */
static void drop_output(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

static void close_names(struct host *h)
{
	print_close(h);
	names_end(&h->names);
}

void host_finish(struct host *h)
{
	if (!h->started) {
		close_names(h);
		return;
	}
	for (size_t i = 0; i < NCALLBACKS; i++)
		Py_CLEAR(*callback_at(h, i));
	batches_free(h->batches);
	h->batches = NULL;
	Py_CLEAR(h->held);
	Py_CLEAR(h->event);
	if (h->output_error)
		drop_output();
	/* atexit functions and threads may still use events, so classes and frames are freed after it */
	if (Py_FinalizeEx() < 0 && !h->exit_code)
		h->exit_code = EXIT_FAILED;
	h->started = false;
	close_names(h);
}

/* ---- calls ---------------------------------------------------------------- */

/* A module that was not found may be in a path that root ignores. */
static void tell_missing(struct host *h)
{
	char ignored[1024];

	if (h->told_ignored || !PyErr_ExceptionMatches(PyExc_ModuleNotFoundError) ||
	    !host_ignored_text(h->script, ignored, sizeof(ignored)))
		return;
	h->told_ignored = true;
	note(1, "%s", ignored);
}

/* Handles an exception of a script's function. False: it is a way to end the run. */
static bool call_failed(struct host *h, const char *where)
{
	if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
		h->exit_code = trouble_take_exit();
		end_forked(h, h->exit_code);
		stream_stop(h->stream);
		return false;
	}
	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
		if (!stream_is_stopping(h->stream)) {   /* raised by the script, not by the watchdog */
			PyErr_Clear();
			stream_stop(h->stream);
			return false;
		}
		trouble_take_interrupt(h, where);
		return false;
	}
	if (host_take_broken_output(h))
		return false;
	tell_missing(h);
	trouble_take(&h->trouble, where);
	return true;
}

static void call(struct host *h, PyObject *f, const char *where, PyObject *const *args, size_t n)
{
	PyObject *rc;

	if (!f)
		return;
	rc = PyObject_Vectorcall(f, args, n, NULL);
	if (rc)
		Py_DECREF(rc);
	else
		call_failed(h, where);
}

static void call_batch(void *ctx, PyObject *function, const char *name, PyObject *batch)
{
	struct host *h = ctx;
	PyObject *rc = batch ? PyObject_Vectorcall(function, &batch, 1, NULL) : NULL;

	if (rc)
		h->returned = true;
	else
		h->raised |= call_failed(h, name);
	Py_XDECREF(rc);
	end_forked(h, 0);
}

/* Shows the script's output now instead of when a buffer is full. */
static void show_output(struct host *h)
{
	end_forked(h, 0);
	flush(h);
}

/* ---- handlers ------------------------------------------------------------- */

/* What is said about functions that cannot work is no exception of the script. */
static int refused(struct fault *f)
{
	PyObject *error;
	char text[sizeof(f->text)];

	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
		return host_interrupted(f);
	if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError)) {
		PyErr_Print();
		return fault_set(f, EXIT_FAILED, "looking for the functions of the script failed with the exception above");
	}
	error = take_error();
	fault_usage(f, "%s", host_error_text(error, text, sizeof(text)));
	Py_DECREF(error);
	return -1;
}

/* Finds the functions that are called by name. NULL with an exception. */
static PyObject *find_handlers(struct host *h, const struct stream_event *events)
{
	PyObject *list = PyList_New(0), *found;

	for (size_t i = 0; list && i < h->nclasses; i++)
		list = list_put(list, Py_BuildValue("(ss)", events[i].name, events[i].word));
	found = list ? PyObject_CallMethod(h->loader, "find_handlers", "OO", h->namespace, list) : NULL;
	Py_XDECREF(list);
	return found;
}

static int take_callbacks(struct host *h, PyObject *handlers)
{
	PyObject *found = PyObject_GetAttrString(handlers, "callbacks"), *takes = PyObject_GetAttrString(handlers, "lost_takes");

	for (size_t i = 0; found && i < NCALLBACKS; i++) {
		PyObject *function = PyDict_GetItemString(found, callbacks[i].name);

		if (function && function != Py_None)
			*callback_at(h, i) = Py_NewRef(function);
	}
	h->lost_takes = takes ? (int)PyLong_AsLong(takes) : 0;
	Py_XDECREF(found);
	Py_XDECREF(takes);
	return PyErr_Occurred() ? -1 : 0;
}

/* chosen: (function, its name, whether it takes batches, whether it is the event's own), or None. */
static int attach_event(struct host *h, struct event_class *cls, struct stream_event *event, PyObject *chosen)
{
	PyObject *function = NULL;
	const char *name = NULL;
	int batches = 0, own = 0;

	if (!chosen || (chosen != Py_None && !PyArg_ParseTuple(chosen, "Ospp", &function, &name, &batches, &own)) ||
	    event_class_init(cls, event, h, h->event_type, !own || batches))
		return -1;
	if (batches) {
		cls->batches = batches_take(h->batches, event, name, function);
		event->naming = &h->naming;
		return cls->batches ? 0 : (PyErr_NoMemory(), -1);
	}
	if (function) {
		cls->handler = Py_NewRef(function);
		cls->call = VECTORCALL_OF(function);
		cls->call = cls->call ? cls->call : PyObject_Vectorcall;
	}
	return 0;
}

static int attach_events(struct host *h, struct stream_event *events, PyObject *handlers)
{
	PyObject *chosen = PyObject_GetAttrString(handlers, "chosen");
	int rc = chosen ? 0 : -1;

	for (size_t i = 0; !rc && i < h->nclasses; i++)
		rc = attach_event(h, &h->classes[i], &events[i], PyList_GetItem(chosen, (Py_ssize_t)i));
	Py_XDECREF(chosen);
	return rc;
}

/* Once all events have their functions. */
static void settle_event(struct event_class *cls, struct stream_event *event)
{
	if (cls->batches)
		cls->plan = batches_plan(cls->batches, event);
	event->consumer = cls;
	event->wanted = cls->handler || cls->batches;
}

/* Hints about functions that will not be called. -1 with an exception or with f: there is none for any event. */
static int tell_hints(struct host *h, PyObject *handlers, struct fault *f)
{
	PyObject *told = PyObject_CallMethod(handlers, "hints", "i", h->verbose), *hints, *nothing;
	int rc = told && PyArg_ParseTuple(told, "O!O", &PyList_Type, &hints, &nothing) ? 0 : -1;

	for (Py_ssize_t i = 0; !rc && i < PyList_GET_SIZE(hints); i++) {
		PyObject *bytes = PyUnicode_EncodeFSDefault(PyList_GET_ITEM(hints, i));

		if (bytes)
			fprintf(stderr, "perf-prof: %s\n", PyBytes_AS_STRING(bytes));
		PyErr_Clear();
		Py_XDECREF(bytes);
	}
	if (!rc && nothing != Py_None) {
		PyErr_SetObject(PyExc_ValueError, nothing);
		rc = refused(f);
	}
	Py_XDECREF(told);
	return rc;
}

int host_begin(struct host *h, struct stream *stream, const struct opener *opener, struct fault *f)
{
	h->stream = stream;
	return names_begin(&h->names, stream, opener, f);
}

int host_attach(struct host *h, struct fault *f)
{
	struct stream_event *events = stream_events(h->stream, &h->nclasses);
	struct batches_opts batches = {
		.stream = h->stream, .types = h->batch_types, .rows = h->batch_rows, .call = call_batch, .ctx = h,
	};
	PyObject *handlers;
	bool wanted = false;
	int rc;

	h->naming = (struct event_naming){ .comm = comm_of, .stream = h };
	h->classes = calloc(h->nclasses, sizeof(*h->classes));
	h->event = event_new(h->event_type);
	if (!h->classes || !h->event)
		return fault_set(f, EXIT_FAILED, "out of memory");
	handlers = find_handlers(h, events);
	batches.fields = handlers ? PyObject_CallMethod(handlers, "fields", NULL) : NULL;
	if (!batches.fields) {
		Py_XDECREF(handlers);
		return refused(f);
	}
	h->batches = batches_new(&batches);
	Py_DECREF(batches.fields);
	rc = !h->batches || take_callbacks(h, handlers) || attach_events(h, events, handlers) ||
	     batches_settle(h->batches, h->verbose, f) ? -1 : 0;
	for (size_t i = 0; !rc && i < h->nclasses; i++) {
		settle_event(&h->classes[i], &events[i]);
		wanted |= events[i].wanted;
	}
	rc = rc ? rc : tell_hints(h, handlers, f);
	Py_DECREF(handlers);
	if (rc && PyErr_Occurred())
		return refused(f);
	if (!rc && wanted && h->on_interval && !h->interval_ms)
		note(h->verbose, "__interval__() is not called: give -i MILLISECONDS");
	return rc;
}

/* ---- the run ---------------------------------------------------------------- */

int host_init(struct host *h, struct fault *f)
{
	PyObject *rc = h->on_init ? PyObject_CallNoArgs(h->on_init) : (Py_INCREF(Py_None), Py_None);

	if (rc) {
		Py_DECREF(rc);
		end_forked(h, 0);
		return 0;
	}
	if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
		h->exit_code = trouble_take_exit();
		end_forked(h, h->exit_code);
		return -1;
	}
	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
		return host_interrupted(f);
	tell_missing(h);
	PyErr_Print();
	end_forked(h, EXIT_FAILED);
	return fault_set(f, EXIT_FAILED, "__init__() raised the exception above, so the run ends; "
			 "nothing was traced");
}

/* The results of a script whose __exit__() fails are incomplete. */
static void call_exit(struct host *h)
{
	const uint64_t before = h->trouble.count;

	call(h, h->on_exit, "__exit__", NULL, 0);
	if (h->trouble.count > before && !h->exit_code)
		h->exit_code = EXIT_FAILED;
}

void host_exit(struct host *h)
{
	/* a Ctrl-C from just before the end of delivery must not interrupt __exit__() */
	if (PyErr_CheckSignals())
		PyErr_Clear();
	batches_flush(h->batches);
	call_exit(h);
	trouble_summary(&h->trouble);
	if (h->raised && !h->returned && !h->exit_code) {
		PySys_WriteStderr("perf-prof: all calls of functions for events raised an exception, so the exit code is 1\n");
		h->exit_code = EXIT_FAILED;
	}
	if (batches_dropped(h->batches))
		note(1, "batches lack %" PRIu64 " rows or values: out of memory", batches_dropped(h->batches));
	show_output(h);
}

/* The script kept the event: copies it, and makes a new object for the next event. */
static void replace_event(struct host *h)
{
	struct perf_event *fresh;

	if (h->held)
		end_forked(h, 0);
	fresh = event_new(h->event_type);
	if (!fresh || event_keep(h->event)) {
		PyErr_Clear();
		Py_FatalError("perf-prof: out of memory for an event that the script keeps");
	}
	Py_DECREF(h->event);
	Py_CLEAR(h->held);
	h->event = fresh;
}

/* Hot path. It allocates only if the script kept the event before. */
void host_sample(void *ctx, const struct stream_event *event, const struct perf_event_header *rec,
		 const void *raw, uint32_t raw_size, uint32_t cpu)
{
	struct host *h = ctx;
	struct event_class *cls = event->consumer;
	struct perf_event *e = h->event;
	PyObject *args[2] = { NULL, (PyObject *)e }, *rc;

	if (!cls->call) {
		batches_add(cls->batches, cls->plan, rec, raw, raw_size, cpu);
		return;
	}
	e->cls = cls;
	e->rec = rec;
	e->raw = raw;
	e->raw_size = raw_size;
	e->cpu = cpu;
	rc = cls->call(cls->handler, args + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
	if (__builtin_expect(rc != NULL, 1)) {
		h->returned = true;
		Py_DECREF(rc);
	} else {
		h->raised |= call_failed(h, event->name);
	}
	if (__builtin_expect(event_is_kept(e), 0))
		replace_event(h);
}

/* 0 (not known) stays 0. */
static PyObject *loss_time(struct host *h, uint64_t time)
{
	return PyLong_FromUnsignedLongLong(time ? stream_time(h->stream, time) : 0);
}

static PyObject *loss_dict(const struct stream_loss *loss)
{
	PyObject *dict = Py_BuildValue("{s:K,s:i,s:s}", "count", (unsigned long long)loss->count, "cpu", loss->cpu,
				       "cause", loss_names[loss->cause] + strlen("lost:"));

	if (dict && loss->event && dict_put(dict, "event", PyUnicode_FromString(loss->event->name)))
		Py_CLEAR(dict);
	return dict;
}

void host_lost(void *ctx, const struct stream_loss *loss)
{
	struct host *h = ctx;
	PyObject *args[3] = { NULL };
	size_t n = h->lost_takes > 2 ? 3 : 2;

	batches_add_loss(h->batches, loss);
	if (!h->on_lost)
		return;
	args[0] = loss_time(h, loss->start);
	args[1] = loss_time(h, loss->end);
	if (n == 3)
		args[2] = loss_dict(loss);
	if (args[0] && args[1] && (n == 2 || args[2]))
		call(h, h->on_lost, "__lost__", args, n);
	end_forked(h, 0);
	for (size_t i = 0; i < n; i++)
		Py_XDECREF(args[i]);
}

void host_interval(void *ctx)
{
	struct host *h = ctx;

	batches_flush(h->batches);
	call(h, h->on_interval, "__interval__", NULL, 0);
	show_output(h);
}

enum { STAT_INDENT = 4 };

void host_print_stat(void *ctx)
{
	struct host *h = ctx;
	struct stream_totals t;
	PyObject *indent = PyLong_FromLong(STAT_INDENT);

	stream_totals(h->stream, &t);
	PySys_WriteStderr("python: events %llu lost %llu malformed %llu exceptions %llu ring KiB %llu\n",
			  (unsigned long long)t.delivered, (unsigned long long)t.lost,
			  (unsigned long long)t.malformed, (unsigned long long)h->trouble.count,
			  (unsigned long long)t.ring_bytes >> 10);
	if (indent)
		call(h, h->on_print_stat, "__print_stat__", &indent, 1);
	Py_XDECREF(indent);
	show_output(h);
}

void host_idle(void *ctx)
{
	struct host *h = ctx;

	batches_idle(h->batches);
	show_output(h);
}

/* Other threads of the script run while the loop waits. */
void host_wait(void *ctx, bool begin)
{
	struct host *h = ctx;

	if (begin) {
		h->thread = PyEval_SaveThread();
		return;
	}
	PyEval_RestoreThread(h->thread);
	/* runs signal handlers that the script installed */
	if (PyErr_CheckSignals())
		call_failed(h, "a signal handler");
	end_forked(h, 0);
}

void host_interrupt(void *ctx)
{
	PyErr_SetInterrupt();   /* async-signal-safe, but for the main thread only */
}
