/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ring: records of an event, or of several that share its ring. A drain returns copies, never
 * memory of the ring, and frees room after every quarter of the ring.
 *
 * One thread can close a ring while others wait for it: waiting threads hold the ring, the eventfd
 * wakes them, and the last one unmaps it. After fork() the ring is not mapped in the child: there
 * it counts as closed, and its memory is not touched.
 */
#include "base/now.h"
#include "pyperf/pyperf.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SELF struct ring_object *self = (struct ring_object *)o

struct ring_object {
	RESOURCE_HEAD
	struct pev_ring *ring;       /* NULL: closed */
	PyObject *events;            /* tuple; the first one has the ring */
	struct source **sources;     /* by event, sorted by id */
	size_t nsources;
	struct source *unknown;      /* of records that do not say which of several events they are from */
	bool by_identifier;          /* layouts differ; all records have the id at a fixed place */
	bool draining, closing;
	unsigned int generation;     /* of the process that mapped it */
	unsigned int users;          /* waiting threads */
	int wake_fd;                 /* close() writes to this eventfd */
	uint64_t undecodable;
	struct aux aux;
};

struct drain_object {
	PyObject_HEAD
	struct ring_object *ring;    /* NULL: at the end */
	bool started;
	uint64_t since_release;      /* bytes */
};

static bool is_mine(const struct ring_object *self)
{
	return self->generation == self->st->generation;
}

static bool is_open(const struct ring_object *self)
{
	if (self->ring && !self->closing && is_mine(self))
		return true;
	PyErr_SetString(PyExc_ValueError, !self->ring || self->closing ?
					  "the ring is closed" :
					  "the ring belongs to the process that this one was forked from");
	return false;
}

static struct event_object *event_at(const struct ring_object *self, Py_ssize_t i)
{
	return (struct event_object *)PyTuple_GetItem(self->events, i);
}

/* ---- sources ---------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
	const struct source *x = *(struct source *const *)a, *y = *(struct source *const *)b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static bool same_format(const struct pev_format *a, const struct pev_format *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_sample_type == b->branch_sample_type && a->regs_user == b->regs_user &&
	       a->regs_intr == b->regs_intr && a->sample_id_all == b->sample_id_all;
}

static int make_source(struct ring_object *self, struct event_object *e)
{
	struct source *s;
	const char *label;
	uint64_t id = 0;
	int rc = pev_event_id(e->ev, &id);

	if (rc)
		return raise_code(self->st, rc, "ask for the id of an event"), -1;
	label = e->label && e->label != Py_None ? PyUnicode_AsUTF8AndSize(e->label, NULL) : "event";
	if (!label) {
		PyErr_Clear();
		label = "event";
	}
	s = source_new(pev_event_attr(e->ev), id, label);
	if (!s)
		return -1;
	self->sources[self->nsources++] = s;
	return 0;
}

enum { HAS_ID = PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER };

/* Samples of several events can be told apart only by an id, and records of different layouts only if all of them have
 * PERF_SAMPLE_IDENTIFIER. */
static int check_layouts(struct ring_object *self)
{
	bool identified = true, same = true, named = true;

	for (size_t i = 0; i < self->nsources; i++) {
		const struct pev_format *f = &self->sources[i]->format;

		same = same && same_format(f, &self->sources[0]->format);
		named = named && f->sample_type & HAS_ID;
		identified = identified && f->sample_type & PERF_SAMPLE_IDENTIFIER && f->sample_id_all;
	}
	self->by_identifier = identified;
	if (same && !named && self->nsources > 1)
		return refused(PyExc_ValueError, "events that share a ring need an id in their samples: add "
			       "PERF_SAMPLE_IDENTIFIER to sample_type of each");
	if (same || identified)
		return 0;
	return refused(PyExc_ValueError, "events of different sample_type or read_format share a "
		       "ring only if all have PERF_SAMPLE_IDENTIFIER in sample_type, "
		       "and sample_id_all");
}

static int make_sources(struct ring_object *self)
{
	Py_ssize_t n = PyTuple_Size(self->events);

	self->sources = calloc((size_t)n, sizeof(*self->sources));
	if (!self->sources)
		return PyErr_NoMemory(), -1;
	for (Py_ssize_t i = 0; i < n; i++)
		if (make_source(self, event_at(self, i)))
			return -1;
	qsort(self->sources, self->nsources, sizeof(*self->sources), by_id);
	self->unknown = source_new(pev_event_attr(event_at(self, 0)->ev), 0, "");
	return self->unknown ? check_layouts(self) : -1;
}

static struct source *find_source(struct ring_object *self, uint64_t id)
{
	struct source key = { .id = id }, *k = &key, **found;

	found = bsearch(&k, self->sources, self->nsources, sizeof(*self->sources), by_id);
	return found ? *found : NULL;
}

/* The identifier is first in a sample, and last in other records. */
static uint64_t identifier_of(const struct perf_event_header *rec)
{
	uint64_t id = 0;

	if (rec->size >= sizeof(*rec) + sizeof(id))
		memcpy(&id, rec->type == PERF_RECORD_SAMPLE ? (const char *)(rec + 1) :
							      (const char *)rec + rec->size - sizeof(id),
		       sizeof(id));
	return id;
}

static uint64_t id_in(const struct pev_record *r, const struct pev_format *f)
{
	if (r->type != PERF_RECORD_SAMPLE && r->sample_id.present & HAS_ID)
		return r->sample_id.id;
	if (r->type == PERF_RECORD_LOST)
		return r->lost.id;
	if (r->type == PERF_RECORD_THROTTLE || r->type == PERF_RECORD_UNTHROTTLE)
		return r->throttle.id;
	if (r->type != PERF_RECORD_SAMPLE)
		return 0;
	return f->sample_type & PERF_SAMPLE_IDENTIFIER ? r->sample.identifier : r->sample.id;
}

/* Decodes rec and finds its source. -errno of pev_ring_decode(). */
static int source_of(struct ring_object *self, const struct perf_event_header *rec, struct source **source)
{
	struct source *s = self->sources[0];
	struct pev_record r;
	int rc;

	if (self->nsources > 1 && self->by_identifier) {
		*source = s = find_source(self, identifier_of(rec));
		return s ? pev_decode(rec, rec->size, &s->format, &r) : -EBADMSG;
	}
	rc = pev_ring_decode(self->ring, rec, &r);
	if (!rc && self->nsources > 1) {
		/* equal layouts: the id may be anywhere in it, or missing */
		s = find_source(self, id_in(&r, &s->format));
		s = s ? s : self->unknown;
	}
	*source = s;
	return rc;
}

/* ---- opening and closing ---------------------------------------------------------- */

static PyObject *ring_new(PyTypeObject *type, PyObject *args, PyObject *kw)
{
	PyObject *o = resource_new(type, args, kw);

	if (o)
		((struct ring_object *)o)->wake_fd = -1;
	return o;
}

static int check_events(struct ring_object *self, PyObject *events)
{
	if (!PyTuple_Size(events))
		return refused(PyExc_TypeError, "a ring needs an event");
	for (Py_ssize_t i = 0; i < PyTuple_Size(events); i++)
		if (!event_of(self->st, PyTuple_GetItem(events, i)))
			return -1;
	return 0;
}

static int map_ring(struct ring_object *self, unsigned int pages, bool overwrite)
{
	struct pev_error err = { .code = 0 };
	struct pev_event *first = event_at(self, 0)->ev;
	int rc = overwrite ? pev_ring_map_overwrite(&self->ring, first, pages, &err) :
			     pev_ring_map(&self->ring, first, pages, &err);

	if (rc)
		return raise_error(self->st, rc, &err), -1;
	self->generation = self->st->generation;
	for (Py_ssize_t i = 1; i < PyTuple_Size(self->events); i++) {
		rc = pev_event_set_output(event_at(self, i)->ev, first);
		if (rc) {
			raise_code(self->st, rc, "share a ring (events of one CPU, or of one task and not "
						 "inherited, with the same clock, can)");
			return -1;
		}
	}
	return 0;
}

static int map_aux(struct ring_object *self, unsigned int pages, bool snapshot)
{
	struct pev_error err = { .code = 0 };
	int rc = pages ? pev_aux_map(&self->aux.area, self->ring, pages, snapshot, &err) : 0;

	self->aux.snapshot = snapshot;
	if (rc)
		raise_error(self->st, rc, &err);
	return rc;
}

/* Frees everything, also after a set-up that failed halfway. */
static void release(struct ring_object *self)
{
	struct pev_ring *ring = self->ring;
	PyObject *events = self->events;

	self->ring = NULL;
	self->events = NULL;
	if (is_mine(self))
		pev_aux_unmap(self->aux.area);
	self->aux.area = NULL;
	if (ring && is_mine(self)) {
		for (Py_ssize_t i = 1; i < PyTuple_Size(events); i++)
			if (((struct event_object *)PyTuple_GetItem(events, i))->ev)
				pev_event_set_output(
					((struct event_object *)PyTuple_GetItem(events, i))->ev, NULL);
		pev_ring_unmap(ring);
	}
	if (self->wake_fd >= 0)
		close(self->wake_fd);
	self->wake_fd = -1;
	for (size_t i = 0; i < self->nsources; i++)
		source_drop(self->sources[i]);
	free(self->sources);
	self->sources = NULL;
	self->nsources = 0;
	source_drop(self->unknown);
	self->unknown = NULL;
	for (Py_ssize_t i = 0; events && i < PyTuple_Size(events); i++)
		event_let_go((struct event_object *)PyTuple_GetItem(events, i));
	Py_XDECREF(events);
}

static int ring_init(PyObject *o, PyObject *args, PyObject *kw)
{
	SELF;
	KEYWORDS("events", "pages", "overwrite", "aux_pages", "aux_snapshot");
	Py_ssize_t pages = 0, aux_pages = 0;
	int overwrite = 0, aux_snapshot = 0;
	PyObject *events;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "O!|n$pnp:Ring", keywords, &PyTuple_Type, &events,
					 &pages, &overwrite, &aux_pages, &aux_snapshot))
		return -1;
	if (self->ring || self->closing)
		return refused(PyExc_ValueError, "the ring has been mapped already");
	if (pages < 0 || pages > INT_MAX || aux_pages < 0 || aux_pages > INT_MAX)
		return refused(PyExc_ValueError, "a ring has 1 to 2**30 pages, not %zd",
			       pages < 0 || pages > INT_MAX ? pages : aux_pages);
	if (overwrite && aux_pages)
		return refused(PyExc_ValueError, "an overwrite ring has no AUX area");
	if (check_events(self, events))
		return -1;
	self->events = new_ref(events);
	for (Py_ssize_t i = 0; i < PyTuple_Size(events); i++)
		event_hold(event_at(self, i));
	self->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (self->wake_fd < 0)
		raise_code(self->st, -errno, "make an eventfd");
	if (self->wake_fd < 0 || make_sources(self) ||
	    map_ring(self, (unsigned int)pages, overwrite) ||
	    map_aux(self, (unsigned int)aux_pages, aux_snapshot)) {
		release(self);
		return -1;
	}
	return 0;
}

static PyObject *ring_close(PyObject *o, PyObject *unused)
{
	SELF;

	if (!self->ring || self->closing)
		Py_RETURN_NONE;
	self->closing = true;
	if (self->users)
		eventfd_write(self->wake_fd, 1);
	else
		release(self);
	Py_RETURN_NONE;
}

static void let_go(struct ring_object *self)
{
	self->users--;
	if (!self->users && self->closing)
		release(self);
}

static int ring_traverse(PyObject *o, visitproc visit, void *arg)
{
	SELF;

	Py_VISIT(Py_TYPE(o));
	Py_VISIT(self->events);
	return 0;
}

static int ring_clear(PyObject *o)
{
	release((struct ring_object *)o);
	return 0;
}

static void ring_dealloc(PyObject *o)
{
	SELF;

	PyObject_GC_UnTrack(o);
	if (self->weakrefs)
		PyObject_ClearWeakRefs(o);
	release(self);
	free_object(o);
}

RESOURCE(ring)

/* ---- waiting ---------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	return (int64_t)(now_ns(CLOCK_MONOTONIC) / 1000000);
}

/* Waits without the GIL. Continues after a signal, unless its handler raised (PEP 475). A signal that comes just before the
 * wait does not end it, so it looks for them from time to time. */
static int wait_until(struct ring_object *self, int64_t end)
{
	enum { SLICE_MS = 500 };
	int64_t left;
	int rc, ms;

	do {
		left = end < 0 ? SLICE_MS : end - now_ms();
		ms = left < 0 ? 0 : left > SLICE_MS ? SLICE_MS : (int)left;
		Py_BEGIN_ALLOW_THREADS
		rc = pev_ring_wait(self->ring, ms, self->wake_fd);
		Py_END_ALLOW_THREADS
		if ((rc == -EINTR || !rc) && PyErr_CheckSignals())
			return -EINTR;
	} while (rc == -EINTR || (rc == 0 && (end < 0 || now_ms() < end)));
	return rc;
}

/* Converts seconds or None to a time of now_ms(); -1: no limit. False with an exception. */
static bool deadline(PyObject *timeout, int64_t *end)
{
	double seconds;

	*end = -1;
	if (timeout == Py_None)
		return true;
	seconds = PyFloat_AsDouble(timeout);
	if (PyErr_Occurred())
		return false;
	if (seconds < 0 || seconds != seconds) {
		PyErr_SetString(PyExc_ValueError, "timeout must be None or seconds, 0 or more");
		return false;
	}
	*end = now_ms() + (seconds > 1e9 ? (int64_t)1e12 : (int64_t)(seconds * 1000 + 0.999));
	return true;
}

static PyObject *ring_wait(PyObject *o, PyObject *args, PyObject *kw)
{
	SELF;
	KEYWORDS("timeout");
	PyObject *timeout = Py_None;
	int64_t end;
	int rc;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "|O:wait", keywords, &timeout) ||
	    !deadline(timeout, &end) || !is_open(self))
		return NULL;
	self->users++;
	rc = wait_until(self, end);
	let_go(self);
	if (PyErr_Occurred())
		return NULL;
	switch (rc) {
	case 0:
	case 1:
		return PyBool_FromLong(rc);
	case -ECANCELED:
		is_open(self);
		return NULL;
	case -ESRCH:
		return raise_code(self->st, rc, "wait for a ring whose task has ended, and all that it "
						"left was read");
	case -ENODATA:
		return raise_code(self->st, rc, "wait for a pinned event that lost its place on the PMU");
	}
	return raise_code(self->st, rc, "wait for a ring");
}

/* ---- a drain ---------------------------------------------------------------------- */

static void end_drain(struct drain_object *d)
{
	struct ring_object *ring = d->ring;

	d->ring = NULL;
	if (!ring)
		return;
	/* drains of one ring share its position: the first that ends, ends it */
	if (d->started && ring->draining && ring->ring && is_mine(ring)) {
		ring->draining = false;
		pev_ring_end(ring->ring);
	}
	Py_DECREF(ring);
}

static PyObject *drain_next(PyObject *o)
{
	struct drain_object *d = (struct drain_object *)o;
	struct ring_object *ring = d->ring;
	const struct perf_event_header *rec;
	struct source *source;

	if (!ring || !is_open(ring))
		return NULL;
	if (!d->started && !ring->draining) {
		pev_ring_begin(ring->ring);
		ring->draining = true;
	}
	d->started = true;
	while (ring->draining && (rec = pev_ring_next(ring->ring))) {
		PyObject *record = NULL;
		int rc = source_of(ring, rec, &source);

		d->since_release += rec->size;
		if (!rc)
			record = record_new(ring->st, source, rec);
		else
			ring->undecodable++;
		if (d->since_release > pev_ring_size(ring->ring) / 4) {
			pev_ring_release(ring->ring);
			d->since_release = 0;
		}
		if (rc == -EOPNOTSUPP)
			refused(PyExc_ValueError, "set_output() put records of another sample_type or read_format into "
				"this ring: name all of its events, Ring(event, other), with PERF_SAMPLE_IDENTIFIER");
		if (!rc || rc == -EOPNOTSUPP)
			return record;
	}
	end_drain(d);
	return NULL;
}

static int drain_traverse(PyObject *o, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(o));
	Py_VISIT(((struct drain_object *)o)->ring);
	return 0;
}

static int drain_clear(PyObject *o)
{
	end_drain((struct drain_object *)o);
	return 0;
}

static void drain_dealloc(PyObject *o)
{
	PyObject_GC_UnTrack(o);
	end_drain((struct drain_object *)o);
	free_object(o);
}

static PyObject *ring_iter(PyObject *o)
{
	SELF;
	struct drain_object *d;

	if (!is_open(self))
		return NULL;
	d = (struct drain_object *)PyType_GenericAlloc((PyTypeObject *)self->st->drain_type, 0);
	if (d)
		d->ring = (struct ring_object *)new_ref(o);
	return (PyObject *)d;
}

/* ---- attributes ------------------------------------------------------------------- */

static PyObject *ring_fileno(PyObject *o, PyObject *unused)
{
	SELF;

	return is_open(self) ? PyLong_FromLong(pev_ring_fd(self->ring)) : NULL;
}

#define ATTRIBUTE(name, value)                                                                     \
	static PyObject *ring_##name(PyObject *o, void *closure)                                   \
	{                                                                                          \
		SELF;                                                                              \
                                                                                                   \
		return is_open(self) ? value : NULL;                                               \
	}

ATTRIBUTE(ready, PyBool_FromLong(pev_ring_has_record(self->ring)))
ATTRIBUTE(size, PyLong_FromSize_t(pev_ring_size(self->ring)))
ATTRIBUTE(damaged, PyLong_FromUnsignedLongLong(pev_ring_damaged(self->ring) + self->undecodable))
ATTRIBUTE(aux_size, PyLong_FromSize_t(self->aux.area ? pev_aux_size(self->aux.area) : 0))

static bool has_aux(const struct ring_object *self)
{
	if (is_open(self) && self->aux.area)
		return true;
	if (!PyErr_Occurred())
		PyErr_SetString(PyExc_ValueError, "the ring has no AUX area: Ring(event, aux_pages=N)");
	return false;
}

static PyObject *ring_aux_read(PyObject *o, PyObject *args)
{
	SELF;
	Py_ssize_t most = -1;

	if (!PyArg_ParseTuple(args, "|n:aux_read", &most) || !has_aux(self))
		return NULL;
	return aux_read(&self->aux, most);
}

static PyObject *ring_aux_chunk(PyObject *o, PyObject *args)
{
	SELF;
	unsigned long long offset, size;

	if (!PyArg_ParseTuple(args, "KK:_aux_chunk", &offset, &size) || !has_aux(self))
		return NULL;
	return aux_chunk(&self->aux, offset, size);
}

static PyObject *ring_events(PyObject *o, void *closure)
{
	SELF;

	return self->events ? new_ref(self->events) : PyTuple_New(0);
}

static PyMethodDef methods[] = {
	{ "wait", (PyCFunction)(void (*)(void))ring_wait, METH_VARARGS | METH_KEYWORDS,
	  DOC("wait(timeout=None)",
	      "Waits for a wake-up (attr.wakeup_events samples, or wakeup_watermark bytes), at most\n"
	      "timeout seconds. True: records are there; False: the time is over and none is.\n"
	      "Raises NoTaskError (a ProcessLookupError) once the watched task has ended and all was\n"
	      "read, and ValueError when another thread closes the ring.") },
	{ "fileno", ring_fileno, METH_NOARGS,
	  DOC("fileno()", "The descriptor, for selectors and event loops.") },
	{ "aux_read", ring_aux_read, METH_VARARGS,
	  DOC("aux_read(most=-1)",
	      "What the PMU has traced since the last read, as bytes, at most `most` of them; they are\n"
	      "given back to it. With aux_snapshot, all that the area holds, oldest first: disable the\n"
	      "event before.") },
	{ "_aux_chunk", ring_aux_chunk, METH_VARARGS, NULL },
	{ "close", ring_close, METH_NOARGS,
	  DOC("close()", "Unmaps the ring; what is in it is lost. Wakes threads that wait.") },
	{ "__enter__", ring_enter, METH_NOARGS, NULL },
	{ "__exit__", ring_exit, METH_VARARGS, NULL },
	{ NULL },
};

static PyGetSetDef getset[] = {
	{ "ready", ring_ready, NULL, "Do records wait? Asks the ring, not the kernel.", NULL },
	{ "size", ring_size, NULL, "Bytes.", NULL },
	{ "damaged", ring_damaged, NULL, "Records that made no sense and were left out.", NULL },
	{ "aux_size", ring_aux_size, NULL, "Bytes of the AUX area; 0 if there is none.", NULL },
	{ "events", ring_events, NULL, "Events whose records it holds.", NULL },
	{ "closed", ring_closed, NULL, "Is it closed?", NULL },
	{ NULL },
};

static PyType_Slot ring_slots[] = {
	{ Py_tp_doc, "The C half of pyperf.Ring." },
	{ Py_tp_new, ring_new },
	{ Py_tp_init, ring_init },
	{ Py_tp_dealloc, ring_dealloc },
	{ Py_tp_traverse, ring_traverse },
	{ Py_tp_clear, ring_clear },
	{ Py_tp_iter, ring_iter },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, getset },
	{ Py_tp_members, resource_members },
	{ 0, NULL },
};

static PyType_Spec ring_spec = {
	PYPERF_NAME "._pyperf._Ring", sizeof(struct ring_object), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, ring_slots,
};

static PyType_Slot drain_slots[] = {
	{ Py_tp_doc, "Iterator over the records that a ring held when it began." },
	NEW_FORBIDDEN,
	{ Py_tp_dealloc, drain_dealloc },
	{ Py_tp_traverse, drain_traverse },
	{ Py_tp_clear, drain_clear },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, drain_next },
	{ 0, NULL },
};

static PyType_Spec drain_spec = {
	PYPERF_NAME "._pyperf._Drain", sizeof(struct drain_object), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, drain_slots,
};

int add_ring(PyObject *module, struct state *st)
{
	st->ring_type = add_type(module, "_Ring", &ring_spec, NULL);
	st->drain_type = add_type(module, "_Drain", &drain_spec, NULL);
	return st->ring_type && st->drain_type ? 0 : -1;
}
