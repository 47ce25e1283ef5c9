/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The python command of a perf-prof that pip installed: becomes the Python of its environment (execve, so the process,
 * its parent, terminal and descriptors stay the same), which runs the command by perf_prof._native.
 *
 * That Python loads packages and .pth files of the environment before the first line of ours. So it only starts where the
 * process has no more rights than the script will have: for a user without capabilities of the program's file, and for
 * root itself in root's own environment. Where rights would be dropped between opening the events and running the
 * script (sudo, --user, capabilities), nothing is started: rings and descriptors of the one half are not handed to another
 * program.
 */
#include "pyhost/python_options.h"

#include "base/capabilities.h"
#include "keeper/identity.h"
#include "pyhost/environment.h"
#include "pyhost/pysignals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What -c runs. "" is the current directory, from which nothing is imported. */
static const char program[] =
	"import sys\n"
	"if sys.path[:1] == ['']: del sys.path[0]\n"
	"try: from perf_prof._native import _main\n"
	"except ImportError as e:\n"
	"    sys.exit(f'perf-prof: {sys.executable} (Python {sys.version.split()[0]}) cannot load perf_prof: {e}; '\n"
	"             'install perf-prof with the pip of that Python')\n"
	"_main(int(sys.argv[1]), sys.argv[2:])\n";

/* 0: the script may run with this process's rights; -1 with f. */
static int check_rights(const char *user, struct fault *f)
{
	static const char remedy[] = "the packages of a Python environment must not run with more rights than the script, so a "
		"perf-prof that pip installed cannot do both. Record as root and run the script as yourself: "
		"sudo perf-prof record -e EVENT -o - | perf-prof python -I - script.py; or use a perf-prof that make install "
		"installed, with --venv DIR";
	struct identity who;
	int found = identity_find(&who, user, f);

	if (found < 0)
		return -1;
	if (found)
		fault_set(f, EXIT_FAILED, "python: as root for user %s: %s", who.name, remedy);
	else if (capabilities_of_file())
		fault_set(f, EXIT_FAILED, "python: this program's file has capabilities: %s", remedy);
	identity_free(&who);
	return f->exit_code ? -1 : 0;
}

static int become_python(const char *python, const struct opt_parser *args, struct fault *f)
{
	enum { BEFORE = 5, END = 1 };
	const char **argv = calloc(BEFORE + args->nwords + END, sizeof(*argv));
	unsigned int signals;
	char state[16];
	int n = 0;

	if (!argv)
		return fault_set(f, EXIT_FAILED, "out of memory");
	signals = pysignals_begin();
	snprintf(state, sizeof(state), "%u", signals);
	argv[n++] = python;
	if (!capabilities_trust_environment())
		argv[n++] = "-I";
	argv[n++] = "-c";
	argv[n++] = program;
	argv[n++] = state;
	memcpy(argv + n, args->words, args->nwords * sizeof(*argv));
	fflush(NULL);
	execv(python, (char **)argv);
	pysignals_end(signals);
	free(argv);
	return fault_set(f, EXIT_FAILED, "%s: %s; expected the Python of an environment", python, strerror(errno));
}

int python_run(void *config_, const struct opt_parser *args, struct fault *f)
{
	struct python_config *config = config_;
	char python[4096];

	if (python_check_start(config, args, f) || check_rights(config->user, f) ||
	    environment_python(config->venv, python, sizeof(python), f))
		return -1;
	if (!geteuid() && environment_check_root(python, f))
		return -1;
	return become_python(python, args, f);
}

const char *python_version(void)
{
	static char text[4200];   /* one program, one answer */
	char python[4096];
	struct fault f = {0};

	if (environment_python(NULL, python, sizeof(python), &f))
		return "no " PYTHON_NAME " beside the program";
	snprintf(text, sizeof(text), "%s (%s, of its environment)", PYTHON_NAME + strlen("python"), python);
	return text;
}
