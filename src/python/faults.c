/* SPDX-License-Identifier: Apache-2.0 */
/* Faults as exceptions. */
#include "python/session.h"

#include "tasks/workload.h"

#include <errno.h>
#include <perfevent.h>
#include <stdio.h>
#include <string.h>

static PyObject *kind_of(const struct fault *f, int *error)
{
	*error = f->error;
	if (f->exit_code == WORKLOAD_MISSING)
		*error = ENOENT;
	else if (f->exit_code == WORKLOAD_REFUSED)
		*error = EACCES;
	if (*error)
		return PyExc_OSError;   /* makes a PermissionError of EACCES, and so on */
	return f->exit_code == EXIT_USAGE ? PyExc_ValueError : PyExc_RuntimeError;
}

/* Options whose parameters have another name. */
static const struct {
	const char *option, *parameter;
} renamed[] = { { "mmap-pages", "ring" }, { "cgroups", "cgroup" }, { "call-graph", "callchains" }, { "event", "events" } };

/* "--pids x: ..." is about the parameter pids=. */
static void as_parameter(const char *text, char *out, size_t size)
{
	size_t len = strcspn(text, " ");
	const char *name = text + 2;

	if (strncmp(text, "--", 2) || !text[len]) {
		snprintf(out, size, "%s", text);
		return;
	}
	len -= 2;
	for (size_t i = 0; i < sizeof(renamed) / sizeof(*renamed); i++)
		if (strlen(renamed[i].option) == len && !strncmp(name, renamed[i].option, len))
			name = renamed[i].parameter;
	snprintf(out, size, "%.*s=%s", (int)strcspn(name, " "), name, text + 2 + len + 1);
}

/* Options within a message, and how a program says the same. */
static const struct {
	const char *words, *here;
} spoken[] = {
	{ "-p PID, or -- COMMAND without -a and -C", "pids=PID, or command=[...] without cpus" }, { "-p PID", "pids=PID" },
};

static void as_arguments(char *text, size_t size)
{
	char rest[sizeof(((struct fault *)NULL)->text)];

	for (size_t i = 0; i < sizeof(spoken) / sizeof(*spoken); i++) {
		char *at = strstr(text, spoken[i].words);

		if (!at)
			continue;
		snprintf(rest, sizeof(rest), "%s", at + strlen(spoken[i].words));
		snprintf(at, size - (size_t)(at - text), "%s%s", spoken[i].here, rest);
	}
}

/* Whether this process may sample its own user space: tried, because kernels differ in their levels. */
static bool may_sample_itself(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = 1000000000,
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	struct pev_event *ev;

	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, NULL))
		return false;
	pev_event_close(ev);
	return true;
}

void fault_say_what_works(struct fault *f)
{
	size_t n;

	as_arguments(f->text, sizeof(f->text));
	n = strlen(f->text);
	if ((f->error != EACCES && f->error != EPERM) || strstr(f->text, "needs no privilege"))
		return;
	snprintf(f->text + n, sizeof(f->text) - n, "; what needs no privilege: %srecordings (perf_prof.open())",
		 may_sample_itself() ? "cpu-clock and page-faults of your own processes, in user space (pids=PID), and " : "");
}

PyObject *fault_raise(const struct fault *f)
{
	char text[sizeof(f->text)];
	PyObject *message, *args;
	int error;
	PyObject *kind = kind_of(f, &error);

	as_parameter(f->text, text, sizeof(text));
	if (!error && !strcmp(text, "out of memory"))
		return PyErr_NoMemory();
	message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
	args = !message ? NULL : error ? Py_BuildValue("(iO)", error, message) : PyTuple_Pack(1, message);
	if (args)
		PyErr_SetObject(kind, args);
	Py_XDECREF(message);
	Py_XDECREF(args);
	return NULL;
}
