/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that a caller gives, with an error that names the argument. */
#include "pyperf/pyperf.h"

#include <limits.h>

static PyObject *index_of(const char *name, PyObject *o)
{
	PyObject *number = PyNumber_Index(o);

	if (!number && PyErr_ExceptionMatches(PyExc_TypeError))
		PyErr_Format(PyExc_TypeError, "%s takes an integer, not %R", name, o);
	return number;
}

int int_argument(const char *name, PyObject *o, int *value)
{
	PyObject *number = o ? index_of(name, o) : NULL;
	int overflow;
	long got;

	if (!number)
		return o ? -1 : 0;
	got = PyLong_AsLongAndOverflow(number, &overflow);
	Py_DECREF(number);
	if (overflow || got < INT_MIN || got > INT_MAX)
		return refused(PyExc_OverflowError, "%s takes -2**31 to 2**31 - 1, not %R", name, o);
	*value = (int)got;
	return 0;
}

int u64_argument(const char *name, PyObject *o, unsigned long long *value)
{
	PyObject *number = o ? index_of(name, o) : NULL;

	if (!number)
		return o ? -1 : 0;
	*value = PyLong_AsUnsignedLongLong(number);
	Py_DECREF(number);
	if (!PyErr_Occurred())
		return 0;
	PyErr_Clear();
	return refused(PyExc_OverflowError, "%s takes 0 to 2**64 - 1, not %R", name, o);
}

int target_arguments(const struct target_objects *given, int *pid, int *cpu, int *cgroup)
{
	return int_argument("pid", given->pid, pid) || int_argument("cpu", given->cpu, cpu) ||
	       int_argument("cgroup", given->cgroup, cgroup) ? -1 : 0;
}
