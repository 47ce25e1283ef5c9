/* SPDX-License-Identifier: Apache-2.0 */
/* Starts Python, and decides which environment variables it may use. */
#include "python/host.h"

#include "base/capabilities.h"
#include "base/note.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
