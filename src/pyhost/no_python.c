/* SPDX-License-Identifier: Apache-2.0 */
/* The commands python and sql of a build without Python. */
#include "pyhost/python_options.h"
#include "pyhost/sql_options.h"

static int fail(struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "this perf-prof was built without Python; build it with "
			 "-Dpython=enabled (needs python3-dev)");
}

int python_run(void *config, const struct opt_parser *args, struct fault *f)
{
	return fail(f);
}

int sql_run(void *config, const struct opt_parser *args, struct fault *f)
{
	return fail(f);
}

const char *python_version(void)
{
	return "no";
}
