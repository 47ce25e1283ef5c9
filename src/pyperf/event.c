/* SPDX-License-Identifier: Apache-2.0 */
/* Event: an open event, alone or in a group. */
#include "perfevent/open/explain.h"
#include "pyperf/pyperf.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SELF struct event_object *self = (struct event_object *)o

/* ---- targets and counts ----------------------------------------------------------- */

bool target_of(int pid, int cpu, int cgroup, struct pev_target *target)
{
	if (cgroup >= 0 && cpu >= 0)
		*target = pev_target_cgroup(cgroup, cpu);
	else if (cgroup >= 0)
		return PyErr_SetString(PyExc_ValueError, "a cgroup needs a cpu: open one event per CPU"),
		       false;
	else if (pid == -1 && cpu >= 0)
		*target = pev_target_cpu(cpu);
	else if (pid == -1)
		return PyErr_SetString(PyExc_ValueError, "pid -1 needs a cpu: the kernel opens no "
							 "event for all tasks on all CPUs; open "
							 "one per CPU"),
		       false;
	else if (pid < -1 || cpu < -1)
		return PyErr_Format(PyExc_ValueError, "no such target: pid %d, cpu %d", pid, cpu), false;
	else
		*target = cpu >= 0 ? pev_target_thread_on_cpu(pid, cpu) : pev_target_thread(pid);
	return true;
}

PyObject *count_tuple(const struct pev_count *c, const struct perf_event_attr *attr)
{
	bool known = !attr->sample_period || attr->read_format & PEV_FORMAT_LOST;

	return Py_BuildValue("(KKKKNO)", (unsigned long long)c->value, (unsigned long long)c->time_enabled,
			     (unsigned long long)c->time_running, (unsigned long long)c->id,
			     known ? PyLong_FromUnsignedLongLong(c->lost) : new_ref(Py_None),
			     c->stale ? Py_True : Py_False);
}

/* ---- opening and closing ---------------------------------------------------------- */

static bool is_open(const struct event_object *self)
{
	if (self->borrowed ? group_is_open(self->owner) : self->ev && !self->closing)
		return true;
	PyErr_SetString(PyExc_ValueError, "the event is closed");
	return false;
}

struct event_object *event_of(struct state *st, PyObject *o)
{
	int is = PyObject_IsInstance(o, st->event_type);

	if (is > 0)
		return is_open((struct event_object *)o) ? (struct event_object *)o : NULL;
	if (is == 0)
		PyErr_Format(PyExc_TypeError, "expected an Event, not %R", o);
	return NULL;
}

static int open_event(struct event_object *self, struct attr_object *attr, struct pev_target target,
		      struct pev_event *leader, unsigned long flags)
{
	struct pev_open_opts opts = { .size = sizeof(opts), .group = leader, .flags = flags };
	struct pev_error err = { .code = 0 };
	union pev_attr_buf buf = attr->buf;
	struct pev_event *ev;
	int rc;

	if (self->label && self->label != Py_None) {
		opts.label = PyUnicode_AsUTF8AndSize(self->label, NULL);
		if (!opts.label)
			return -1;
	}
	Py_BEGIN_ALLOW_THREADS
	rc = pev_event_open(&ev, &buf.attr, target, &opts, &err);
	Py_END_ALLOW_THREADS
	if (rc)
		return raise_error(self->st, rc, &err), -1;
	self->ev = ev;
	return 0;
}

static int event_init(PyObject *o, PyObject *args, PyObject *kw)
{
	SELF;
	KEYWORDS("attr", "pid", "cpu", "cgroup", "group", "label", "flags");
	PyObject *what, *group = Py_None, *label = Py_None, *bits = NULL;
	struct target_objects given = { NULL };
	int pid = 0, cpu = -1, cgroup = -1, rc;
	struct event_object *leader = NULL;
	struct attr_object *attr;
	struct pev_target target;
	unsigned long long flags = 0;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OO$OOOO:Event", keywords, &what, &given.pid, &given.cpu,
					 &given.cgroup, &group, &label, &bits) ||
	    target_arguments(&given, &pid, &cpu, &cgroup) || u64_argument("flags", bits, &flags))
		return -1;
	if (self->ev || self->closing || self->opening)
		return refused(PyExc_ValueError, "the event has been opened already");
	attr = attr_of(self->st, what);
	if (!attr || !target_of(pid, cpu, cgroup, &target))
		return -1;
	if (group != Py_None && !(leader = event_of(self->st, group)))
		return -1;
	if (label != Py_None && !PyUnicode_Check(label))
		return refused(PyExc_TypeError, "label must be a str");
	Py_XDECREF(self->label);
	self->label = new_ref(label);
	Py_XDECREF(self->owner);
	self->owner = new_ref((PyObject *)leader);
	Py_XDECREF(self->keep);
	self->keep = new_ref(attr->keep);
	if (leader)
		event_hold(leader);
	self->opening = true;
	rc = open_event(self, attr, target, leader ? leader->ev : NULL, (unsigned long)flags);
	self->opening = false;
	if (leader)
		event_let_go(leader);
	return rc;
}

PyObject *event_member(struct state *st, PyTypeObject *type, PyObject *group, struct pev_event *ev,
		       const char *label, PyObject *keep)
{
	struct event_object *self = (struct event_object *)PyType_GenericAlloc(type, 0);

	if (!self)
		return NULL;
	self->st = st;
	self->label = text_of(label);
	if (!self->label) {
		Py_DECREF(self);
		return NULL;
	}
	self->owner = new_ref(group);
	self->keep = new_ref(keep);
	self->borrowed = true;
	self->ev = ev;
	return (PyObject *)self;
}

static void really_close(struct event_object *self)
{
	struct pev_event *ev = self->ev;

	self->ev = NULL;
	/* opening a tracepoint takes 40 ms */
	Py_BEGIN_ALLOW_THREADS
	pev_event_close(ev);
	Py_END_ALLOW_THREADS
}

void event_hold(struct event_object *self)
{
	self->users++;
	if (self->borrowed)
		group_hold(self->owner);
}

void event_let_go(struct event_object *self)
{
	self->users--;
	if (self->borrowed)
		group_let_go(self->owner);
	else if (!self->users && self->closing && self->ev)
		really_close(self);
}

static PyObject *event_close(PyObject *o, PyObject *unused)
{
	SELF;

	if (self->borrowed || !self->ev || self->closing)
		Py_RETURN_NONE;
	self->closing = true;
	if (self->users)
		pev_event_disable(self->ev);
	else
		really_close(self);
	Py_RETURN_NONE;
}

static int event_traverse(PyObject *o, visitproc visit, void *arg)
{
	SELF;

	Py_VISIT(Py_TYPE(o));
	Py_VISIT(self->owner);
	Py_VISIT(self->keep);
	return 0;
}

static int event_clear(PyObject *o)
{
	SELF;

	Py_CLEAR(self->owner);
	return 0;
}

static void event_dealloc(PyObject *o)
{
	SELF;

	PyObject_GC_UnTrack(o);
	if (self->weakrefs)
		PyObject_ClearWeakRefs(o);
	if (!self->borrowed)
		pev_event_close(self->ev);   /* no ring is left, since rings hold their events */
	Py_XDECREF(self->label);
	Py_XDECREF(self->owner);
	Py_XDECREF(self->keep);
	free_object(o);
}

RESOURCE(event)

/* ---- reading ---------------------------------------------------------------------- */

/* read(2) of a leader returns the whole group. */
static int read_leader(const struct pev_event *ev, struct pev_count *count)
{
	enum { FEW = 16, MANY = 4096 };
	struct pev_count few[FEW], *many;
	int rc = pev_event_read_group(ev, few, FEW);

	*count = few[0];
	if (rc != -EINVAL)
		return rc < 0 ? rc : 0;
	many = PyMem_Calloc(MANY, sizeof(*many));
	if (!many)
		return -ENOMEM;
	rc = pev_event_read_group(ev, many, MANY);
	*count = many[0];
	PyMem_Free(many);
	return rc < 0 ? rc : 0;
}

static PyObject *event_read(PyObject *o, PyObject *unused)
{
	SELF;
	struct pev_count count;
	int rc;

	if (!is_open(self))
		return NULL;
	if (pev_event_attr(self->ev)->read_format & PERF_FORMAT_GROUP)
		rc = read_leader(self->ev, &count);
	else
		rc = pev_event_read(self->ev, &count);
	if (rc == -ENODATA)
		return raise_code(self->st, rc, "read a pinned event that lost its place on the PMU");
	return rc ? raise_code(self->st, rc, "read an event") : count_tuple(&count, pev_event_attr(self->ev));
}

static PyObject *event_fileno(PyObject *o, PyObject *unused)
{
	SELF;

	return is_open(self) ? PyLong_FromLong(pev_event_fd(self->ev)) : NULL;
}

static PyObject *event_id(PyObject *o, void *closure)
{
	SELF;
	uint64_t id;
	int rc;

	if (!is_open(self))
		return NULL;
	rc = pev_event_id(self->ev, &id);
	return rc ? raise_code(self->st, rc, "ask for the id of an event") :
		    PyLong_FromUnsignedLongLong(id);
}

static PyObject *event_attr(PyObject *o, void *closure)
{
	SELF;

	return is_open(self) ? attr_new_from(self->st, pev_event_attr(self->ev), self->keep) : NULL;
}

static PyObject *event_label(PyObject *o, void *closure)
{
	SELF;

	return new_ref(self->label ? self->label : Py_None);
}

/* ---- controls --------------------------------------------------------------------- */

#define CONTROL(name, call, asked)                                                                 \
	static PyObject *name(PyObject *o, PyObject *unused)                                       \
	{                                                                                          \
		SELF;                                                                              \
                                                                                                   \
		return is_open(self) ? none_or_error(self->st, call(self->ev), asked) : NULL;      \
	}

CONTROL(event_enable, pev_event_enable, "enable an event")
CONTROL(event_disable, pev_event_disable, "disable an event")
CONTROL(event_reset, pev_event_reset, "reset an event")

static PyObject *event_refresh(PyObject *o, PyObject *arg)
{
	SELF;
	unsigned long n = PyLong_AsUnsignedLong(arg);

	if (PyErr_Occurred() || !is_open(self))
		return NULL;
	return none_or_error(self->st, n > INT_MAX ? -EINVAL : pev_event_refresh(self->ev, (unsigned)n),
			     "enable an event for some overflows");
}

/* The kernel says EINVAL for each of these. */
static PyObject *refuse_period(struct event_object *self, int rc, unsigned long long period)
{
	const struct perf_event_attr *attr = pev_event_attr(self->ev);
	struct pev_error err = { .code = -rc };

	snprintf(err.asked, sizeof(err.asked), "set_period(%llu) of %s", period, pev_event_label(self->ev));
	if (rc != -EINVAL)
		return raise_code(self->st, rc, err.asked);
	if (!attr->sample_period)
		refuse_with(&err, "the event counts and does not sample", "open it with sample_period=N or sample_freq=N");
	else if (!period)
		refuse_with(&err, "a period and a frequency are 1 or more", "disable() stops the samples");
	else if (attr->freq)
		refuse_with(&err, "the frequency is above kernel.perf_event_max_sample_rate", "give a lower one, or raise the sysctl");
	else
		refuse_with(&err, "the kernel takes no such period", "give 1 to 2**63 - 1");
	return raise_error(self->st, rc, &err);
}

static PyObject *event_set_period(PyObject *o, PyObject *arg)
{
	SELF;
	unsigned long long period;
	int rc;

	if (u64_argument("set_period()", arg, &period) || !is_open(self))
		return NULL;
	rc = pev_event_set_period(self->ev, period);
	return rc ? refuse_period(self, rc, period) : new_ref(Py_None);
}

PyObject *event_set_filter(PyObject *o, PyObject *arg)
{
	SELF;
	struct pev_error err = { .code = 0 };
	PyObject *bytes;
	int rc;

	if (!is_open(self) || !PyUnicode_FSConverter(arg, &bytes))
		return NULL;
	rc = pev_event_set_filter(self->ev, PyBytes_AsString(bytes), &err);
	Py_DECREF(bytes);
	return rc ? raise_error(self->st, rc, &err) : new_ref(Py_None);
}

static PyObject *event_set_output(PyObject *o, PyObject *arg)
{
	SELF;
	struct event_object *to = NULL;
	struct pev_error err = { .code = 0 };
	int rc;

	if (!is_open(self) || (arg != Py_None && !(to = event_of(self->st, arg))))
		return NULL;
	rc = pev_event_set_output(self->ev, to ? to->ev : NULL);
	if (rc && to)
		pev_explain_output_(&err, self->ev, to->ev, -rc);
	return rc ? raise_error(self->st, rc, &err) : new_ref(Py_None);
}

static PyObject *event_set_bpf(PyObject *o, PyObject *arg)
{
	SELF;
	struct pev_error err = { .code = 0 };
	int fd = PyObject_AsFileDescriptor(arg), rc;

	if (fd < 0 || !is_open(self))
		return NULL;
	rc = pev_event_set_bpf(self->ev, fd, &err);
	return rc ? raise_error(self->st, rc, &err) : new_ref(Py_None);
}

static PyObject *event_pause_output(PyObject *o, PyObject *arg)
{
	SELF;
	int pause = PyObject_IsTrue(arg);

	if (pause < 0 || !is_open(self))
		return NULL;
	return none_or_error(self->st, pev_event_pause_output(self->ev, pause),
			     "pause the output of an event (its ring has to be mapped)");
}

static PyObject *event_modify(PyObject *o, PyObject *arg)
{
	SELF;
	struct pev_error err = { .code = 0 };
	struct attr_object *attr;
	int rc;

	if (!is_open(self) || !(attr = attr_of(self->st, arg)))
		return NULL;
	rc = pev_event_modify(self->ev, &attr->buf.attr, &err);
	return rc ? raise_error(self->st, rc, &err) : new_ref(Py_None);
}

static PyObject *event_signal(PyObject *o, PyObject *args)
{
	SELF;
	int signo, thread = (int)gettid();

	if (!PyArg_ParseTuple(args, "i|i:signal", &signo, &thread) || !is_open(self))
		return NULL;
	return none_or_error(self->st, pev_event_signal(self->ev, signo, PEV_OWNER_THREAD, thread),
			     "have an event send a signal");
}

static PyObject *event_repr(PyObject *o)
{
	SELF;
	bool open = is_open(self);

	PyErr_Clear();
	return PyUnicode_FromFormat("<%sEvent %R>", open ? "" : "closed ",
				    self->label ? self->label : Py_None);
}

static PyMethodDef methods[] = {
	{ "_read", event_read, METH_NOARGS, NULL },
	{ "close", event_close, METH_NOARGS, DOC("close()",
	  "Ends the counting and closes the descriptor; what a ring still holds can be read\n"
	  "until that is closed. A member of a group is closed with its group.") },
	{ "fileno", event_fileno, METH_NOARGS, DOC("fileno()", "The descriptor, for poll and ioc().") },
	{ "enable", event_enable, METH_NOARGS, DOC("enable()", "Counts from now on.") },
	{ "disable", event_disable, METH_NOARGS, DOC("disable()", "Stops counting.") },
	{ "reset", event_reset, METH_NOARGS, DOC("reset()", "Sets the count to 0, not the times.") },
	{ "refresh", event_refresh, METH_O,
	  DOC("refresh(n)", "Enables for n more overflows of a sampling event.") },
	{ "set_period", event_set_period, METH_O,
	  DOC("set_period(period)", "New period, or new frequency where attr.freq is set.") },
	{ "set_filter", event_set_filter, METH_O,
	  DOC("set_filter(text)", "Filter of a tracepoint (\"prev_pid == 1\"), or address filter.") },
	{ "set_output", event_set_output, METH_O,
	  DOC("set_output(event)", "Sends records into the ring of event; None ends that. To read records of\n"
	      "another sample_type, name both events: Ring(event, other).") },
	{ "set_bpf", event_set_bpf, METH_O, DOC("set_bpf(fd)", "Attaches a loaded BPF program.") },
	{ "pause_output", event_pause_output, METH_O,
	  DOC("pause_output(pause)", "Stops (True) or restarts writing records; counting goes on.") },
	{ "modify", event_modify, METH_O,
	  DOC("modify(attr)", "Another address, type, length or `disabled` for a breakpoint.") },
	{ "signal", event_signal, METH_VARARGS,
	  DOC("signal(signo, tid=None)", "Sends signo to a thread (this one) at each wake-up; 0 ends it.") },
	{ "__enter__", event_enter, METH_NOARGS, NULL },
	{ "__exit__", event_exit, METH_VARARGS, NULL },
	{ NULL },
};

static PyGetSetDef getset[] = {
	{ "id", event_id, NULL, "Number that the kernel gave it; samples with PERF_SAMPLE_ID have it.", NULL },
	{ "attr", event_attr, NULL, "A copy of its perf_event_attr.", NULL },
	{ "closed", event_closed, NULL, "Is it closed?", NULL },
	{ "label", event_label, NULL, "Its name.", NULL },
	{ NULL },
};

static PyType_Slot slots[] = {
	{ Py_tp_doc, "The C half of pyperf.Event." },
	{ Py_tp_new, resource_new },
	{ Py_tp_init, event_init },
	{ Py_tp_dealloc, event_dealloc },
	{ Py_tp_traverse, event_traverse },
	{ Py_tp_clear, event_clear },
	{ Py_tp_methods, methods },
	{ Py_tp_getset, getset },
	{ Py_tp_members, resource_members },
	{ Py_tp_repr, event_repr },
	{ 0, NULL },
};

static PyType_Spec spec = {
	PYPERF_NAME "._pyperf._Event", sizeof(struct event_object), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots,
};

int add_event(PyObject *module, struct state *st)
{
	st->event_type = add_type(module, "_Event", &spec, NULL);
	return st->event_type ? 0 : -1;
}
