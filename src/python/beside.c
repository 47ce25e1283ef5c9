/* SPDX-License-Identifier: Apache-2.0 */
/* Where a perf-prof that pip did not install finds a Python and the package perf_prof. */
#include "python/become.h"

#include "base/capabilities.h"
#include "base/textfile.h"
#include "python/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the build folder, the package is beside the program. */
static void find_packages(char *buf, size_t size)
{
	char own[3072], init[4096], *slash;

	textfile_link(own, sizeof(own), "/proc/self/exe");
	slash = strrchr(own, '/');
	snprintf(init, sizeof(init), "%.*s/python/perf_prof/sql.py", slash ? (int)(slash - own) : 0, own);
	if (slash && !access(init, F_OK))
		snprintf(buf, size, "%.*s/python", (int)(slash - own), own);
	else
		snprintf(buf, size, "%s", PYTHON_PACKAGES);
}

int become_find(const char *venv, char *python, size_t size, char *packages, size_t packages_size, struct fault *f)
{
	const char *active = !venv && capabilities_trust_environment() ? getenv("VIRTUAL_ENV") : NULL;

	venv = venv ? venv : active;
	find_packages(packages, packages_size);
	snprintf(python, size, "%s", PYTHON_BIN);
	if (!venv || !*venv)
		return 0;
	snprintf(python, size, "%s/bin/python3", venv);
	if (access(python, X_OK) && errno != ENOENT && errno != ENOTDIR)
		return fault_usage(f, "%s %s: %s: %s", active ? "$VIRTUAL_ENV" : "--venv", venv, python, strerror(errno));
	if (active && access(python, X_OK))
		return fault_usage(f, "$VIRTUAL_ENV is %s, and there is no Python in its bin: unset VIRTUAL_ENV, or name an environment with "
				   "--venv DIR", venv);
	if (access(python, X_OK))
		return fault_usage(f, "--venv %s: there is no Python in its bin; expected a virtual environment, as `python3 -m venv %s` "
				   "makes", venv, venv);
	return !geteuid() ? environment_check_root(python, f) : 0;
}
