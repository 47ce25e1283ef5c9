/* SPDX-License-Identifier: Apache-2.0 */
#include "pyhost/handlers.h"

#include "base/nearest.h"
#include "base/note.h"
#include "base/units.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *const callbacks[] = {
	"__init__", "__exit__", "__interval__", "__print_stat__", "__lost__", HANDLERS_REST, HANDLERS_BATCH_REST,
};
enum { NCALLBACKS = sizeof(callbacks) / sizeof(*callbacks) };

/* Functions of a module that Python calls itself (PEP 562). */
static const char *const pythons_own[] = { "__getattr__", "__dir__" };

/* ---- signatures ----------------------------------------------------------- */

/* Known for functions and methods in Python, and for Cython's with binding. Functions of extension
 * modules in C do not describe their arguments. */
struct signature {
	bool known;
	int least, most;       /* positional arguments */
	int keywords;          /* keyword-only ones without a default */
	int flags;             /* CO_* */
	char where[512];       /* "/path/s.py:12: " */
};

/* An attribute as a number; 0 if there is none. */
static int number(PyObject *o, const char *name)
{
	PyObject *v = PyObject_GetAttrString(o, name);
	long n = v && PyLong_Check(v) ? PyLong_AsLong(v) : 0;

	Py_XDECREF(v);
	PyErr_Clear();
	return (int)n;
}

/* The length of an attribute; 0 if there is none or it is None. */
static int count(PyObject *o, const char *name)
{
	PyObject *v = PyObject_GetAttrString(o, name);
	Py_ssize_t n = v && v != Py_None ? PyObject_Size(v) : 0;

	Py_XDECREF(v);
	PyErr_Clear();
	return n < 0 ? 0 : (int)n;
}

static void read_place(PyObject *code, struct signature *s)
{
	PyObject *file = PyObject_GetAttrString(code, "co_filename"), *bytes = NULL;

	if (file && PyUnicode_Check(file))
		bytes = PyUnicode_EncodeFSDefault(file);
	if (bytes)
		snprintf(s->where, sizeof(s->where), "%s:%d: ", PyBytes_AS_STRING(bytes),
			 number(code, "co_firstlineno"));
	PyErr_Clear();
	Py_XDECREF(file);
	Py_XDECREF(bytes);
}

static void read_signature(PyObject *f, struct signature *s)
{
	PyObject *code = PyType_Check(f) ? NULL : PyObject_GetAttrString(f, "__code__");

	memset(s, 0, sizeof(*s));
	PyErr_Clear();
	if (!code)
		return;
	s->known = true;
	s->flags = number(code, "co_flags");
	s->most = number(code, "co_argcount") - PyObject_HasAttrString(f, "__func__");   /* without the self of a bound method */
	s->least = s->most - count(f, "__defaults__");
	s->keywords = number(code, "co_kwonlyargcount") - count(f, "__kwdefaults__");
	if (s->flags & CO_VARARGS)
		s->most = INT_MAX;
	read_place(code, s);
	Py_DECREF(code);
}

/* ---- checks ----------------------------------------------------------------- */

static const char *arguments(const struct signature *s, char *buf, size_t size)
{
	if (s->most == INT_MAX)
		snprintf(buf, size, "%d or more arguments", s->least);
	else if (s->least == s->most)
		snprintf(buf, size, "%d argument%s", s->most, units_plural((uint64_t)s->most));
	else
		snprintf(buf, size, "%d to %d arguments", s->least, s->most);
	return buf;
}

static int judge(const char *name, const struct signature *s, int least, int most,
		 const char *usage, struct fault *f)
{
	char buf[64];

	if (s->flags & (CO_COROUTINE | CO_ASYNC_GENERATOR))
		return fault_usage(f, "%s%s() is an async def: it is called, but nothing awaits it, so its "
				   "body would never run; write def %s", s->where, name, usage);
	if (s->flags & CO_GENERATOR)
		return fault_usage(f, "%s%s() has a yield, which makes it a generator: its body would "
				   "never run; return instead", s->where, name);
	if (s->keywords > 0)
		return fault_usage(f, "%s%s() needs keyword arguments, but is called without any; expected "
				   "def %s", s->where, name, usage);
	if (s->least > most || s->most < least)
		return fault_usage(f, "%s%s() takes %s, but is called with %d; expected def %s", s->where,
				   name, arguments(s, buf, sizeof(buf)), least, usage);
	return 0;
}

int handlers_find(PyObject *namespace, const char *name, int least, int most, const char *usage,
		  PyObject **out, int *takes, struct fault *f)
{
	PyObject *function = PyDict_GetItemString(namespace, name);
	char type[TYPE_NAME];
	struct signature s;

	*out = NULL;
	if (!function || function == Py_None)
		return 0;
	if (!PyCallable_Check(function))
		return fault_usage(f, "%s is not a function but of type %s; expected def %s", name,
				   type_name(Py_TYPE(function), type), usage);
	read_signature(function, &s);
	if (s.known && judge(name, &s, least, most, usage, f))
		return -1;
	if (takes)
		*takes = !s.known ? least : s.most < most ? s.most : most;
	Py_INCREF(function);
	*out = function;
	return 0;
}

void handlers_batch_name(const struct stream_event *event, char *buf, size_t size)
{
	snprintf(buf, size, "%s__batch", event->word);
}

/* Some event names are ordinary words: with __sample__() or __batch__(), `cycles = 0` is a variable of the script. */
static bool is_own_variable(PyObject *namespace, const char *name)
{
	PyObject *value = PyDict_GetItemString(namespace, name);

	return value && !PyCallable_Check(value) && !strstr(name, "__") &&
	       (PyDict_GetItemString(namespace, HANDLERS_REST) || PyDict_GetItemString(namespace, HANDLERS_BATCH_REST));
}

int handlers_find_event(PyObject *namespace, const struct stream_event *event, PyObject **out,
			struct fault *f)
{
	char usage[300];

	*out = NULL;
	if (is_own_variable(namespace, event->word))
		return 0;
	snprintf(usage, sizeof(usage), "%s(event)", event->word);
	return handlers_find(namespace, event->word, 1, 1, usage, out, NULL, f);
}

/* ---- suggestions ------------------------------------------------------------ */

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* The name of a function; NULL for classes and other objects. */
static const char *function_name(PyObject *key, PyObject *value)
{
	const char *name = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;

	PyErr_Clear();
	return name && PyCallable_Check(value) && !PyType_Check(value) ? name : NULL;
}

/* Finds the function that was probably meant for `handler`. A typo would otherwise look like an event
 * that never happens. */
static bool near_function(PyObject *namespace, const char *handler, char *buf, size_t size)
{
	PyObject *key, *value;
	struct nearest n;
	Py_ssize_t i = 0;

	nearest_begin(&n, handler);
	while (PyDict_Next(namespace, &i, &key, &value)) {
		const char *name = function_name(key, value);

		if (name && strcmp(name, handler) && !is_one_of(name, callbacks, NCALLBACKS))
			nearest_offer(&n, name);
	}
	if (!nearest_get(&n))
		return false;
	snprintf(buf, size, "%s", nearest_get(&n));
	return true;
}

static bool has_callback(PyObject *namespace)
{
	for (size_t i = 0; i < NCALLBACKS; i++)
		if (PyDict_GetItemString(namespace, callbacks[i]))
			return true;
	return false;
}

/* sched_wakeup() for sched__sched_wakeup(). */
static bool lacks_system(PyObject *namespace, const char *handler, char *buf, size_t size)
{
	const char *event = strstr(handler, "__");
	PyObject *value = event ? PyDict_GetItemString(namespace, event + 2) : NULL;

	if (!value || !PyCallable_Check(value) || PyType_Check(value))
		return false;
	snprintf(buf, size, "%s", event + 2);
	return true;
}

/* The callback that was probably meant by a function of that name; NULL: none. */
static const char *meant_by(const char *name, struct nearest *n)
{
	if (strncmp(name, "__", 2) || is_one_of(name, callbacks, NCALLBACKS) ||
	    is_one_of(name, pythons_own, sizeof(pythons_own) / sizeof(*pythons_own)))
		return NULL;
	nearest_begin(n, name);
	for (size_t k = 0; k < NCALLBACKS; k++)
		nearest_offer(n, callbacks[k]);
	return nearest_get(n);
}

struct slip {
	Py_ssize_t at;                  /* zero at first */
	const char *name, *meant;
	struct nearest near;
};

/* The next function such as __smaple__(). False: there is no other. */
static bool next_slip(PyObject *namespace, struct slip *s)
{
	PyObject *key, *value;

	while (PyDict_Next(namespace, &s->at, &key, &value)) {
		s->name = function_name(key, value);
		s->meant = s->name ? meant_by(s->name, &s->near) : NULL;
		if (s->meant)
			return true;
	}
	return false;
}

static bool say_slip(PyObject *namespace, struct fault *f)
{
	struct slip s = { 0 };

	if (!next_slip(namespace, &s))
		return false;
	fault_usage(f, "the script has no handler for any event; its function %s() is not called: did you mean %s()?", s.name, s.meant);
	return true;
}

/* Says what to define, or which function was probably meant. */
static void say_none(PyObject *namespace, const struct stream_event *events, size_t n,
		     struct fault *f)
{
	char near[128], names[1024] = "";
	size_t len = 0;

	if (say_slip(namespace, f))
		return;
	for (size_t i = 0; i < n && i < 8 && len < sizeof(names); i++) {
		const char *name = events[i].word;

		if (lacks_system(namespace, name, near, sizeof(near)) ||
		    near_function(namespace, name, near, sizeof(near))) {
			fault_usage(f, "the script has no handler for any event; its function %s() is not "
				    "called: did you mean %s()?", near, name);
			return;
		}
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s %s(event)", i ? "," : "",
					name);
	}
	fault_usage(f, "the script has no handler for any event; define __sample__(event) or%s%s", names,
		    n > 8 ? ", ..." : "");
}

int handlers_none(PyObject *namespace, const struct stream_event *events, size_t n, struct fault *f)
{
	struct fault warning;

	if (!has_callback(namespace)) {
		say_none(namespace, events, n, f);
		return -1;
	}
	say_none(namespace, events, n, &warning);
	fault_print(&warning);
	return 0;
}

static bool is_handler(const char *function, const struct stream_event *events, size_t n)
{
	char batch[300];

	for (size_t i = 0; i < n; i++) {
		handlers_batch_name(&events[i], batch, sizeof(batch));
		if (!strcmp(events[i].word, function) || !strcmp(batch, function))
			return true;
	}
	return false;
}

/* The function that was probably meant for the event, and the name that it should have. */
static bool near_handler(PyObject *namespace, const struct stream_event *events, size_t n, const struct stream_event *event,
			 char *name, size_t name_size, char *near, size_t size)
{
	snprintf(name, name_size, "%s", event->word);
	if (near_function(namespace, name, near, size) && !is_handler(near, events, n))
		return true;
	handlers_batch_name(event, name, name_size);
	return near_function(namespace, name, near, size) && !is_handler(near, events, n);
}

void handlers_tell_near(PyObject *namespace, const struct stream_event *events, size_t n,
			const struct stream_event *event, const char *rest, int verbose)
{
	char name[300], near[128];

	if (!near_handler(namespace, events, n, event, name, sizeof(name), near, sizeof(near)))
		return;
	if (!rest)
		fprintf(stderr, "perf-prof: %s has no handler and is not enabled; its function %s() is not "
			"called: did you mean %s()?\n", event->name, near, name);
	else if (verbose >= 0)
		fprintf(stderr, "perf-prof: %s goes to %s(); the script's function %s() is not called: did you mean %s()?\n", event->name,
			rest, near, name);
}

/* Functions of perf's scripts, and what they are here. */
static const struct {
	const char *name, *here;
} of_perf[] = {
	{ "trace_begin", "__init__()" }, { "trace_end", "__exit__()" }, { "trace_unhandled", "__sample__(event)" },
	{ "process_event", "__sample__(event)" },
};

/* def sched__sched_switch(event_name, context, common_cpu, ...) */
static bool is_handler_of_perf(PyObject *function)
{
	PyObject *code = PyObject_GetAttrString(function, "__code__");
	PyObject *names = code ? PyObject_GetAttrString(code, "co_varnames") : NULL;
	PyObject *second = names && PyTuple_Check(names) && PyTuple_GET_SIZE(names) > 2 ? PyTuple_GET_ITEM(names, 1) : NULL;
	const bool is = second && PyUnicode_Check(second) && PyUnicode_CompareWithASCIIString(second, "context") == 0 &&
			number(code, "co_argcount") > 2;

	PyErr_Clear();
	Py_XDECREF(names);
	Py_XDECREF(code);
	return is;
}

void handlers_tell_perf(PyObject *namespace)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;

	for (size_t i = 0; i < sizeof(of_perf) / sizeof(*of_perf); i++) {
		value = PyDict_GetItemString(namespace, of_perf[i].name);
		if (value && PyCallable_Check(value))
			fprintf(stderr, "perf-prof: perf script calls %s(), perf-prof does not: here it is %s (docs/from-scripts.md)\n",
				of_perf[i].name, of_perf[i].here);
	}
	while (PyDict_Next(namespace, &at, &key, &value)) {
		const char *name = function_name(key, value);

		if (name && strcmp(name, "trace_unhandled") && is_handler_of_perf(value))
			fprintf(stderr, "perf-prof: perf script calls %s(event_name, context, ...), perf-prof does not: here it is %s(event) "
				"(docs/from-scripts.md)\n", name, name);
	}
}

void handlers_tell_slips(PyObject *namespace)
{
	struct slip s = { 0 };

	while (next_slip(namespace, &s))
		fprintf(stderr, "perf-prof: the script's function %s() is not called: did you mean %s()?\n", s.name, s.meant);
}
