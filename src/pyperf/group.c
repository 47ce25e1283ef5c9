/* SPDX-License-Identifier: Apache-2.0 */
/* Group: events that are scheduled and read together. */
#include "pyperf/pyperf.h"

#include "perfevent/open/self.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define SELF struct group_object *self = (struct group_object *)o

struct group_object {
	RESOURCE_HEAD
	struct pev_group *group;   /* NULL: closed */
	PyObject *event_class;     /* the class of its members */
	PyObject *keep;            /* objects that the attrs point into */
	struct pev_count *counts;
	bool opening;
	bool closing;              /* close it with the last ring of a member */
	unsigned int users;
	unsigned int generation;   /* of the process that mapped the pages */
};

/* After fork() the pages are not mapped: the child uses read(2). */
static void look_for_fork(struct group_object *self)
{
	if (self->group && self->generation != self->st->generation)
		pev_group_forget_self_(self->group);
	self->generation = self->st->generation;
}

static bool is_open(struct group_object *self)
{
	look_for_fork(self);
	if (self->group && !self->closing && !self->opening)
		return true;
	PyErr_SetString(PyExc_ValueError, "the group is closed");
	return false;
}

bool group_is_open(PyObject *o)
{
	SELF;

	return o && self->group && !self->closing;
}

/* ---- opening and closing ---------------------------------------------------------- */

/* Adds one (attr, label). */
static int add_member(struct group_object *self, struct pev_group *group, PyObject *member)
{
	PyObject *what, *label;
	struct attr_object *attr;
	const char *text = NULL;
	int rc;

	if (!PyArg_ParseTuple(member, "OO:Group", &what, &label))
		return -1;
	attr = attr_of(self->st, what);
	if (!attr)
		return -1;
	if (label != Py_None && !(text = PyUnicode_AsUTF8AndSize(label, NULL)))
		return -1;
	rc = pev_group_add(group, &attr->buf.attr, text);
	if (rc < 0)
		raise_code(self->st, rc, "add an event to a group");
	return rc < 0 ? -1 : 0;
}

static int add_members(struct group_object *self, struct pev_group *group, PyObject *members)
{
	PyObject *member;
	int rc = 0;

	for (Py_ssize_t i = 0; !rc && i < PyTuple_Size(members); i++) {
		member = PyTuple_GetItem(members, i);
		if (PyTuple_Check(member))
			rc = add_member(self, group, member);
		else
			rc = -1, PyErr_SetString(PyExc_TypeError, "members must be (attr, label)");
	}
	return rc;
}

static int open_group(struct group_object *self, struct pev_group *group, struct pev_target target,
		      unsigned long flags)
{
	struct pev_open_opts opts = { .size = sizeof(opts), .flags = flags };
	struct pev_error err = { .code = 0 };
	int rc;

	self->opening = true;
	Py_BEGIN_ALLOW_THREADS
	rc = pev_group_open(group, target, &opts, &err);
	Py_END_ALLOW_THREADS
	self->opening = false;
	return rc < 0 ? raise_error(self->st, rc, &err), -1 : 0;
}

static int group_init(PyObject *o, PyObject *args, PyObject *kw)
{
	SELF;
	KEYWORDS("event_class", "members", "pid", "cpu", "cgroup", "flags");
	int pid = 0, cpu = -1, cgroup = -1;
	PyObject *event_class, *members, *bits = NULL;
	struct target_objects given = { NULL };
	struct pev_target target;
	struct pev_group *group;
	unsigned long long flags = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "OO!|OO$OO:Group", keywords, &event_class,
					 &PyTuple_Type, &members, &given.pid, &given.cpu, &given.cgroup,
					 &bits) ||
	    target_arguments(&given, &pid, &cpu, &cgroup) || u64_argument("flags", bits, &flags))
		return -1;
	if (self->group || self->opening || self->closing)
		return refused(PyExc_ValueError, "the group has been opened already");
	if (!PyType_Check(event_class) || !PyType_IsSubtype((PyTypeObject *)event_class,
							    (PyTypeObject *)self->st->event_type))
		return refused(PyExc_TypeError, "event_class must be a subclass of Event");
	if (!target_of(pid, cpu, cgroup, &target))
		return -1;
	group = pev_group_new();
	self->counts = PyMem_Calloc((size_t)PyTuple_Size(members) + 1, sizeof(*self->counts));
	if (!group || !self->counts) {
		pev_group_close(group);
		PyErr_NoMemory();
		return -1;
	}
	if (add_members(self, group, members) || open_group(self, group, target, (unsigned long)flags)) {
		pev_group_close(group);
		PyMem_Free(self->counts);
		self->counts = NULL;
		return -1;
	}
	self->generation = self->st->generation;
	self->event_class = new_ref(event_class);
	self->keep = new_ref(members);
	self->group = group;
	return 0;
}

static void really_close(struct group_object *self)
{
	struct pev_group *group;

	look_for_fork(self);
	group = self->group;
	self->group = NULL;
	Py_BEGIN_ALLOW_THREADS
	pev_group_close(group);
	Py_END_ALLOW_THREADS
}

void group_hold(PyObject *o)
{
	((struct group_object *)o)->users++;
}

void group_let_go(PyObject *o)
{
	SELF;

	self->users--;
	if (!self->users && self->closing && self->group)
		really_close(self);
}

static PyObject *group_close(PyObject *o, PyObject *unused)
{
	SELF;

	if (!self->group || self->closing)
		Py_RETURN_NONE;
	self->closing = true;
	if (self->users)
		pev_group_disable(self->group);
	else
		really_close(self);
	Py_RETURN_NONE;
}

static int group_traverse(PyObject *o, visitproc visit, void *arg)
{
	SELF;

	Py_VISIT(Py_TYPE(o));
	Py_VISIT(self->event_class);
	Py_VISIT(self->keep);
	return 0;
}

static int group_clear(PyObject *o)
{
	Py_CLEAR(((struct group_object *)o)->event_class);
	return 0;
}

static void group_dealloc(PyObject *o)
{
	SELF;

	PyObject_GC_UnTrack(o);
	if (self->weakrefs)
		PyObject_ClearWeakRefs(o);
	look_for_fork(self);
	pev_group_close(self->group);
	PyMem_Free(self->counts);
	Py_XDECREF(self->event_class);
	Py_XDECREF(self->keep);
	free_object(o);
}

RESOURCE(group)

/* ---- reading ---------------------------------------------------------------------- */

/* ((label, (value, …)), …) */
static PyObject *counts_tuple(struct group_object *self, int n)
{
	PyObject *all = PyTuple_New(n), *one;

	for (int i = 0; all && i < n; i++) {
		one = Py_BuildValue("(NN)", text_of(pev_group_label(self->group, (size_t)i)),
				    count_tuple(&self->counts[i],
						pev_event_attr(pev_group_event(self->group, (size_t)i))));
		if (!one || PyTuple_SetItem(all, i, one))
			Py_CLEAR(all);
	}
	return all;
}

static PyObject *counts_or_error(struct group_object *self, int n)
{
	switch (n) {
	case -ENODATA:
		return raise_code(self->st, n, "read a pinned group that lost its place on the PMU "
					       "(disable and enable it)");
	case -ECHILD:
		return raise_code(self->st, n, "read a group of which an inherited copy is not whole");
	}
	return n < 0 ? raise_code(self->st, n, "read a group") : counts_tuple(self, n);
}

static PyObject *group_read(PyObject *o, PyObject *unused)
{
	SELF;

	if (!is_open(self))
		return NULL;
	return counts_or_error(self, pev_group_read(self->group, self->counts,
						    pev_group_size(self->group)));
}

static PyObject *group_end(PyObject *o, PyObject *unused)
{
	SELF;
	int n;

	if (!is_open(self))
		return NULL;
	n = pev_group_end(self->group, self->counts, pev_group_size(self->group));
	if (n == -EINVAL)
		return raise_code(self->st, n, "end(), which counts from begin(): that was not called");
	return counts_or_error(self, n);
}

/* ---- controls --------------------------------------------------------------------- */

#define CONTROL(name, call, asked)                                                                 \
	static PyObject *name(PyObject *o, PyObject *unused)                                       \
	{                                                                                          \
		SELF;                                                                              \
                                                                                                   \
		return is_open(self) ? none_or_error(self->st, call(self->group), asked) : NULL;   \
	}

CONTROL(group_enable, pev_group_enable, "enable a group")
CONTROL(group_disable, pev_group_disable, "disable a group")
CONTROL(group_reset, pev_group_reset, "reset a group")
CONTROL(group_begin, pev_group_begin, "read a group")
CONTROL(group_map_self, pev_group_map_self, "map the pages of a group")

/* ---- as a sequence ---------------------------------------------------------------- */

static Py_ssize_t group_length(PyObject *o)
{
	SELF;

	return is_open(self) ? (Py_ssize_t)pev_group_size(self->group) : -1;
}

static PyObject *group_item(PyObject *o, Py_ssize_t i)
{
	SELF;

	if (!is_open(self))
		return NULL;
	if (i < 0 || (size_t)i >= pev_group_size(self->group) || !self->event_class)
		return PyErr_Format(PyExc_IndexError, "no such member of the group");
	return event_member(self->st, (PyTypeObject *)self->event_class, o,
			    pev_group_event(self->group, (size_t)i),
			    pev_group_label(self->group, (size_t)i), self->keep);
}

static PyMethodDef methods[] = {
	{ "_read", group_read, METH_NOARGS, NULL },
	{ "_end", group_end, METH_NOARGS, NULL },
	{ "begin", group_begin, METH_NOARGS, DOC("begin()",
	  "Remembers the counts, which end() takes from those of then: the cheap way to measure\n"
	  "often, since the group stays on.") },
	{ "close", group_close, METH_NOARGS, DOC("close()", "Closes all members.") },
	{ "enable", group_enable, METH_NOARGS, DOC("enable()", "Counts from now on.") },
	{ "disable", group_disable, METH_NOARGS, DOC("disable()", "Stops counting.") },
	{ "reset", group_reset, METH_NOARGS, DOC("reset()", "Sets the counts to 0, not the times.") },
	{ "map_self", group_map_self, METH_NOARGS, DOC("map_self()",
	  "Reads from here on without a system call where the PMU allows: for groups of the calling\n"
	  "thread.") },
	{ "__enter__", group_enter, METH_NOARGS, NULL },
	{ "__exit__", group_exit, METH_VARARGS, NULL },
	{ NULL },
};

static PyGetSetDef getset[] = {
	{ "closed", group_closed, NULL, "Is it closed?", NULL },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "The C half of pyperf.Group." },
	{ Py_tp_new, resource_new },
	{ Py_tp_init, group_init },
	{ Py_tp_dealloc, group_dealloc },
	{ Py_tp_traverse, group_traverse },
	{ Py_tp_clear, group_clear },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, getset },
	{ Py_tp_members, resource_members },
	{ Py_sq_length, group_length },
	{ Py_sq_item, group_item },
	{ 0, NULL },
};

static PyType_Spec spec = {
	PYPERF_NAME "._pyperf._Group", sizeof(struct group_object), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots,
};

int add_group(PyObject *module, struct state *st)
{
	st->group_type = add_type(module, "_Group", &spec, NULL);
	return st->group_type ? 0 : -1;
}
