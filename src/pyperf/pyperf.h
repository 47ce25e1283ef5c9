/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C half of the Python package pyperf: thin objects over libperfevent. What is only
 * convenience stands in python/pyperf/.
 *
 * Compiled for the stable ABI of Python 3.10 (3.9 lacks PyType_GetModuleState() in it, and
 * gets a build of its own): nothing here looks into an object of the interpreter. All
 * state is the module's. Every object holds its type and by it the module, so that the
 * pointer to the state that an object keeps lives as long as the object.
 *
 * The GIL guards all objects. It is given up only to wait, to open, and to read.
 */
#ifndef PYPERF_PYPERF_H
#define PYPERF_PYPERF_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "perfevent.h"

struct field;

enum { MAX_KINDS = 24, MAX_TABLES = MAX_KINDS + 2 };

struct state {
	/* exceptions: all are Error, and an OSError of Python's own kind */
	PyObject *error, *denied, *not_found, *no_task;
	PyObject *attr_type, *event_type, *group_type, *ring_type, *drain_type;
	PyObject *kind_types[MAX_KINDS];      /* of records, as in record_kinds */
	PyGetSetDef *tables[MAX_TABLES];      /* of the types; they live as long as we do */
	unsigned int ntables;
	/* Rings are not mapped in a forked child: those of another generation are not touched. */
	unsigned int generation;
};

extern struct PyModuleDef pyperf_module;

/* The state by a type of ours or a subclass of one. */
struct state *state_of(PyTypeObject *type);
/* Adds what new refers to and forgets the reference; -1 if new is NULL. */
int add_object(PyObject *module, const char *name, PyObject *new);
/* Makes a type, adds it as `name` and returns a reference for the state. */
PyObject *add_type(PyObject *module, const char *name, PyType_Spec *spec, PyObject *bases);
/* Text of ours may quote a path, a comm or a name in any encoding. NULL is "". */
PyObject *text_of(const char *text);
/* A cleared table of n getset rows and an end, owned by the state. */
PyGetSetDef *new_table(struct state *st, size_t n);

int add_constants(PyObject *module);
int add_errors(PyObject *module, struct state *st);
int add_attr(PyObject *module, struct state *st);
int add_records(PyObject *module, struct state *st);
int add_event(PyObject *module, struct state *st);
int add_group(PyObject *module, struct state *st);
int add_ring(PyObject *module, struct state *st);
extern PyMethodDef call_methods[];        /* perf_event_open, ioc, prctl */
extern PyMethodDef name_methods[];        /* parse, label, pmus, features, … */

/* ---- errors ---- */

/* Raises the exception for err; rc is the -errno where err says nothing. Returns NULL. */
PyObject *raise_error(struct state *st, int rc, const struct pev_error *err);
/* The same for a call without a pev_error: "asked: Bad file descriptor (EBADF)". */
PyObject *raise_code(struct state *st, int rc, const char *asked);
/* None, or raise_code() if rc < 0. */
PyObject *none_or_error(struct state *st, int rc, const char *asked);

/* ---- perf_event_attr ---- */

struct attr_object {
	PyObject_HEAD
	union pev_attr_buf buf;
	PyObject *keep;         /* what buf's pointers point into, or NULL */
};

/* A new attr object with a copy of attr. keep may be NULL. */
PyObject *attr_new_from(struct state *st, const struct perf_event_attr *attr, PyObject *keep);
/* The attr of object o, or NULL with TypeError. */
struct attr_object *attr_of(struct state *st, PyObject *o);

/* ---- events and groups ---- */

/* An event of its own, or member of a group, which then owns ev. */
struct event_object {
	PyObject_HEAD
	struct state *st;
	struct pev_event *ev;   /* NULL: closed */
	PyObject *owner;        /* group or leader, kept alive */
	PyObject *keep;         /* what its attr points into */
	bool borrowed;          /* ev is the group's */
	bool opening;
	bool closing;           /* to be closed with its last ring */
	unsigned int users;     /* rings on it, and calls that gave up the GIL */
	PyObject *label;
	PyObject *weakrefs;
};

/* The open event in o, or NULL with TypeError or ValueError. */
struct event_object *event_of(struct state *st, PyObject *o);
/* A member of a group as an object of `type` (a subclass of ours). */
PyObject *event_member(struct state *st, PyTypeObject *type, PyObject *group, struct pev_event *ev,
		       const char *label, PyObject *keep);
/* Between these two the event stays open, whoever closes it. */
void event_hold(struct event_object *e);
void event_let_go(struct event_object *e);
bool group_is_open(PyObject *group);
void group_hold(PyObject *group);
void group_let_go(PyObject *group);
/* Arguments that name a target; false with ValueError. */
bool target_of(int pid, int cpu, int cgroup, struct pev_target *target);
/* (value, time_enabled, time_running, id, lost, stale) */
PyObject *count_tuple(const struct pev_count *count);

/* ---- records ---- */

/* Where records come from: what is needed to read them. Refers to no object that could
 * refer to records, so that neither need be known to the cycle collector. */
struct source {
	unsigned int refs;
	struct pev_format format;
	uint64_t id;
	char label[96];
};
struct source *source_new(const struct perf_event_attr *attr, uint64_t id, const char *label);
void source_drop(struct source *s);

/* A copy of rec as an object of its kind. The record decodes. */
PyObject *record_new(struct state *st, struct source *source, const struct perf_event_header *rec);
/* A record from bytes, for tests and stored records: decode(bytes, attr). */
PyObject *record_decode(PyObject *module, PyObject *args);

#define NEW_FORBIDDEN { Py_tp_new, refuse_new }
PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kw);

/* ---- AUX area of a ring ---- */

struct aux {
	struct pev_aux_area *area;   /* NULL: the ring has none */
	uint64_t taken;              /* bytes handed out since it was mapped */
	bool snapshot;
};

/* What is new, at most `most` bytes (-1: all), and given back to the PMU; of a snapshot all
 * from the oldest on. */
PyObject *aux_read(struct aux *a, Py_ssize_t most);
/* What an AUX record announces; all up to its end is given back. ValueError if that does not
 * lie in what is there. */
PyObject *aux_chunk(struct aux *a, uint64_t offset, uint64_t size);

/* PyArg_Parse* want a table of names that is not const. */
#define KEYWORDS(...) static char *keywords[] = { __VA_ARGS__, NULL }

/* Py_NewRef() of 3.10 */
static inline PyObject *new_ref(PyObject *o)
{
	Py_XINCREF(o);
	return o;
}
#endif
