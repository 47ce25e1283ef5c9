/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyperf.Error is an OSError with the attributes asked, said and remedy. If Python has a subclass
 * of OSError for the errno, the exception is an instance of that, too, so that `except
 * PermissionError` catches it.
 */
#include "pyperf/pyperf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static PyObject *new_error(PyObject *module, const char *name, const char *doc, PyObject *bases,
			   PyObject *dict)
{
	PyObject *error = bases ? PyErr_NewExceptionWithDoc(name, doc, bases, dict) : NULL;

	Py_XDECREF(bases);
	return add_object(module, strrchr(name, '.') + 1, new_ref(error)) ? NULL : error;
}

int add_errors(PyObject *module, struct state *st)
{
	/* defaults, for exceptions that a program creates itself */
	PyObject *none = Py_BuildValue("{ss ss ss sO}", "asked", "", "said", "", "remedy", "", "at",
				       Py_None);

	if (!none)
		return -1;
	st->error = new_error(module, PYPERF_NAME ".Error",
			      "What the kernel refused: an OSError with errno, and\n\n"
			      "  asked   the operation\n"
			      "  said    why it failed\n"
			      "  remedy  what to do about it; may be empty\n"
			      "  at      where in the text of an event, if that was at fault, else None",
			      PyTuple_Pack(1, PyExc_OSError), none);
	Py_DECREF(none);
	if (!st->error)
		return -1;
	st->denied = new_error(module, PYPERF_NAME ".DeniedError",
			       "No privilege: EACCES or EPERM. A PermissionError, too.",
			       PyTuple_Pack(2, st->error, PyExc_PermissionError), NULL);
	st->not_found = new_error(module, PYPERF_NAME ".NotFoundError",
				  "The kernel or the machine has no such event: ENOENT. A "
				  "FileNotFoundError, too.",
				  PyTuple_Pack(2, st->error, PyExc_FileNotFoundError), NULL);
	st->no_task = new_error(module, PYPERF_NAME ".NoTaskError",
				"The task to watch does not exist, or has ended: ESRCH. A "
				"ProcessLookupError, too.",
				PyTuple_Pack(2, st->error, PyExc_ProcessLookupError), NULL);
	return st->denied && st->not_found && st->no_task ? 0 : -1;
}

static PyObject *type_for(struct state *st, int code)
{
	PyObject *type = st->error;

	if (code == EACCES || code == EPERM)
		type = st->denied;
	else if (code == ENOENT)
		type = st->not_found;
	else if (code == ESRCH)
		type = st->no_task;
	return type ? type : PyExc_OSError;   /* the module is being cleared */
}

static int set_text(PyObject *e, const char *name, const char *text)
{
	PyObject *s = text_of(text);
	int rc = s ? PyObject_SetAttrString(e, name, s) : -1;

	Py_XDECREF(s);
	return rc;
}

PyObject *raise_error(struct state *st, int rc, const struct pev_error *err)
{
	char text[sizeof(*err) + 8];
	PyObject *type, *s, *e;

	if (rc == -ENOMEM && !err->code)
		return PyErr_NoMemory();
	if (!err->code)
		return raise_code(st, rc, "perf_event");
	pev_error_text(err, text, sizeof(text));
	type = type_for(st, -rc);
	s = text_of(text);
	e = s ? PyObject_CallFunction(type, "iO", -rc, s) : NULL;
	Py_XDECREF(s);
	if (e && !set_text(e, "asked", err->asked) && !set_text(e, "said", err->said) &&
	    !set_text(e, "remedy", err->remedy))
		PyErr_SetObject((PyObject *)Py_TYPE(e), e);
	Py_XDECREF(e);
	return NULL;
}

PyObject *raise_code(struct state *st, int rc, const char *asked)
{
	struct pev_error err = { .code = -rc };
	const char *name = strerrorname_np(-rc);

	if (rc == -ENOMEM)
		return PyErr_NoMemory();
	snprintf(err.asked, sizeof(err.asked), "%s", asked);
	snprintf(err.said, sizeof(err.said), "%s (%s)", strerror(-rc), name ? name : "?");
	return raise_error(st, rc, &err);
}

void refuse_with(struct pev_error *err, const char *said, const char *remedy)
{
	const char *name = strerrorname_np(err->code);

	snprintf(err->said, sizeof(err->said), "%s (%s)%s%s", strerror(err->code), name ? name : "?", *said ? ": " : "",
		 said);
	snprintf(err->remedy, sizeof(err->remedy), "%s", remedy);
}

int refused(PyObject *exception, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	PyErr_FormatV(exception, format, args);
	va_end(args);
	return -1;
}

PyObject *none_or_error(struct state *st, int rc, const char *asked)
{
	if (rc < 0)
		return raise_code(st, rc, asked);
	Py_RETURN_NONE;
}
