/* SPDX-License-Identifier: Apache-2.0 */
#include "script/host.h"

#include "base/nearest.h"
#include "perfevent.h"
#include "script/template.h"

#include "loader_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

/* ---- the interpreter ------------------------------------------------------ */

/* Undropped root takes no code from a path that the environment names. */
static bool trusts_environment(void)
{
	return geteuid() != 0;
}

static PyStatus choose_python(PyConfig *config, const struct host_script *script)
{
	const char *venv = script->venv;
	char python[4096] = PYTHON_BIN;

	if (!venv && trusts_environment())
		venv = getenv("VIRTUAL_ENV");
	if (venv && *venv)
		snprintf(python, sizeof(python), "%s/bin/python3", venv);
	return PyConfig_SetBytesString(config, &config->program_name, python);
}

static int start_interpreter(const struct host_script *script, struct fault *f)
{
	PyConfig config;
	PyStatus status;

	PyImport_AppendInittab("perf_prof", PyInit_perf_prof);
	PyConfig_InitPythonConfig(&config);
	config.install_signal_handlers = 0;
	config.parse_argv = 0;
	config.use_environment = trusts_environment();
	config.user_site_directory = trusts_environment();
	status = choose_python(&config, script);
	if (!PyStatus_Exception(status))
		status = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	if (PyStatus_Exception(status))
		return fault_set(f, EXIT_FAILED, "Python (%s) can't be started: %s", PYTHON_BIN,
				 status.err_msg ? status.err_msg : "unknown reason");
	return 0;
}

/* The watchdog's interrupt() works through Python's own SIGINT handler, which has to be
 * known to the interpreter; the process's handler is then replaced by the loop's. */
static int teach_keyboard_interrupt(void)
{
	PyObject *module = PyImport_ImportModule("signal"), *handler = NULL, *rc = NULL;

	if (module)
		handler = PyObject_GetAttrString(module, "default_int_handler");
	if (handler)
		rc = PyObject_CallMethod(module, "signal", "iO", SIGINT, handler);
	Py_XDECREF(module);
	Py_XDECREF(handler);
	Py_XDECREF(rc);
	return rc ? 0 : -1;
}

/* ---- output that fails ---------------------------------------------------- */

/* Whether sys.stdout can't be written any more: its flush() raises. */
static bool output_is_broken(struct host *h)
{
	struct pollfd p = { .fd = STDOUT_FILENO };
	PyObject *rc = PyObject_CallMethod(h->loader, "flush", NULL);

	if (rc) {
		Py_DECREF(rc);
		/* the failed write may have emptied the buffer: ask the pipe itself */
		return poll(&p, 1, 0) == 1 && p.revents & POLLERR;
	}
	PyErr_Clear();
	return true;
}

static void stop_broken_output(struct host *h, int error)
{
	if (!h->output_error)
		h->output_error = error ? error : EIO;
	if (h->stream)
		stream_stop(h->stream);
}

static int os_error_number(void)
{
	PyObject *type, *value, *traceback, *number = NULL;
	int n = 0;

	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	if (value)
		number = PyObject_GetAttrString(value, "errno");
	if (number && PyLong_Check(number))
		n = (int)PyLong_AsLong(number);
	PyErr_Clear();
	Py_XDECREF(number);
	PyErr_Restore(type, value, traceback);
	return n;
}

/* Whether the current OSError comes from sys.stdout itself; takes it if so. */
static bool take_broken_output(struct host *h)
{
	PyObject *type, *value, *traceback;
	int error;

	if (!h->loader || !PyErr_ExceptionMatches(PyExc_OSError))
		return false;
	error = os_error_number();
	PyErr_Fetch(&type, &value, &traceback);
	if (!output_is_broken(h)) {
		PyErr_Restore(type, value, traceback);
		return false;
	}
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
	stop_broken_output(h, error);
	return true;
}

/* ---- loading -------------------------------------------------------------- */

static PyObject *import_loader(void)
{
	PyObject *code = Py_CompileString(loader_source, "<perf-prof loader>", Py_file_input);
	PyObject *module;

	if (!code)
		return NULL;
	module = PyImport_ExecCodeModule("_perf_prof_loader", code);
	Py_DECREF(code);
	return module;
}

static PyObject *argument_list(const struct host_script *script)
{
	PyObject *list = PyList_New(script->argc);

	for (int i = 0; list && i < script->argc; i++) {
		PyObject *s = PyUnicode_DecodeFSDefault(script->argv[i]);

		if (!s)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, i, s);
	}
	return list;
}

/* The exit code a SystemExit asks for; clears it. What is no number is printed. */
static int take_system_exit(void)
{
	PyObject *type, *value, *traceback, *code = NULL;
	int rc = EXIT_FAILED;

	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	if (value)
		code = PyObject_GetAttrString(value, "code");
	if (!code || code == Py_None)
		rc = 0;
	else if (PyLong_Check(code))
		rc = (int)(PyLong_AsLong(code) & 0xff);
	else
		PySys_FormatStderr("%S\n", code);
	PyErr_Clear();
	Py_XDECREF(code);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
	return rc;
}

/* Takes the current exception as the fault's text, if it is the loader's own. */
static bool take_load_error(PyObject *loader, struct fault *f)
{
	PyObject *type, *value, *traceback, *error, *text = NULL;
	bool is;

	PyErr_Fetch(&type, &value, &traceback);
	error = PyObject_GetAttrString(loader, "LoadError");
	is = error && PyErr_GivenExceptionMatches(type, error);
	if (is) {
		text = PyObject_Str(value);
		fault_usage(f, "%s", text ? PyUnicode_AsUTF8(text) : "the script can't be found");
	}
	Py_XDECREF(error);
	Py_XDECREF(text);
	PyErr_Restore(type, value, traceback);
	if (is)
		PyErr_Clear();
	return is;
}

static int interrupted(struct fault *f)
{
	PyErr_Clear();
	return fault_set(f, EXIT_SECOND_SIGINT, "interrupted while the script was being set up; "
			 "nothing was traced");
}

static int load_failed(struct host *h, PyObject *loader, const char *module, struct fault *f)
{
	if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
		h->exit_requested = true;
		h->exit_code = take_system_exit();
		return -1;
	}
	if (loader && take_load_error(loader, f))
		return -1;
	if (take_broken_output(h))
		return -1;
	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
		return interrupted(f);
	PyErr_Print();
	return fault_set(f, EXIT_FAILED, "%s could not be loaded: its exception stands above; "
			 "nothing was traced", module);
}

static int load_script(struct host *h, const struct host_script *script, struct fault *f)
{
	PyObject *loader = import_loader(), *argv = NULL, *name = NULL;
	int rc = 0;

	if (loader)
		argv = argument_list(script);
	if (argv)
		name = PyUnicode_DecodeFSDefault(script->module);
	h->loader = loader;
	if (name)
		h->module = PyObject_CallMethod(loader, "load", "OO", name, argv);
	if (!h->module)
		rc = load_failed(h, loader, script->module, f);
	else
		h->namespace = PyModule_GetDict(h->module);
	Py_XDECREF(argv);
	Py_XDECREF(name);
	return rc;
}

static int fetch_types(struct host *h)
{
	PyObject *module = PyImport_ImportModule("perf_prof");

	if (module)
		h->event_type = (PyTypeObject *)PyObject_GetAttrString(module, "PerfEvent");
	if (h->event_type)
		h->frame_type = (PyTypeObject *)PyObject_GetAttrString(module, "Frame");
	Py_XDECREF(module);
	return h->frame_type ? 0 : -1;
}

int host_start(struct host *h, const struct host_script *script, struct fault *f)
{
	if (start_interpreter(script, f))
		return -1;
	h->started = true;
	if (teach_keyboard_interrupt() || fetch_types(h)) {
		PyErr_Print();
		return fault_set(f, EXIT_FAILED, "Python could not be set up");
	}
	return load_script(h, script, f);
}

/* What can't be written any more is not tried again, with another complaint, by the
 * interpreter's last flush. */
static void drop_output(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	dup2(fd, STDOUT_FILENO);
	close(fd);
}

void host_finish(struct host *h)
{
	if (!h->started)
		return;
	Py_CLEAR(h->on_sample);
	Py_CLEAR(h->on_lost);
	Py_CLEAR(h->on_interval);
	Py_CLEAR(h->on_print_stat);
	Py_CLEAR(h->on_exit);
	Py_CLEAR(h->event);
	if (h->output_error)
		drop_output();
	/* atexit functions may still look at events: classes live until after it */
	if (Py_FinalizeEx() < 0 && !h->exit_code)
		h->exit_code = EXIT_FAILED;
	h->started = false;
	host_close_names(h);
}

/* ---- handlers ------------------------------------------------------------- */

/* The script's function of that name, or NULL (no exception). */
static PyObject *function(struct host *h, const char *name)
{
	PyObject *f = PyDict_GetItemString(h->namespace, name);

	if (!f || !PyCallable_Check(f))
		return NULL;
	Py_INCREF(f);
	return f;
}

/* The function of the script that is most likely meant for `handler`: a slip of the pen
 * would otherwise look like an event that never happens. */
static bool near_function(struct host *h, const char *handler, char *buf, size_t size)
{
	PyObject *key, *value;
	struct nearest n;
	Py_ssize_t i = 0;

	nearest_begin(&n, handler);
	while (PyDict_Next(h->namespace, &i, &key, &value)) {
		const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;

		if (!name)
			PyErr_Clear();
		else if (PyFunction_Check(value) && strcmp(name, handler))
			nearest_offer(&n, name);
	}
	if (!nearest_get(&n))
		return false;
	snprintf(buf, size, "%s", nearest_get(&n));
	return true;
}

static int no_handler(struct host *h, const struct stream_event *events, size_t n, struct fault *f)
{
	char name[256], near[128], names[1024] = "";
	size_t len = 0;

	for (size_t i = 0; i < n && i < 8; i++) {
		template_handler_name(events[i].name, name, sizeof(name));
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s %s(event)", i ? "," : "",
					name);
		if (near_function(h, name, near, sizeof(near)))
			return fault_usage(f, "the script has no handler for any event; its function %s() "
					   "is not called: did you mean %s()?", near, name);
	}
	return fault_usage(f, "the script has no handler for any event; define __sample__(event) or%s%s",
			   names, n > 8 ? ", ..." : "");
}

/* Whether a function's name is that of a handler of some event. */
static bool event_has_function(const struct host *h, const char *function_name)
{
	char name[256];

	for (size_t i = 0; i < h->nclasses; i++) {
		template_handler_name(h->classes[i].event->name, name, sizeof(name));
		if (!strcmp(name, function_name))
			return true;
	}
	return false;
}

/* One of several events without a handler may be meant so; a near miss is not. */
static void warn_unhandled(struct host *h, const struct stream_event *event)
{
	char name[256], near[128];

	template_handler_name(event->name, name, sizeof(name));
	if (near_function(h, name, near, sizeof(near)) && !event_has_function(h, near))
		fprintf(stderr, "perf-prof: %s has no handler and stays off; its function %s() is not "
			"called: did you mean %s()?\n", event->name, near, name);
}

int host_attach(struct host *h, struct stream *stream, struct fault *f)
{
	struct stream_event *events = stream_events(stream, &h->nclasses);
	size_t handled = 0;
	char name[256];

	h->stream = stream;
	h->on_sample = function(h, "__sample__");
	h->on_lost = function(h, "__lost__");
	h->on_interval = function(h, "__interval__");
	h->on_print_stat = function(h, "__print_stat__");
	h->on_exit = function(h, "__exit__");
	h->classes = calloc(h->nclasses, sizeof(*h->classes));
	h->event = event_new(h->event_type);
	h->comms = comms_new(&opener_direct);
	if (!h->classes || !h->event || !h->comms)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < h->nclasses; i++) {
		struct event_class *cls = &h->classes[i];

		if (event_class_init(cls, &events[i], h, h->event_type)) {
			PyErr_Print();
			return fault_set(f, EXIT_FAILED, "%s: out of memory", events[i].name);
		}
		template_handler_name(events[i].name, name, sizeof(name));
		cls->handler = function(h, name);
		if (!cls->handler && h->on_sample)
			cls->handler = (Py_INCREF(h->on_sample), h->on_sample);
		if (cls->handler)
			cls->call = PyVectorcall_Function(cls->handler);
		if (!cls->call)
			cls->call = PyObject_Vectorcall;
		events[i].consumer = cls;
		events[i].wanted = cls->handler != NULL;
		handled += events[i].wanted;
	}
	if (!handled && !h->on_interval)
		return no_handler(h, events, h->nclasses, f);
	for (size_t i = 0; i < h->nclasses; i++)
		if (!events[i].wanted)
			warn_unhandled(h, &events[i]);
	return 0;
}

/* ---- calls ------------------------------------------------------------------ */

/* An exception left a function of the script. */
static void call_failed(struct host *h, const char *where)
{
	if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
		h->exit_requested = true;
		h->exit_code = take_system_exit();
		stream_stop(h->stream);
		return;
	}
	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
		PyErr_Clear();   /* the watchdog's: the stop is under way */
		return;
	}
	if (take_broken_output(h))
		return;
	trouble_take(&h->trouble, where);
}

static void call(struct host *h, PyObject *f, const char *where, PyObject *const *args, size_t n)
{
	PyObject *rc;

	if (!f)
		return;
	rc = PyObject_Vectorcall(f, args, n, NULL);
	if (rc)
		Py_DECREF(rc);
	else
		call_failed(h, where);
}

int host_init(struct host *h, struct fault *f)
{
	PyObject *init = function(h, "__init__"), *rc;

	if (!init)
		return 0;
	rc = PyObject_CallNoArgs(init);
	Py_DECREF(init);
	if (rc) {
		Py_DECREF(rc);
		return 0;
	}
	if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
		h->exit_requested = true;
		h->exit_code = take_system_exit();
		return -1;
	}
	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
		return interrupted(f);
	PyErr_Print();
	return fault_set(f, EXIT_FAILED, "__init__() raised the exception above: a script whose "
			 "set-up failed does not run; nothing was traced");
}

void host_exit(struct host *h)
{
	/* an interrupt that came just before delivery ended is not for __exit__() */
	if (PyErr_CheckSignals())
		PyErr_Clear();
	call(h, h->on_exit, "__exit__", NULL, 0);
	trouble_summary(&h->trouble);
	host_idle(h);
}

/* The hot path: no allocation unless the script kept the event before. */
void host_sample(void *ctx, const struct stream_event *event, const struct perf_event_header *rec,
		 const void *raw, uint32_t raw_size, uint32_t cpu)
{
	struct host *h = ctx;
	struct event_class *cls = event->consumer;
	struct perf_event *e = h->event;
	PyObject *args[2] = { NULL, (PyObject *)e }, *rc;

	e->cls = cls;
	e->rec = rec;
	e->raw = raw;
	e->raw_size = raw_size;
	e->cpu = cpu;
	rc = cls->call(cls->handler, args + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
	if (__builtin_expect(rc != NULL, 1))
		Py_DECREF(rc);
	else
		call_failed(h, event->name);
	if (__builtin_expect(event_is_kept(e), 0))
		host_replace_event(h);
}

void host_replace_event(struct host *h)
{
	struct perf_event *fresh = event_new(h->event_type);

	if (!fresh || event_keep(h->event)) {
		PyErr_Clear();
		Py_FatalError("perf-prof: out of memory for an event that the script keeps");
	}
	Py_DECREF(h->event);
	h->event = fresh;
}

/* 0 stays 0: not known. */
static PyObject *loss_time(struct host *h, uint64_t time)
{
	return PyLong_FromUnsignedLongLong(time ? stream_time(h->stream, time) : 0);
}

void host_lost(void *ctx, const struct stream_loss *loss)
{
	struct host *h = ctx;
	PyObject *args[2];

	if (!h->on_lost)
		return;
	args[0] = loss_time(h, loss->start);
	args[1] = loss_time(h, loss->end);
	if (args[0] && args[1])
		call(h, h->on_lost, "__lost__", args, 2);
	Py_XDECREF(args[0]);
	Py_XDECREF(args[1]);
}

void host_interval(void *ctx)
{
	struct host *h = ctx;

	call(h, h->on_interval, "__interval__", NULL, 0);
	host_idle(h);
}

enum { STAT_INDENT = 4 };

void host_print_stat(void *ctx)
{
	struct host *h = ctx;
	struct stream_totals t;
	PyObject *indent = PyLong_FromLong(STAT_INDENT);

	stream_totals(h->stream, &t);
	PySys_WriteStdout("python: events %llu lost %llu malformed %llu exceptions %llu ring KiB %llu\n",
			  (unsigned long long)t.delivered, (unsigned long long)t.lost,
			  (unsigned long long)t.malformed, (unsigned long long)h->trouble.count,
			  (unsigned long long)t.ring_bytes >> 10);
	if (indent)
		call(h, h->on_print_stat, "__print_stat__", &indent, 1);
	Py_XDECREF(indent);
	host_idle(h);
}

/* What the script printed is seen now, not when a buffer is full. */
void host_idle(void *ctx)
{
	struct host *h = ctx;
	PyObject *rc = PyObject_CallMethod(h->loader, "flush", NULL);

	if (rc) {
		Py_DECREF(rc);
		return;
	}
	if (PyErr_ExceptionMatches(PyExc_OSError)) {
		int error = os_error_number();

		PyErr_Clear();
		stop_broken_output(h, error);
		return;
	}
	PyErr_Clear();   /* the script replaced sys.stdout by something of its own */
}

void host_interrupt(void *ctx)
{
	(void)ctx;
	PyErr_SetInterrupt();   /* made for signal handlers; on the main thread only */
}

/* ---- for events ------------------------------------------------------------- */

int64_t host_realtime(struct host *h, uint64_t time)
{
	return (int64_t)time + stream_realtime_offset(h->stream);
}
