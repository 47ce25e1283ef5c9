/* SPDX-License-Identifier: Apache-2.0 */
#include "script/sampletext.h"

#include "base/escape.h"
#include "script/host.h"
#include "script/sampleparts.h"

#include <inttypes.h>

static size_t clip(int n, size_t size)
{
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

/* ---- an address by its name --------------------------------------------------- */

/* A frame of one address, in the space that the sample was taken in. */
static PyObject *frame_of(struct perf_event *e, uint64_t ip)
{
	const struct layout *l = &e->cls->event->layout;
	bool user = (e->rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	uint64_t ips[2] = { user ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL, ip };
	PyObject *list = host_frames(e->cls->host, ips, 2, (pid_t)layout_u32(e->rec, l->tid),
				     event_time(e));
	PyObject *frame = list && PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, 0) : NULL;

	Py_XINCREF(frame);
	Py_XDECREF(list);
	PyErr_Clear();
	return frame;
}

static size_t word_of(PyObject *frame, const char *key, char *buf, size_t size)
{
	const char *text = frame ? PyUnicode_AsUTF8(PyDict_GetItemString(frame, key)) : NULL;

	PyErr_Clear();
	return escape_terminal(text ? text : "Unknown", strlen(text ? text : "Unknown"), buf, size);
}

static size_t symbol_text(struct perf_event *e, uint64_t ip, char *buf, size_t size)
{
	PyObject *frame = frame_of(e, ip);
	unsigned long long offset = 0;
	char symbol[512], dso[384];

	word_of(frame, "symbol", symbol, sizeof(symbol));
	word_of(frame, "dso", dso, sizeof(dso));
	if (frame)
		offset = PyLong_AsUnsignedLongLong(PyDict_GetItemString(frame, "offset"));
	Py_XDECREF(frame);
	PyErr_Clear();
	return clip(snprintf(buf, size, "%s+0x%llx (%s)", symbol, offset, dso), size);
}

/* ---- shapes ------------------------------------------------------------------- */

static size_t period_text(struct perf_event *e, char *buf, size_t size)
{
	const struct layout *l = &e->cls->event->layout;
	const struct stream_event *event = e->cls->event;

	return clip(snprintf(buf, size, "%s: %" PRIu64 " %s", event->name,
			     l->period ? layout_u64(e->rec, l->period) : 1, event->sampling->what), size);
}

static size_t fault_text(struct perf_event *e, char *buf, size_t size)
{
	const struct layout *l = &e->cls->event->layout;
	uint64_t ip = layout_u64(e->rec, l->ip);
	size_t n = clip(snprintf(buf, size, "%16" PRIx64 " %16" PRIx64 " ", layout_u64(e->rec, l->addr),
				 ip), size);

	return n + symbol_text(e, ip, buf + n, size - n);
}

static size_t (*const shapes[])(struct perf_event *e, char *buf, size_t size) = {
	[SHAPE_PERIOD] = period_text,
	[SHAPE_FAULT] = fault_text,
};

size_t sample_text(struct perf_event *e, char *buf, size_t size)
{
	return shapes[e->cls->event->sampling->shape](e, buf, size);
}

/* ---- registers ---------------------------------------------------------------- */

enum { PER_LINE = 4 };

size_t sample_registers_text(const struct perf_event *e, char *buf, size_t size)
{
	const struct pev_format *fmt = &e->cls->event->sampling->format;
	const struct pev_regs *regs;
	struct pev_record rec;
	unsigned int shown = 0;
	uint64_t value;
	size_t n = 0;

	buf[0] = '\0';
	if (pev_decode(e->rec, e->rec->size, fmt, &rec))
		return 0;
	regs = rec.sample.regs_intr.values ? &rec.sample.regs_intr : &rec.sample.regs_user;
	for (unsigned int i = 0; regs->values && i < 64; i++) {
		char name[16];

		if (!pev_regs_value(regs, i, &value))
			continue;
		sample_register_name(fmt, regs->abi, i, name, sizeof(name));
		n += clip(snprintf(buf + n, size - n, "%s%6s 0x%016" PRIx64,
				   shown % PER_LINE ? " " : shown ? "\n    " : "    ", name, value), size - n);
		shown++;
	}
	return n + (n ? clip(snprintf(buf + n, size - n, "\n"), size - n) : 0);
}
