/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the interpreter, and loads the script with finder.py and loader.py. */
#include "python/host.h"

#include "base/capabilities.h"
#include "base/nearest.h"
#include "base/note.h"
#include "finder_code.h"
#include "handlers_code.h"
#include "loader_code.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A module that is compiled into the program (tools/embed-code.py). */
struct own_module {
	const char *name, *file;         /* the file is no valid path */
	const char *source, *code;
	size_t size;                     /* of code */
	long magic;                      /* of the Python that made the code; 0: there is none */
};

static const struct own_module own_finder = {
	"_perf_prof_finder", "<perf-prof finder>", finder_source, finder_code, sizeof(finder_code) - 1, finder_magic,
}, own_handlers = {
	"_perf_prof_handlers", "<perf-prof handlers>", handlers_source, handlers_code, sizeof(handlers_code) - 1, handlers_magic,
}, own_loader = {
	"_perf_prof_loader", "<perf-prof loader>", loader_source, loader_code, sizeof(loader_code) - 1, loader_magic,
};

/* Another patch release may have another bytecode. */
static PyObject *import_own(const struct own_module *m)
{
	PyObject *marshal = PyImport_ImportModule("marshal"), *code = NULL, *module;

	if (marshal && m->magic == PyImport_GetMagicNumber())
		code = PyObject_CallMethod(marshal, "loads", "y#", m->code, (Py_ssize_t)m->size);
	else if (marshal)
		code = Py_CompileString(m->source, m->file, Py_file_input);
	module = code ? PyImport_ExecCodeModule(m->name, code) : NULL;
	Py_XDECREF(marshal);
	Py_XDECREF(code);
	return module;
}

/* As compile(source, file, "exec", dont_inherit=True), without making all types of ast, which takes 2 ms. */
static PyObject *compile_source(PyObject *self, PyObject *args)
{
	PyObject *source, *file, *code;

	if (!PyArg_ParseTuple(args, "SO&", &source, PyUnicode_FSConverter, &file))
		return NULL;
	code = Py_CompileString(PyBytes_AS_STRING(source), PyBytes_AS_STRING(file), Py_file_input);
	Py_DECREF(file);
	return code;
}

PyObject *host_nearest(PyObject *self, PyObject *args)
{
	PyObject *wanted, *names;
	struct nearest n;

	if (!PyArg_ParseTuple(args, "UO!", &wanted, &PyList_Type, &names))
		return NULL;
	if (!PyUnicode_AsUTF8(wanted))
		return NULL;
	nearest_begin(&n, PyUnicode_AsUTF8(wanted));
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names); i++) {
		const char *text = PyUnicode_AsUTF8(PyList_GET_ITEM(names, i));

		PyErr_Clear();   /* not UTF-8: not meant */
		if (text)
			nearest_offer(&n, text);
	}
	return nearest_get(&n) ? PyUnicode_FromString(nearest_get(&n)) : Py_NewRef(Py_None);
}

PyObject *host_import_loader(void)
{
	static PyMethodDef functions[] = {
		{ "compile_source", compile_source, METH_VARARGS, NULL }, { "nearest", host_nearest, METH_VARARGS, NULL },
		{ NULL, NULL, 0, NULL },
	};
	PyObject *finder = import_own(&own_finder), *handlers = finder ? import_own(&own_handlers) : NULL;
	PyObject *loader = handlers ? import_own(&own_loader) : NULL;

	Py_XDECREF(finder);
	Py_XDECREF(handlers);
	if (loader && PyModule_AddFunctions(loader, functions))
		Py_CLEAR(loader);
	return loader;
}

static PyObject *argument_list(const struct host_script *script)
{
	PyObject *list = PyList_New(0);

	for (int i = 0; list && i < script->argc; i++)
		list = list_put(list, PyUnicode_DecodeFSDefault(script->argv[i]));
	return list;
}

const char *host_error_text(PyObject *error, char *buf, size_t size)
{
	PyObject *text = PyObject_Str(error), *bytes = text ? PyUnicode_EncodeFSDefault(text) : NULL;

	snprintf(buf, size, "%s", bytes ? PyBytes_AS_STRING(bytes) : "an exception without a text");
	PyErr_Clear();
	Py_XDECREF(text);
	Py_XDECREF(bytes);
	return buf;
}

/* If the current exception is the loader's own, makes it the fault's message. What is not found may be in a path that root
 * ignores. */
static bool take_load_error(PyObject *loader, const struct host_script *script, struct fault *f)
{
	PyObject *error = take_error(), *own = attribute(loader, "LoadError");
	const bool is = own && PyErr_GivenExceptionMatches(error, own);
	char text[sizeof(f->text)], ignored[1024] = "";

	Py_XDECREF(own);
	if (!is) {
		put_error(error);
		return false;
	}
	host_error_text(error, text, sizeof(text));
	if (strstr(text, "there is no such script or module"))
		host_ignored_text(script, ignored, sizeof(ignored));
	fault_usage(f, "%s%s%s", text, *ignored ? "\n" : "", ignored);
	Py_XDECREF(error);
	return true;
}

/* Cuts our own frames off the exception. */
static void trim(PyObject *loader)
{
	PyObject *error = take_error();

	Py_XDECREF(loader ? PyObject_CallMethod(loader, "trim", "O", error) : NULL);
	PyErr_Clear();
	put_error(error);
}

/* Prints the exception. A missing module may be in a path that root ignores. */
static int raised(PyObject *loader, const struct host_script *script, struct fault *f)
{
	char ignored[1024] = "";
	bool missing;

	trim(loader);
	missing = PyErr_ExceptionMatches(PyExc_ModuleNotFoundError) && host_ignored_text(script, ignored, sizeof(ignored));
	PyErr_Print();
	return fault_set(f, EXIT_FAILED, "loading %s raised the exception above; nothing was "
			 "traced%s%s", script->module, missing ? ". " : "", ignored);
}

int host_interrupted(struct fault *f)
{
	PyErr_Clear();
	return fault_set(f, EXIT_INTERRUPTED, "interrupted while the script was being set up; "
			 "nothing was traced");
}

int host_check_interrupt(struct fault *f)
{
	return PyErr_CheckSignals() ? host_interrupted(f) : 0;
}

static int load_failed(struct host *h, const struct host_script *script, struct fault *f)
{
	if (PyErr_ExceptionMatches(PyExc_SystemExit)) {
		h->exit_code = trouble_take_exit();
		return -1;
	}
	if (h->loader && take_load_error(h->loader, script, f))
		return -1;
	if (host_take_broken_output(h))
		return -1;
	if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt))
		return host_interrupted(f);
	return raised(h->loader, script, f);
}

int host_load(struct host *h, const struct host_script *script, struct fault *f)
{
	PyObject *argv = argument_list(script), *name = NULL;
	int rc = 0;

	if (argv)
		name = PyUnicode_DecodeFSDefault(script->module);
	if (name)
		h->module = PyObject_CallMethod(h->loader, "load", "OO", name, argv);
	if (!h->module)
		rc = load_failed(h, script, f);
	else
		h->namespace = PyModule_GetDict(h->module);
	Py_XDECREF(argv);
	Py_XDECREF(name);
	return rc;
}

int host_try(const struct host_script *script)
{
	struct host h = {0};
	struct fault f = {0};
	PyObject *name = NULL, *rc = NULL;

	if (!host_start_interpreter(script, &f)) {
		h.loader = host_import_loader();
		if (h.loader)
			name = PyUnicode_DecodeFSDefault(script->module);
		if (name)
			rc = PyObject_CallMethod(h.loader, "check", "O", name);
		if (rc)
			return 0;
		load_failed(&h, script, &f);
	}
	fault_print(&f);
	return f.exit_code ? f.exit_code : EXIT_FAILED;
}

/* ---- the interpreter ---------------------------------------------------------------- */

/* Starts Python, and decides which environment variables it may use. */

#ifdef Py_GIL_DISABLED
#define ABI "t"
#else
#define ABI ""
#endif

/* Python would start, but find none of the packages: they are in the folder of another version, not in `packages`. */
static bool of_another_version(const char *venv, char packages[PATH_MAX])
{
	char config[PATH_MAX];

	snprintf(config, sizeof(config), "%s/pyvenv.cfg", venv);
	snprintf(packages, PATH_MAX, "%s/lib/python%d.%d" ABI, venv, PY_MAJOR_VERSION, PY_MINOR_VERSION);
	return !access(config, F_OK) && access(packages, F_OK);
}

int host_check_version(const char *venv, struct fault *f)
{
	char packages[PATH_MAX];

	if (!venv || Py_IsInitialized() || !of_another_version(venv, packages))
		return 0;
	return fault_usage(f, "--venv %s: there is no %s: this perf-prof runs Python %d.%d, and another version made this environment; "
			   "make one with `python%d.%d" ABI " -m venv DIR`, or install perf-prof into this one with pip, and run its "
			   "bin/perf-prof", venv, packages, PY_MAJOR_VERSION, PY_MINOR_VERSION, PY_MAJOR_VERSION, PY_MINOR_VERSION);
}

/* That of $VIRTUAL_ENV, if it counts; or NULL. */
static const char *active_environment(const struct host_script *script)
{
	const char *venv = script->venv || script->inside || !capabilities_trust_environment() ? NULL : getenv("VIRTUAL_ENV");

	return venv && *venv ? venv : NULL;
}

#ifdef Py_LIMITED_API   /* it can start none, nor does an extension module */
int host_start_interpreter(const struct host_script *script, struct fault *f)
{
	return 0;
}
#else
static PyStatus choose_python(PyConfig *config, const struct host_script *script)
{
	const char *venv = script->venv ? script->venv : active_environment(script);
	char python[4096] = PYTHON_BIN;

	if (venv && *venv)
		snprintf(python, sizeof(python), "%s/bin/python3", venv);
	return PyConfig_SetBytesString(config, &config->program_name, python);
}

int host_start_interpreter(const struct host_script *script, struct fault *f)
{
	PyConfig config;
	PyStatus status;

	if (script->inside)
		return 0;
	PyImport_AppendInittab("perf_prof", PyInit_perf_prof);
	PyConfig_InitPythonConfig(&config);
	config.install_signal_handlers = 0;
	config.parse_argv = 0;
	config.use_environment = capabilities_trust_environment();
	config.user_site_directory = capabilities_trust_environment();
	status = choose_python(&config, script);
	if (!PyStatus_Exception(status))
		status = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	if (PyStatus_Exception(status))
		return fault_set(f, EXIT_FAILED, "cannot start Python (%s): %s", PYTHON_BIN,
				 status.err_msg ? status.err_msg : "unknown reason");
	return 0;
}
#endif

/* The first variable that is set and ignored; NULL: none. */
static const char *ignored_variable(const struct host_script *script)
{
	static const char *const names[] = { "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !capabilities_trust_environment(); i++) {
		const char *value = getenv(names[i]);

		if (value && *value && !((script->venv || script->inside) && !strcmp(names[i], "VIRTUAL_ENV")))
			return names[i];
	}
	return NULL;
}

bool host_ignored_text(const struct host_script *script, char *buf, size_t size)
{
	const char *name = ignored_variable(script), *venv = active_environment(script);
	char packages[PATH_MAX];

	if (name)
		snprintf(buf, size, "%s=%s is ignored, because %s runs no code that the environment chooses; "
			 "use --venv DIR, %ssys.path.append(\"DIR\") in the script", name, getenv(name),
			 geteuid() ? "a program with capabilities" : "root", geteuid() ? "or " : "--user NAME, or ");
	else if (venv && of_another_version(venv, packages))
		snprintf(buf, size, "VIRTUAL_ENV=%s is of another Python version, and its packages cannot be imported: this perf-prof runs "
			 "Python %d.%d; install perf-prof into it with pip, and run its bin/perf-prof (there is no %s)", venv,
			 PY_MAJOR_VERSION, PY_MINOR_VERSION, packages);
	else
		return false;
	return true;
}

void host_tell_ignored(const struct host_script *script)
{
	char text[1024];

	if (host_ignored_text(script, text, sizeof(text)))
		note(script->verbose, "%s", text);
}
