/* SPDX-License-Identifier: Apache-2.0 */
/* The script's sys.stdout. The run ends when it cannot be written any more. */
#include "python/host.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

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
	PyObject *type, *value, *traceback, *number = NULL;
	int n = 0;

	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	if (value)
		number = PyObject_GetAttrString(value, "errno");
	if (number && PyLong_Check(number))
		n = (int)PyLong_AsLong(number);
	PyErr_Clear();
	Py_XDECREF(number);
	PyErr_Restore(type, value, traceback);
	return n;
}

bool host_take_broken_output(struct host *h)
{
	PyObject *type, *value, *traceback;
	bool broken;

	if (!h->loader || !PyErr_ExceptionMatches(PyExc_OSError))
		return false;
	PyErr_Fetch(&type, &value, &traceback);
	broken = output_is_broken(h);
	PyErr_Restore(type, value, traceback);
	if (broken) {
		stop_broken_output(h, os_error_number());
		PyErr_Clear();
	}
	return broken;
}

void host_flush(struct host *h)
{
	PyObject *rc = PyObject_CallMethod(h->loader, "flush", NULL);

	if (!rc && PyErr_ExceptionMatches(PyExc_OSError))
		stop_broken_output(h, os_error_number());
	PyErr_Clear();   /* the script set another object as sys.stdout */
	Py_XDECREF(rc);
}
