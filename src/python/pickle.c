/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pickles of events: the record's bytes and the event's name. They can be read by any run that has
 * the same event with the same fields: the same run, its forked children (multiprocessing), or
 * another with the same -e. Other programs need event.to_dict().
 */
#include "python/host.h"

#include <string.h>

static uint64_t mix(uint64_t h, const void *data, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const uint8_t *)data)[i]) * 0x100000001b3ull;
	return h;
}

/* Hashes the meaning of the bytes: name, kind and place of each field. */
static uint64_t fingerprint(const struct event_class *cls)
{
	uint64_t h = mix(0xcbf29ce484222325ull, &cls->event->layout.sample_type, 8);
	const struct stream_sampling *sampling = cls->event->sampling;

	if (sampling) {
		h = mix(h, &sampling->format.read_format, sizeof(uint64_t));
		h = mix(h, &sampling->format.branch_sample_type, sizeof(uint64_t));
		h = mix(h, &sampling->format.regs_user, sizeof(uint64_t));
		h = mix(h, &sampling->format.regs_intr, sizeof(uint64_t));
	}
	for (size_t i = 0; i < cls->nreaders; i++) {
		const struct reader *r = &cls->readers[i];
		const char *name = PyUnicode_AsUTF8(PyList_GET_ITEM(cls->all, (Py_ssize_t)i));

		h = name ? mix(h, name, strlen(name) + 1) : h;
		h = mix(h, &r->kind, sizeof(r->kind));
		h = mix(h, &r->offset, sizeof(r->offset));
		h = r->field ? mix(h, &r->field->size, sizeof(r->field->size)) : h;
	}
	return h;
}

/* The chain with its names; None if it can be made from the record later. */
static PyObject *chain_of(const struct perf_event *e)
{
	PyObject *chain = e->chain ? (Py_INCREF(e->chain), e->chain) :
				     host_chain_to_keep(e->cls->host, e);

	return chain ? chain : (Py_INCREF(Py_None), Py_None);
}

/* The stream has them only while it delivers the event. */
static PyObject *counts_of(const struct perf_event *e)
{
	if (e->counts || e->cls->event->counts)
		return event_counts(e);
	Py_RETURN_NONE;
}

PyObject *event_reduce(PyObject *self, PyObject *unused)
{
	struct perf_event *e = (struct perf_event *)self;
	PyObject *module = PyImport_ImportModule("perf_prof"), *restore = NULL;

	if (module)
		restore = PyObject_GetAttrString(module, "_restore");
	Py_XDECREF(module);
	if (!restore)
		return NULL;
	return Py_BuildValue("(N(OKIy#NN))", restore, e->cls->name,
			     (unsigned long long)fingerprint(e->cls), e->cpu, (const char *)e->rec,
			     (Py_ssize_t)e->rec->size, chain_of(e), counts_of(e));
}

/* ---- unpickling ------------------------------------------------------------ */

static struct event_class *class_of(struct host *h, PyObject *name, uint64_t print)
{
	for (size_t i = 0; h && h->classes && i < h->nclasses; i++) {
		struct event_class *cls = &h->classes[i];

		if (cls->name && !PyUnicode_Compare(cls->name, name) && fingerprint(cls) == print)
			return cls;
	}
	PyErr_Format(PyExc_ValueError, "this run has no event %U with the fields of the pickled one: "
		     "give the -e, -g and clock options that the other run had", name);
	return NULL;
}

/* Checks a record as the drain does. */
static bool is_whole(const struct event_class *cls, struct perf_event *e, size_t size)
{
	const struct layout *l = &cls->event->layout;

	if (size < sizeof(*e->rec) || e->rec->size != size || size < l->fixed_end)
		return false;
	e->raw = NULL;
	e->raw_size = 0;
	if (!cls->event->fmt)
		return stream_sample_fits(cls->event, e->rec);
	e->raw = layout_raw(l, e->rec, &e->raw_size);
	return e->raw && e->raw_size >= cls->event->fmt->min_size;
}

static PyObject *rebuild(struct host *h, struct event_class *cls, uint32_t cpu, const char *bytes,
			 Py_ssize_t size)
{
	struct perf_event *e = event_new(h->event_type);
	void *copy = PyMem_Malloc(size ? (size_t)size : 1);

	if (!e || !copy) {
		PyMem_Free(copy);
		Py_XDECREF((PyObject *)e);
		return PyErr_NoMemory();
	}
	memcpy(copy, bytes, (size_t)size);
	e->cls = cls;
	e->cpu = cpu;
	e->rec = copy;
	e->owned = true;
	if (!is_whole(cls, e, (size_t)size)) {
		Py_DECREF(e);
		PyErr_SetString(PyExc_ValueError, "the pickled event is damaged");
		return NULL;
	}
	return (PyObject *)e;
}

PyObject *event_restore(struct host *h, PyObject *args)
{
	struct event_class *cls;
	unsigned long long print;
	unsigned int cpu;
	PyObject *name, *chain, *counts = NULL, *e;
	const char *bytes;
	Py_ssize_t size;

	if (!PyArg_ParseTuple(args, "UKIy#O|O:_restore", &name, &print, &cpu, &bytes, &size, &chain, &counts))
		return NULL;
	cls = class_of(h, name, print);
	e = cls ? rebuild(h, cls, cpu, bytes, size) : NULL;
	if (e && PyList_Check(chain)) {
		Py_INCREF(chain);
		((struct perf_event *)e)->chain = chain;
	}
	if (e && counts && PyDict_Check(counts)) {
		Py_INCREF(counts);
		((struct perf_event *)e)->counts = counts;
	}
	return e;
}
