/* SPDX-License-Identifier: Apache-2.0 */
/* The bare system calls: perf_event_open(2), the ioctls of its descriptors, prctl(2). */
#include "perfevent/open/event.h"
#include "perfevent/open/explain.h"
#include "pyperf/pyperf.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sys_open(union pev_attr_buf *buf, int pid, int cpu, int group_fd, unsigned long flags)
{
	long fd;

	Py_BEGIN_ALLOW_THREADS
	fd = syscall(SYS_perf_event_open, &buf->attr, pid, cpu, group_fd, flags);
	Py_END_ALLOW_THREADS
	return fd < 0 ? -errno : (int)fd;
}

/* An older kernel writes its own size. Whether all fields behind it are 0, so that they can be cut off. */
static bool can_shorten(const union pev_attr_buf *before, const union pev_attr_buf *after)
{
	uint32_t size = after->attr.size, full = before->attr.size;

	if (size < PERF_ATTR_SIZE_VER0 || size >= full || full > sizeof(*before))
		return false;
	for (uint32_t i = size; i < full; i++)
		if (((const char *)before)[i])
			return false;
	return true;
}

/* The arguments behind attr. */
struct open_args {
	int pid, cpu, group_fd;
	unsigned long long flags;
};

enum { KNOWN_FLAGS = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC };

/* An argument that the kernel refuses whatever the attr is. */
static bool blame_argument(const struct open_args *a, struct pev_error *err)
{
	if (a->flags & ~(unsigned long long)KNOWN_FLAGS)
		refuse_with(err, "flags has bits that are no flag of perf_event_open()",
			    "add up PERF_FLAG_FD_NO_GROUP, _FD_OUTPUT, _PID_CGROUP and _FD_CLOEXEC; 0 is none");
	else if (a->flags & PERF_FLAG_PID_CGROUP && (a->pid < 0 || a->cpu < 0))
		refuse_with(err, "PERF_FLAG_PID_CGROUP needs a descriptor as pid, and a cpu",
			    "open the cgroup's folder, give its descriptor as pid, and open one event for each cpu");
	else if (a->pid == -1 && a->cpu == -1)
		refuse_with(err, "pid=-1 (all tasks) and cpu=-1 (all CPUs) together: the kernel opens no such event",
			    "give a cpu and open one event for each, or give a pid");
	else if (a->pid < -1)
		refuse_with(err, "there is no such pid", "give 0 for the calling thread, a thread's id, or -1 for all tasks");
	else if (a->cpu < -1)
		refuse_with(err, "there is no such cpu", "give a CPU's number, or -1 for all");
	else if (a->group_fd < -1)
		refuse_with(err, "there is no such group_fd", "give the descriptor of the group's leader, or -1 for none");
	else
		return false;
	return true;
}

/* Lets libperfevent find out what is wrong. */
static PyObject *explain_open(struct state *st, union pev_attr_buf *buf, const struct open_args *a, int rc)
{
	struct pev_event ev = { .buf = *buf, .group_fd = a->group_fd, .flags = a->flags & ~(uint64_t)PERF_FLAG_PID_CGROUP };
	struct pev_error err = { .code = -rc };
	bool cgroup = a->flags & PERF_FLAG_PID_CGROUP;

	snprintf(err.asked, sizeof(err.asked), "perf_event_open(attr, pid=%d, cpu=%d, group_fd=%d, flags=%#llx)", a->pid,
		 a->cpu, a->group_fd, a->flags);
	if (!blame_argument(a, &err) && target_of(cgroup ? 0 : a->pid, a->cpu, cgroup ? a->pid : -1, &ev.target))
		pev_explain_open(&err, &ev, -rc);
	PyErr_Clear();
	return raise_error(st, rc, &err);
}

static PyObject *perf_event_open_(PyObject *module, PyObject *args, PyObject *kw)
{
	struct state *st = PyModule_GetState(module);
	KEYWORDS("attr", "pid", "cpu", "group_fd", "flags");
	struct open_args a = { .pid = 0, .cpu = -1, .group_fd = -1 };
	PyObject *pid = NULL, *cpu = NULL, *group_fd = NULL, *bits = NULL;
	unsigned long flags;
	int rc;
	union pev_attr_buf buf, full;
	struct attr_object *attr;
	PyObject *o, *keep;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "O|OOOO:perf_event_open", keywords, &o, &pid, &cpu, &group_fd,
					 &bits) ||
	    int_argument("pid", pid, &a.pid) || int_argument("cpu", cpu, &a.cpu) ||
	    int_argument("group_fd", group_fd, &a.group_fd) || u64_argument("flags", bits, &a.flags))
		return NULL;
	attr = attr_of(st, o);
	if (!attr)
		return NULL;
	/* another thread may change attr meanwhile */
	buf = full = attr->buf;
	keep = new_ref(attr->keep);
	/* close-on-exec, like all descriptors of Python (PEP 446) */
	flags = (unsigned long)a.flags | PERF_FLAG_FD_CLOEXEC;
	rc = sys_open(&buf, a.pid, a.cpu, a.group_fd, flags);
	if (rc == -E2BIG && can_shorten(&full, &buf))
		rc = sys_open(&buf, a.pid, a.cpu, a.group_fd, flags);
	o = rc < 0 ? explain_open(st, &full, &a, rc) : PyLong_FromLong(rc);
	Py_XDECREF(keep);
	return o;
}

/* ---- ioctl ------------------------------------------------------------------------ */

/* One function for each kind of argument: fd, request, arg -> result. arg is NULL if not given. */
typedef PyObject *ioc_fn(struct state *st, int fd, unsigned long op, PyObject *arg);

/* Whether it is an event's: the kernel says ENOTTY of any other, and of an operation that it does not have. */
static bool is_event(int fd)
{
	char path[64], target[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) < 0 || !strcmp(target, "anon_inode:[perf_event]");
}

static PyObject *ioc_error(struct state *st, int fd, const char *asked)
{
	struct pev_error err = { .code = errno };

	snprintf(err.asked, sizeof(err.asked), "ioc(): %s, descriptor %d", asked, fd);
	if (err.code == EBADF && fcntl(fd, F_GETFD) < 0)
		refuse_with(&err, "the descriptor is not open", "pass a descriptor from perf_event_open(), or an Event");
	else if (err.code == ENOTTY && !is_event(fd))
		refuse_with(&err, "it is not the descriptor of a perf event", "pass a descriptor from perf_event_open(), or an Event");
	else
		refuse_with(&err, "", "");
	return raise_error(st, -err.code, &err);
}

static PyObject *ioctl_result(struct state *st, int fd, unsigned long op, unsigned long arg,
			      const char *name)
{
	int rc;

	Py_BEGIN_ALLOW_THREADS
	rc = ioctl(fd, op, arg);
	Py_END_ALLOW_THREADS
	return rc < 0 ? ioc_error(st, fd, name) : PyLong_FromLong(rc);
}

static PyObject *ioc_number(struct state *st, int fd, unsigned long op, PyObject *arg)
{
	long value = arg ? PyLong_AsLong(arg) : 0;

	if (value == -1 && PyErr_Occurred())
		return NULL;
	return ioctl_result(st, fd, op, (unsigned long)value, "ioctl of an event");
}

static PyObject *ioc_period(struct state *st, int fd, unsigned long op, PyObject *arg)
{
	unsigned long long period = 0;
	uint64_t own;
	char asked[120];

	if (u64_argument("PERF_EVENT_IOC_PERIOD", arg, &period))
		return NULL;
	own = period;
	snprintf(asked, sizeof(asked), "set the period of an event to %llu (expected: 1 or more, of an event that samples)",
		 period);
	return ioctl_result(st, fd, op, (unsigned long)&own, asked);
}

static PyObject *ioc_filter(struct state *st, int fd, unsigned long op, PyObject *arg)
{
	PyObject *bytes, *result;

	if (!arg || !PyUnicode_FSConverter(arg, &bytes))
		return PyErr_Format(PyExc_TypeError, "PERF_EVENT_IOC_SET_FILTER takes text");
	result = ioctl_result(st, fd, op, (unsigned long)PyBytes_AsString(bytes), "set a filter");
	Py_DECREF(bytes);
	return result;
}

/* An Event knows what it is, so that the error can say what is wrong with the filter. */
static PyObject *ioc_filter_of_event(PyObject *event, PyObject *text)
{
	PyObject *none = event_set_filter(event, text);

	Py_XDECREF(none);
	return none ? PyLong_FromLong(0) : NULL;
}

static PyObject *ioc_id(struct state *st, int fd, unsigned long op, PyObject *arg)
{
	uint64_t id = 0;

	if (ioctl(fd, op, &id) < 0)
		return ioc_error(st, fd, "ask for the id of an event");
	return PyLong_FromUnsignedLongLong(id);
}

static PyObject *ioc_attr(struct state *st, int fd, unsigned long op, PyObject *arg)
{
	struct attr_object *attr = attr_of(st, arg ? arg : Py_None);
	union pev_attr_buf buf;

	if (!attr)
		return NULL;
	buf = attr->buf;
	return ioctl_result(st, fd, op, (unsigned long)&buf, "modify an event");
}

enum { MAX_PROGRAMS = 64 };   /* BPF_TRACE_MAX_PROGS of the kernel */

static PyObject *ioc_query(struct state *st, int fd, unsigned long op, PyObject *arg)
{
	struct { __u32 ids_len, prog_cnt, ids[MAX_PROGRAMS]; } query = { .ids_len = MAX_PROGRAMS };
	PyObject *list;

	if (ioctl(fd, op, &query) < 0)
		return ioc_error(st, fd, "ask for the BPF programs of an event");
	list = PyList_New(0);
	for (__u32 i = 0; list && i < query.prog_cnt && i < MAX_PROGRAMS; i++)
		list_add(&list, PyLong_FromUnsignedLong(query.ids[i]));
	return list;
}

static const struct {
	unsigned long op;
	ioc_fn *run;
} operations[] = {
	{ PERF_EVENT_IOC_ENABLE, ioc_number },
	{ PERF_EVENT_IOC_DISABLE, ioc_number },
	{ PERF_EVENT_IOC_REFRESH, ioc_number },
	{ PERF_EVENT_IOC_RESET, ioc_number },
	{ PERF_EVENT_IOC_PERIOD, ioc_period },
	{ PERF_EVENT_IOC_SET_OUTPUT, ioc_number },
	{ PERF_EVENT_IOC_SET_FILTER, ioc_filter },
	{ PERF_EVENT_IOC_ID, ioc_id },
	{ PERF_EVENT_IOC_SET_BPF, ioc_number },
	{ PERF_EVENT_IOC_PAUSE_OUTPUT, ioc_number },
	{ PERF_EVENT_IOC_QUERY_BPF, ioc_query },
	{ PERF_EVENT_IOC_MODIFY_ATTRIBUTES, ioc_attr },
};

/* Only known operations: for others the kernel might take a number for an address. */
static PyObject *ioc(PyObject *module, PyObject *args, PyObject *kw)
{
	KEYWORDS("fd", "op", "arg");
	struct state *st = PyModule_GetState(module);
	PyObject *file, *arg = NULL;
	unsigned long op;
	int fd;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "Ok|O:ioc", keywords, &file, &op, &arg))
		return NULL;
	fd = PyObject_AsFileDescriptor(file);
	if (fd < 0)
		return NULL;
	if (op == PERF_EVENT_IOC_SET_FILTER && arg && PyUnicode_Check(arg) &&
	    PyObject_TypeCheck(file, (PyTypeObject *)st->event_type))
		return ioc_filter_of_event(file, arg);
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (operations[i].op == op)
			return operations[i].run(st, fd, op, arg == Py_None ? NULL : arg);
	return PyErr_Format(PyExc_ValueError, "%lu is not a PERF_EVENT_IOC_ operation", op);
}

/* ---- prctl ------------------------------------------------------------------------ */

static PyObject *prctl_(PyObject *module, PyObject *arg)
{
	long op = PyLong_AsLong(arg);

	if (op == -1 && PyErr_Occurred())
		return NULL;
	if (op != PR_TASK_PERF_EVENTS_ENABLE && op != PR_TASK_PERF_EVENTS_DISABLE)
		return PyErr_Format(PyExc_ValueError, "prctl() takes PR_TASK_PERF_EVENTS_ENABLE (%d) or "
				    "PR_TASK_PERF_EVENTS_DISABLE (%d), not %ld", PR_TASK_PERF_EVENTS_ENABLE,
				    PR_TASK_PERF_EVENTS_DISABLE, op);
	return none_or_error(PyModule_GetState(module),
			     op == PR_TASK_PERF_EVENTS_ENABLE ? pev_tasks_enable() : pev_tasks_disable(),
			     "prctl");
}

PyMethodDef call_methods[] = {
	{ "perf_event_open", (PyCFunction)(void (*)(void))perf_event_open_,
	  METH_VARARGS | METH_KEYWORDS,
	  "perf_event_open(attr, pid=0, cpu=-1, group_fd=-1, flags=0)\n--\n\n"
	  "perf_event_open(2): opens an event and returns its descriptor, which os.read() reads\n"
	  "and os.close() closes.\n\n"
	  "  pid       0 the calling thread, > 0 that thread, -1 all tasks (then give a cpu)\n"
	  "  cpu       -1 all (then give a pid), else that one\n"
	  "  group_fd  descriptor of the group's leader, -1 for none\n"
	  "  flags     PERF_FLAG_*; PERF_FLAG_FD_CLOEXEC is always added\n\n"
	  "Raises Error with what is wrong and what to do." },
	{ "ioc", (PyCFunction)(void (*)(void))ioc, METH_VARARGS | METH_KEYWORDS,
	  "ioc(fd, op, arg=0)\n--\n\n"
	  "ioctl(2) of an event's descriptor (or of what has a fileno()). op and arg are:\n\n"
	  "  PERF_EVENT_IOC_ENABLE, DISABLE, RESET      0, or PERF_IOC_FLAG_GROUP for the group; of\n"
	  "                                    clocks and other software events together, open only the\n"
	  "                                    leader disabled, and enable it alone (docs/pyperf.md)\n"
	  "  PERF_EVENT_IOC_REFRESH            overflows until it is disabled again\n"
	  "  PERF_EVENT_IOC_PERIOD             the new period, or the frequency of an event with attr.freq;\n"
	  "                                    of cpu-clock and task-clock always a period\n"
	  "  PERF_EVENT_IOC_SET_OUTPUT         descriptor of the event whose ring to use, or -1\n"
	  "  PERF_EVENT_IOC_SET_FILTER         text\n"
	  "  PERF_EVENT_IOC_ID                 none; returns the id\n"
	  "  PERF_EVENT_IOC_SET_BPF            descriptor of a BPF program\n"
	  "  PERF_EVENT_IOC_PAUSE_OUTPUT       1 or 0\n"
	  "  PERF_EVENT_IOC_QUERY_BPF          none; returns the ids of the BPF programs\n"
	  "  PERF_EVENT_IOC_MODIFY_ATTRIBUTES  a perf_event_attr" },
	{ "prctl", prctl_, METH_O,
	  "prctl(op)\n--\n\n"
	  "prctl(2) with PR_TASK_PERF_EVENTS_ENABLE or PR_TASK_PERF_EVENTS_DISABLE: all events\n"
	  "that the calling thread has opened." },
	{ NULL },
};
