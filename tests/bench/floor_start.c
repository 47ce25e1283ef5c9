/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_start - the least program that shows Python functions the first event.
 *
 * Starts an interpreter, compiles a script, opens syscalls:sys_enter_getppid on every CPU with a
 * ring, waits for a sample and calls a function of the script. Prints "init NS" before it
 * opens the events and "event NS" for the sample, both as CLOCK_MONOTONIC, by Python's print().
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <perfevent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_CPUS = 512, RING_PAGES = 2048, PATIENCE_MS = 30000 };

static const char script[] = "import time\n"
			     "def show(what):\n"
			     "    print(what, time.monotonic_ns(), flush=True)\n";

static void die(const char *what, const struct pev_error *err)
{
	char text[1200] = "";

	if (err)
		pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "floor_start: %s %s\n", what, text);
	exit(1);
}

static int open_rings(struct pev_ring **rings, struct pollfd *fds)
{
	struct pev_error err = { 0 };
	struct perf_event_attr attr;
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int n = 0;

	if (pev_attr_tracepoint(&attr, "syscalls", "sys_enter_getppid", &err))
		die("", &err);
	pev_attr_sample_period(&attr, 1);
	attr.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD;
	pev_attr_wakeup_watermark(&attr, 1);
	for (int cpu = 0; cpu < cpus && n < MAX_CPUS; cpu++) {
		struct pev_event *ev;

		if (pev_event_open(&ev, &attr, pev_target_cpu(cpu), NULL, &err))
			continue;   /* offline */
		if (pev_ring_map(&rings[n], ev, RING_PAGES, &err))
			die("", &err);
		fds[n++] = (struct pollfd){ pev_event_fd(ev), POLLIN, 0 };
	}
	if (!n)
		die("", &err);
	return n;
}

static bool has_sample(struct pev_ring *ring)
{
	const struct perf_event_header *rec;
	bool found = false;

	pev_ring_begin(ring);
	while (!found && (rec = pev_ring_next(ring)))
		found = rec->type == PERF_RECORD_SAMPLE;
	pev_ring_end(ring);
	return found;
}

static bool wait_for_sample(struct pev_ring **rings, struct pollfd *fds, int n)
{
	while (poll(fds, (nfds_t)n, PATIENCE_MS) > 0)
		for (int i = 0; i < n; i++)
			if (has_sample(rings[i]))
				return true;
	return false;
}

static void show(PyObject *names, const char *what)
{
	PyObject *rc = PyObject_CallFunction(PyDict_GetItemString(names, "show"), "s", what);

	if (!rc) {
		PyErr_Print();
		exit(1);
	}
	Py_DECREF(rc);
}

int main(void)
{
	static struct pev_ring *rings[MAX_CPUS];
	static struct pollfd fds[MAX_CPUS];
	PyObject *names;
	int n;

	Py_InitializeEx(0);
	names = PyDict_New();
	PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
	if (!PyRun_String(script, Py_file_input, names, names))
		die("its script does not run", NULL);
	show(names, "init");
	n = open_rings(rings, fds);
	if (!wait_for_sample(rings, fds, n))
		die("no sample came", NULL);
	show(names, "event");
	_exit(0);   /* as for who is measured, closing events is not part of it */
}
