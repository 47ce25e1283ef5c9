/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Python with one more module: sample_feed.event() makes a PerfEvent of bytes that no
 * kernel wrote, by the code that makes one of each sample. For the parts of samples that
 * the machine can't take, and for bytes that lie.
 */
#include "python/host.h"

#include "stream/state/state.h"

enum { CPU = 3 };

struct feed {
	struct stream stream;
	struct stream_sampling sampling;
	struct stream_event event;
	struct event_class cls;
	uint64_t bytes[8192];
};

static struct host host;

static int open_host(void)
{
	struct symbolizer_opts none = { 0 };
	struct frames_opts opts = { 0 };
	PyObject *module = PyImport_ImportModule("perf_prof");

	if (host.event_type || !module)
		return module ? 0 : -1;
	host.event_type = (PyTypeObject *)PyObject_GetAttrString(module, "PerfEvent");
	host.frame_type = (PyTypeObject *)PyObject_GetAttrString(module, "Frame");
	host.names.comms = comms_new(NULL);
	opts.symbolizer = symbolizer_new(&none);
	opts.type = host.frame_type;
	host.frames = frames_new(&opts);
	return host.event_type && host.names.comms && host.frames ? 0 : -1;
}

/* What opening an event would have set. */
static void fill_event(struct feed *f)
{
	struct perf_event_attr *a = &f->sampling.attr.attr;

	layout_from_format(&f->event.layout, a->sample_type, a->read_format);
	pev_format_from_attr(&f->sampling.format, a);
	f->sampling.decode = true;
	f->sampling.what = "recorded";
	f->event.name = f->event.word = "recorded";
	f->event.sampling = &f->sampling;
	f->event.callchain = f->event.layout.callchain;
	host.stream = &f->stream;
}

static PyObject *make_event(struct feed *f)
{
	struct perf_event *e;

	if (!stream_sample_fits(&f->event, (const struct perf_event_header *)f->bytes))
		Py_RETURN_NONE;
	if (event_class_init(&f->cls, &f->event, &host, host.event_type, true))
		return NULL;
	e = event_new(host.event_type);
	if (!e)
		return NULL;
	e->cls = &f->cls;
	e->rec = (const struct perf_event_header *)f->bytes;
	e->raw = NULL;
	e->raw_size = 0;
	e->cpu = CPU;
	return (PyObject *)e;
}

/* All that is made stays until the end. */
static PyObject *event(PyObject *module, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "record", "sample_type", "read_format", "branch_sample_type",
				 "regs_user", "regs_intr", "arch", NULL };
	struct feed *f = calloc(1, sizeof(*f));
	unsigned long long type, read = 0, branch = 0, user = 0, intr = 0;
	const char *record;
	Py_ssize_t size;
	int arch = 0;

	if (!f || open_host() ||
	    !PyArg_ParseTupleAndKeywords(args, kwargs, "y#K|KKKKi", names, &record, &size, &type, &read,
					 &branch, &user, &intr, &arch))
		return PyErr_Occurred() ? NULL : PyErr_NoMemory();
	if (size < 8 || (size_t)size > sizeof(f->bytes))
		return PyErr_Format(PyExc_ValueError, "no record has %zd bytes", size);
	memcpy(f->bytes, record, (size_t)size);
	/* a ring never hands out more than its bytes: the header's size is checked before */
	if (((struct perf_event_header *)f->bytes)->size > size)
		return PyErr_Format(PyExc_ValueError, "the ring drops such a record");
	f->sampling.attr.attr.sample_type = type;
	f->sampling.attr.attr.read_format = read;
	f->sampling.attr.attr.branch_sample_type = branch;
	f->sampling.attr.attr.sample_regs_user = user;
	f->sampling.attr.attr.sample_regs_intr = intr;
	fill_event(f);
	f->sampling.format.arch = (uint8_t)arch;
	return make_event(f);
}

static PyMethodDef methods[] = {
	{ "event", (PyCFunction)(void (*)(void))event, METH_VARARGS | METH_KEYWORDS, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef def = {
	PyModuleDef_HEAD_INIT, .m_name = "sample_feed", .m_methods = methods,
};

static PyObject *init(void)
{
	return PyModule_Create(&def);
}

int main(int argc, char **argv)
{
	PyImport_AppendInittab("perf_prof", PyInit_perf_prof);
	PyImport_AppendInittab("sample_feed", init);
	return Py_BytesMain(argc, argv);
}
