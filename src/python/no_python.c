/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that need Python, of a build without Python. */
#include "python/become.h"
#include "python/python_options.h"

static int fail(struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "this perf-prof was built without Python, which python, sql and convert "
			 "--to parquet need; install its .deb or wheel, or build it with -Dpython=enabled (needs python3-dev)");
}

int python_run(void *config, const struct opt_parser *args, struct fault *f)
{
	return fail(f);
}

int become_find(const char *venv, char *python, size_t size, char *packages, size_t packages_size, struct fault *f)
{
	return fail(f);
}

const char *python_version(void)
{
	return "no";
}
