/* SPDX-License-Identifier: Apache-2.0 */
/* _callchain: a fresh list of cached frames. */
#include "script/host.h"

#include "base/note.h"

#include <fcntl.h>
#include <unistd.h>

enum { MAX_FRAMES = 200000 };

static PyObject *make_frame(struct host *h, uint64_t ip, bool kernel)
{
	struct kernel_symbol sym;
	const char *dso = kernel ? "[kernel.kallsyms]" : "[unknown]";

	if (kernel && h->kallsyms && !kallsyms_find(h->kallsyms, ip, &sym))
		return Py_BuildValue("{s:K,s:s,s:K,s:O,s:s}", "addr", (unsigned long long)ip,
				     "symbol", sym.name, "offset",
				     (unsigned long long)(ip - sym.start), "kernel", Py_True, "dso",
				     sym.dso);
	return Py_BuildValue("{s:K,s:s,s:i,s:O,s:s}", "addr", (unsigned long long)ip, "symbol",
			     "Unknown", "offset", 0, "kernel", kernel ? Py_True : Py_False, "dso",
			     dso);
}

static PyObject *cached_frame(struct host *h, uint64_t ip, bool kernel)
{
	PyObject *key = PyLong_FromUnsignedLongLong(ip), *frame;

	if (!key)
		return NULL;
	frame = PyDict_GetItemWithError(h->frames, key);
	Py_XINCREF(frame);
	if (!frame && !PyErr_Occurred()) {
		if (PyDict_Size(h->frames) > MAX_FRAMES)
			PyDict_Clear(h->frames);
		frame = make_frame(h, ip, kernel);
		if (frame && PyDict_SetItem(h->frames, key, frame))
			Py_CLEAR(frame);
	}
	Py_DECREF(key);
	return frame;
}

static int append_frame(PyObject *list, PyObject *frame)
{
	int rc = frame ? PyList_Append(list, frame) : -1;

	Py_XDECREF(frame);
	return rc;
}

PyObject *host_callchain(struct host *h, const struct perf_event *e)
{
	uint64_t nr = 0;
	const uint64_t *ips = layout_callchain(&e->cls->event->layout, e->rec, &nr);
	PyObject *list = PyList_New(0);
	bool kernel = true;

	for (uint64_t i = 0; list && ips && i < nr; i++) {
		if (ips[i] >= (uint64_t)PERF_CONTEXT_MAX) {   /* a marker, not an address */
			kernel = ips[i] == (uint64_t)PERF_CONTEXT_KERNEL ||
				 ips[i] == (uint64_t)PERF_CONTEXT_HV;
			continue;
		}
		if (append_frame(list, cached_frame(h, ips[i], kernel)))
			Py_CLEAR(list);
	}
	return list;
}

void host_load_kernel_symbols(struct host *h, int verbose)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	h->kallsyms = kallsyms_read(fd);
	if (fd >= 0)
		close(fd);
	if (!h->kallsyms)
		note(verbose, "kernel functions have no names: /proc/kallsyms hides their addresses from "
		     "this user; CAP_SYSLOG or sysctl kernel.kptr_restrict=0 shows them");
}
