/* SPDX-License-Identifier: Apache-2.0 */
/* The python command of a perf-prof that pip installed: becomes the Python of its environment (become.h). */
#include "python/python_options.h"

#include "python/become.h"
#include "python/environment.h"

#include <stdio.h>
#include <unistd.h>

static const char remedy[] =
	"the packages of a Python environment must not run with more rights than the script, so a perf-prof that pip installed cannot "
	"do both. Record as root and run the script as yourself: sudo perf-prof record -e EVENT -o - | perf-prof python -I - script.py; "
	"or use a perf-prof that make install installed, with --venv DIR";

int become_find(const char *venv, char *python, size_t size, char *packages, size_t packages_size, struct fault *f)
{
	*packages = '\0';
	if (environment_python(venv, python, size, f))
		return -1;
	return !geteuid() && (environment_check_root(python, f) || environment_check_own(python, f)) ? -1 : 0;
}

int python_run(void *config_, const struct opt_parser *args, struct fault *f)
{
	struct python_config *config = config_;
	char python[4096], packages[1];

	if (python_check_start(config, args, f) || become_check_rights("python", config->user, remedy, f) ||
	    become_find(config->venv, python, sizeof(python), packages, sizeof(packages), f))
		return -1;
	return become_python(python, packages, "python", args, f);
}

const char *python_version(void)
{
	static char text[4200];   /* one program, one answer */
	char python[4096];
	struct fault f = {0};

	if (environment_python(NULL, python, sizeof(python), &f))
		return "no " PYTHON_NAME " beside the program";
	snprintf(text, sizeof(text), PYTHON_VERSIONS " (%s, of its environment)", python);
	return text;
}
