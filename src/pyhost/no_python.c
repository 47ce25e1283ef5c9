/* SPDX-License-Identifier: Apache-2.0 */
/* The python command of a build without Python. */
#include "pyhost/python_options.h"

int python_run(void *config, const struct opt_parser *args, struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "this perf-prof was built without Python; build it with "
			 "-Dpython=enabled (needs python3-dev)");
}

const char *python_version(void)
{
	return "no";
}
