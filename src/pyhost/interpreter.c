/* SPDX-License-Identifier: Apache-2.0 */
/* Starts Python, and decides which environment variables it may use. */
#include "pyhost/host.h"

#include "base/capabilities.h"
#include "base/note.h"

#include <unistd.h>

static PyStatus choose_python(PyConfig *config, const struct host_script *script)
{
	const char *venv = script->venv;
	char python[4096] = PYTHON_BIN;

	if (!venv && capabilities_trust_environment())
		venv = getenv("VIRTUAL_ENV");
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
	const char *name = ignored_variable(script);

	if (name)
		snprintf(buf, size, "%s=%s is ignored, because %s runs no code that the environment chooses; "
			 "use --venv DIR, %ssys.path.append(\"DIR\") in the script", name, getenv(name),
			 geteuid() ? "a program with capabilities" : "root", geteuid() ? "or " : "--user NAME, or ");
	return name;
}

void host_tell_ignored(const struct host_script *script)
{
	char text[1024];

	if (host_ignored_text(script, text, sizeof(text)))
		note(script->verbose, "%s", text);
}
