/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C part of the Python package pyperf: thin objects over libperfevent. Convenience functions
 * are in python/pyperf/.
 *
 * It is compiled for the stable ABI of Python 3.10, and once more for 3.9, which lacks
 * PyType_GetModuleState(). So it never accesses the interpreter's structures. All state belongs to
 * the module. An object refers to its type and a type to its module, so an object's pointer to the
 * state stays valid.
 *
 * The GIL guards all objects. It is released only to wait, to open events, and to read.
 */
#ifndef PYPERF_PYPERF_H
#define PYPERF_PYPERF_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "perfevent.h"

struct field;

/* The package that this is compiled for: pyperf, or perf_prof.raw. */
#ifndef PYPERF_NAME
#define PYPERF_NAME "pyperf"
#endif

enum { MAX_KINDS = 24, MAX_TABLES = MAX_KINDS + 2 };

struct state {
	union {
		struct {
			/* exceptions: subclasses of Error and of an OSError of Python */
			PyObject *error, *denied, *not_found, *no_task;
			PyObject *attr_type, *event_type, *group_type, *ring_type, *drain_type;
			PyObject *kind_types[MAX_KINDS];   /* types of records, in the order of record_kinds */
		};
		PyObject *objects[9 + MAX_KINDS];      /* all of them */
	};
	PyGetSetDef *tables[MAX_TABLES];      /* attributes of the types; freed with the module */
	unsigned int ntables;
	/* Number of forks. Rings with another number are not mapped in this process. */
	unsigned int generation;
};

extern struct PyModuleDef pyperf_module;

/* The state for a type of this module, or a subclass. */
struct state *state_of(PyTypeObject *type);
/* Adds `new` and drops the reference. -1 if `new` is NULL. */
int add_object(PyObject *module, const char *name, PyObject *new);
/* Makes a type and adds it as `name`. Returns a reference for the state. */
PyObject *add_type(PyObject *module, const char *name, PyType_Spec *spec, PyObject *bases);
/* Appends `one` and drops the reference. If `one` is NULL or on failure, clears *list. */
void list_add(PyObject **list, PyObject *one);
/* Decodes a message, which may contain paths and names in any encoding. NULL is "". */
PyObject *text_of(const char *text);
/* A zeroed table of n getset rows and an end, owned by the state. */
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

/* Raises the exception for err. rc: -errno, if err has none. Returns NULL. */
PyObject *raise_error(struct state *st, int rc, const struct pev_error *err);
/* raise_error() without a pev_error: "asked: Bad file descriptor (EBADF)". */
PyObject *raise_code(struct state *st, int rc, const char *asked);
/* Raises an exception of Python, as PyErr_Format(). Returns -1. */
int refused(PyObject *exception, const char *format, ...);
/* Fills in, behind the kernel's words for err->code, what is wrong (may be empty), and what to do. */
void refuse_with(struct pev_error *err, const char *said, const char *remedy);
/* None, or raise_code() if rc < 0. */
PyObject *none_or_error(struct state *st, int rc, const char *asked);

/* ---- arguments: an object that was not given (NULL) leaves the value. -1 with TypeError or OverflowError,
 * which names the argument. ---- */

int int_argument(const char *name, PyObject *o, int *value);
int u64_argument(const char *name, PyObject *o, unsigned long long *value);

/* pid=, cpu= and cgroup= of an Event or a Group, as given. */
struct target_objects {
	PyObject *pid, *cpu, *cgroup;
};
int target_arguments(const struct target_objects *given, int *pid, int *cpu, int *cgroup);

/* ---- perf_event_attr ---- */

struct attr_object {
	PyObject_HEAD
	union pev_attr_buf buf;
	PyObject *keep;         /* object that buf's pointers point into, or NULL */
};

/* A new attr object with a copy of attr. keep may be NULL. */
PyObject *attr_new_from(struct state *st, const struct perf_event_attr *attr, PyObject *keep);
/* The attr in object o, or NULL with TypeError. */
struct attr_object *attr_of(struct state *st, PyObject *o);

/* ---- events, groups and rings ---- */

/* How these objects begin. */
#define RESOURCE_HEAD                                                                              \
	PyObject_HEAD                                                                              \
	struct state *st;                                                                          \
	PyObject *weakrefs;

struct resource {
	RESOURCE_HEAD
};

/* Their tp_new and tp_members. */
PyObject *resource_new(PyTypeObject *type, PyObject *args, PyObject *kw);
extern PyMemberDef resource_members[];

/* __enter__(), __exit__() and `closed` of a kind, by its is_open(), which raises ValueError, and close(). */
#define RESOURCE(kind)                                                                             \
	static PyObject *kind##_enter(PyObject *o, PyObject *unused)                               \
	{                                                                                          \
		return is_open((struct kind##_object *)o) ? new_ref(o) : NULL;                     \
	}                                                                                          \
                                                                                                   \
	static PyObject *kind##_exit(PyObject *o, PyObject *args)                                  \
	{                                                                                          \
		return kind##_close(o, NULL);                                                      \
	}                                                                                          \
                                                                                                   \
	static PyObject *kind##_closed(PyObject *o, void *closure)                                 \
	{                                                                                          \
		bool closed = !is_open((struct kind##_object *)o);                                 \
                                                                                                   \
		PyErr_Clear();                                                                     \
		return PyBool_FromLong(closed);                                                    \
	}

/* An event: alone, or a member of a group, which owns ev then. */
struct event_object {
	RESOURCE_HEAD
	struct pev_event *ev;   /* NULL: closed */
	PyObject *owner;        /* group or leader, kept alive */
	PyObject *keep;         /* object that its attr points into */
	bool borrowed;          /* the group owns ev */
	bool opening;
	bool closing;           /* close it with the last user */
	unsigned int users;     /* rings on it, and calls that released the GIL */
	PyObject *label;
};

/* The open event in o, or NULL with TypeError or ValueError. */
struct event_object *event_of(struct state *st, PyObject *o);
/* Event.set_filter(): None, or NULL with an exception that says what the kernel refuses. */
PyObject *event_set_filter(PyObject *o, PyObject *arg);
/* Makes the object for a group member, of `type` (Event or a subclass). */
PyObject *event_member(struct state *st, PyTypeObject *type, PyObject *group, struct pev_event *ev,
		       const char *label, PyObject *keep);
/* Between these two calls the event stays open, even if it is closed. */
void event_hold(struct event_object *e);
void event_let_go(struct event_object *e);
bool group_is_open(PyObject *group);
void group_hold(PyObject *group);
void group_let_go(PyObject *group);
/* Converts arguments that name a target. False with ValueError. */
bool target_of(int pid, int cpu, int cgroup, struct pev_target *target);
/* (value, time_enabled, time_running, id, lost, stale); lost is None if the event with this attr samples and its kernel
 * does not count what was lost. */
PyObject *count_tuple(const struct pev_count *count, const struct perf_event_attr *attr);

/* ---- records ---- */

/* What is needed to decode records. It refers to no object that could refer to records, so neither needs
 * the garbage collector. */
struct source {
	unsigned int refs;
	struct pev_format format;
	uint64_t id;
	char label[96];
};
struct source *source_new(const struct perf_event_attr *attr, uint64_t id, const char *label);
void source_drop(struct source *s);

/* Copies rec into an object of its kind. rec must decode. */
PyObject *record_new(struct state *st, struct source *source, const struct perf_event_header *rec);
/* decode(bytes, attr): a record from bytes, for tests and stored records. */
PyObject *record_decode(PyObject *module, PyObject *args);

#define NEW_FORBIDDEN { Py_tp_new, refuse_new }
PyObject *refuse_new(PyTypeObject *type, PyObject *args, PyObject *kw);

/* ---- AUX area of a ring ---- */

struct aux {
	struct pev_aux_area *area;   /* NULL: the ring has no AUX area */
	uint64_t taken;              /* bytes returned since it was mapped */
	bool snapshot;
};

/* Returns new data, at most `most` bytes (-1: all), and frees its room. For a snapshot: all data, the
 * oldest first. */
PyObject *aux_read(struct aux *a, Py_ssize_t most);
/* The data that an AUX record announces. Frees all room up to its end. ValueError if the data is not in
 * the area. */
PyObject *aux_chunk(struct aux *a, uint64_t offset, uint64_t size);

/* The end of a tp_dealloc. */
static inline void free_object(PyObject *o)
{
	PyTypeObject *type = Py_TYPE(o);

	((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
	Py_DECREF(type);
}

/* The text of a method with its signature for help(). */
#define DOC(signature, text) signature "\n--\n\n" text

/* PyArg_Parse* takes a table that is not const. */
#define KEYWORDS(...) static char *keywords[] = { __VA_ARGS__, NULL }

/* Py_NewRef() is new in 3.10 */
static inline PyObject *new_ref(PyObject *o)
{
	Py_XINCREF(o);
	return o;
}
#endif
