/* SPDX-License-Identifier: Apache-2.0 */
#include "python/source.h"

/* A batch; NULL with *answer, and with an exception if it failed. */
static PyObject *take(const struct batch_source *s, struct native *native, const struct fields *names,
		      enum session_answer *answer)
{
	struct fault f = { 0 };
	struct batch *b = NULL;

	Py_BEGIN_ALLOW_THREADS
	*answer = s->next(s->ctx, &b, &f);
	Py_END_ALLOW_THREADS
	if (*answer == SESSION_BATCH)
		return batch_object_new(&native->host.batches, b, 0, b->rows, names);
	return *answer == SESSION_FORKED ? session_forked() : *answer == SESSION_FAILED ? fault_raise(&f) : NULL;
}

PyObject *source_next(const struct batch_source *s, struct native *native, const struct fields *names)
{
	enum session_answer answer;
	PyObject *batch;

	while (!(batch = take(s, native, names, &answer)) && answer == SESSION_WAIT)
		if (wait_readable(s->fd))
			return NULL;
	return batch;
}

PyObject *source_take(const struct batch_source *s, struct native *native, const struct fields *names)
{
	enum session_answer answer;
	PyObject *batch = take(s, native, names, &answer);

	if (batch || PyErr_Occurred())
		return batch;
	return Py_NewRef(answer == SESSION_WAIT ? Py_None : Py_False);
}
