/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts that fork (os.fork(), multiprocessing). Rings are not mapped in a child, so the event in
 * hand gets a copy of its record before the fork. A child exits when its function returns to
 * perf-prof; only the parent continues the run.
 */
#include "python/host.h"

#include <unistd.h>

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

static PyMethodDef after = { "after_in_parent", after_in_parent, METH_NOARGS, NULL };
static PyMethodDef before = { "before_fork", before_fork, METH_NOARGS, NULL };

int host_watch_forks(struct host *h)
{
	PyObject *os = PyImport_ImportModule("os"), *capsule = PyCapsule_New(h, NULL, NULL);
	PyObject *args = PyTuple_New(0), *kwargs = capsule ?
		Py_BuildValue("{s:N,s:N}", "before", PyCFunction_New(&before, capsule),
			      "after_in_parent", PyCFunction_New(&after, capsule)) : NULL;
	PyObject *register_ = os ? PyObject_GetAttrString(os, "register_at_fork") : NULL, *rc = NULL;

	h->pid = getpid();
	if (register_ && args && kwargs)
		rc = PyObject_Call(register_, args, kwargs);
	Py_XDECREF(os);
	Py_XDECREF(capsule);
	Py_XDECREF(args);
	Py_XDECREF(kwargs);
	Py_XDECREF(register_);
	Py_XDECREF(rc);
	return rc ? 0 : -1;
}

void host_end_forked(const struct host *h, int code)
{
	if (getpid() != h->pid)
		_exit(Py_FinalizeEx() < 0 ? EXIT_FAILED : code);
}
