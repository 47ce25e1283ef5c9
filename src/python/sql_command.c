/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof sql as it is started: the query needs DuckDB, which is a package of Python. */
#include "python/sql_options.h"

#include "python/become.h"

int sql_run(void *config_, const struct opt_parser *args, struct fault *f)
{
	static const char remedy[] =
		"DuckDB must not run with more rights than its user has. Record as root and ask as yourself: sudo perf-prof record -e EVENT "
		"-o - | perf-prof sql -I - 'QUERY'";
	struct sql_config *config = config_;
	char python[4096], packages[4096];

	if (sql_check(config, args, f) || become_check_rights("sql", NULL, remedy, f) ||
	    become_find(config->venv, python, sizeof(python), packages, sizeof(packages), f))
		return -1;
	return become_python(python, packages, "sql", args, f);
}
