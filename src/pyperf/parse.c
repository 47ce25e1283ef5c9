/* SPDX-License-Identifier: Apache-2.0 */
/* Event names, and the events and features of the machine. */
#include "pyperf/pyperf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing ---------------------------------------------------------------------- */

static void free_list(PyObject *capsule)
{
	pev_attr_list_free(PyCapsule_GetPointer(capsule, NULL));
}

static PyObject *cpus_tuple(const struct pev_parsed *p)
{
	PyObject *all, *cpu;

	if (!p->cpus)
		Py_RETURN_NONE;
	all = PyTuple_New((Py_ssize_t)p->ncpus);
	for (size_t i = 0; all && i < p->ncpus; i++) {
		cpu = PyLong_FromLong(p->cpus[i]);
		if (!cpu || PyTuple_SetItem(all, (Py_ssize_t)i, cpu))
			Py_CLEAR(all);
	}
	return all;
}

static PyObject *text_or_none(const char *text)
{
	return text ? text_of(text) : new_ref(Py_None);
}

/* In the order of pyperf.Parsed. */
static PyObject *parsed_tuple(struct state *st, const struct pev_parsed *p, PyObject *list)
{
	return Py_BuildValue("(NNNdnNNNNNNNNnn)", text_of(p->label), attr_new_from(st, p->attr, list),
			     text_or_none(p->unit), p->scale, (Py_ssize_t)p->leader,
			     text_or_none(p->group_name), cpus_tuple(p), PyBool_FromLong(p->per_package),
			     PyBool_FromLong(p->snapshot), PyBool_FromLong(p->precise_max),
			     PyBool_FromLong(p->weak), PyBool_FromLong(p->group_read),
			     PyBool_FromLong(p->percore), (Py_ssize_t)p->at,
			     (Py_ssize_t)(p->at + p->length));
}

static PyObject *raise_at(struct state *st, int rc, const struct pev_error *err, size_t at)
{
	PyObject *type, *value, *trace, *where;

	raise_error(st, rc, err);
	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	where = PyLong_FromSize_t(at);
	if (value && where && PyObject_SetAttrString(value, "at", where))
		PyErr_Clear();
	Py_XDECREF(where);
	PyErr_Restore(type, value, trace);
	return NULL;
}

/* libperfevent counts bytes, Python characters. */
static size_t characters(const char *text, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes && text[i]; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static PyObject *parse(PyObject *module, PyObject *arg)
{
	struct state *st = PyModule_GetState(module);
	struct pev_error err = { .code = 0 };
	PyObject *all, *capsule;
	struct pev_attr_list *list;
	const char *text;
	Py_ssize_t size;
	size_t at = 0;
	int rc;

	if (!PyUnicode_Check(arg))
		return PyErr_Format(PyExc_TypeError, "parse(events=%R): expected a str with the names of events, such as "
				    "\"task-clock,page-faults\"", arg);
	text = PyUnicode_AsUTF8AndSize(arg, &size);
	if (!text)
		return NULL;
	if (strlen(text) != (size_t)size)
		return PyErr_Format(PyExc_ValueError, "a NUL in the name of an event");
	rc = pev_attr_parse(&list, text, &at, &err);
	if (rc)
		return raise_at(st, rc, &err, characters(text, at));
	capsule = PyCapsule_New(list, NULL, free_list);
	if (!capsule) {
		pev_attr_list_free(list);
		return NULL;
	}
	all = PyList_New(0);
	for (size_t i = 0; all && i < pev_attr_list_size(list); i++)
		list_add(&all, parsed_tuple(st, pev_attr_list_at(list, i), capsule));
	Py_DECREF(capsule);
	return all;
}

static PyObject *label(PyObject *module, PyObject *arg)
{
	struct attr_object *attr = attr_of(PyModule_GetState(module), arg);
	char text[256];

	if (!attr)
		return NULL;
	pev_attr_label(&attr->buf.attr, text, sizeof(text));
	return text_of(text);
}

/* ---- the machine ------------------------------------------------------------------ */

static PyObject *pmus(PyObject *module, PyObject *unused)
{
	char *names, *p;
	PyObject *all;
	int rc = pev_pmu_list(&names);

	if (rc)
		return raise_code(PyModule_GetState(module), rc, "list the PMUs");
	all = PyList_New(0);
	for (p = names; all && *p; p += strlen(p) + 1)
		list_add(&all, text_of(p));
	free(names);
	return all;
}

/* In the order of pyperf.Feature. */
static PyObject *feature_tuple(const struct pev_feature *f)
{
	return Py_BuildValue("(NNNiNNN)", text_of(f->name), text_of(f->group), text_of(f->what), f->code,
			     PyBool_FromLong(f->partial), text_of(f->said), text_of(f->remedy));
}

static PyObject *features(PyObject *module, PyObject *unused)
{
	const struct pev_feature *f;
	struct pev_features *probed;
	PyObject *all;
	int rc;

	Py_BEGIN_ALLOW_THREADS
	rc = pev_features_probe(&probed);
	Py_END_ALLOW_THREADS
	if (rc)
		return raise_code(PyModule_GetState(module), rc, "find out what can be opened");
	all = PyList_New(0);
	for (size_t i = 0; all && (f = pev_features_at(probed, i)); i++)
		list_add(&all, feature_tuple(f));
	pev_features_free(probed);
	return all;
}

static PyObject *paranoid(PyObject *module, PyObject *unused)
{
	int level, rc = pev_paranoid(&level);

	if (rc)
		return raise_code(PyModule_GetState(module), rc, "read kernel.perf_event_paranoid");
	return PyLong_FromLong(level);
}

static PyObject *max_stack(PyObject *module, PyObject *unused)
{
	int rc = pev_max_stack();

	if (rc < 0)
		return raise_code(PyModule_GetState(module), rc, "read kernel.perf_event_max_stack");
	return PyLong_FromLong(rc);
}

static PyObject *context_name(PyObject *module, PyObject *arg)
{
	uint64_t ip = PyLong_AsUnsignedLongLong(arg);

	if (PyErr_Occurred())
		return NULL;
	return text_or_none(pev_context_name(ip));
}

static PyObject *estimate(PyObject *module, PyObject *args)
{
	unsigned long long value, enabled, running;
	struct pev_estimate est;
	struct pev_count count;
	int stale, rc;

	if (!PyArg_ParseTuple(args, "KKKp:_estimate", &value, &enabled, &running, &stale))
		return NULL;
	/* a Count without value and times: it was never enabled */
	count = (struct pev_count){ .value = value, .time_enabled = enabled, .time_running = running,
				    .timed = enabled || !value || stale, .stale = stale };
	rc = pev_count_estimate(&count, &est);
	if (rc)
		return raise_code(PyModule_GetState(module), rc,
				  rc == -ENODATA ? "estimate a count that never ran" :
						   "estimate a count that was read without times");
	return Py_BuildValue("(ddO)", est.value, est.share, est.exact ? Py_True : Py_False);
}

PyMethodDef name_methods[] = {
	{ "_parse", parse, METH_O, NULL },
	{ "_estimate", estimate, METH_VARARGS, NULL },
	{ "_features", features, METH_NOARGS, NULL },
	{ "label", label, METH_O,
	  "label(attr)\n--\n\nThe name of a perf_event_attr that parse() takes: \"cycles:u\"." },
	{ "pmus", pmus, METH_NOARGS, "pmus()\n--\n\nNames of the PMUs that this machine has." },
	{ "paranoid", paranoid, METH_NOARGS,
	  "paranoid()\n--\n\nkernel.perf_event_paranoid: what users without privilege may do." },
	{ "max_stack", max_stack, METH_NOARGS,
	  "max_stack()\n--\n\nkernel.perf_event_max_stack: frames that a call chain has at most." },
	{ "context_name", context_name, METH_O,
	  "context_name(ip)\n--\n\n\"user\", \"kernel\", … for a PERF_CONTEXT_* marker of a call chain, "
	  "else None." },
	{ NULL },
};
