/* SPDX-License-Identifier: Apache-2.0 */
#include "python/become.h"

#include "base/capabilities.h"
#include "keeper/identity.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int ignored_by_python[] = { SIGPIPE, SIGXFSZ };

/* The state: a bit for each of these that was ignored, and whether SIGINT was blocked. */
enum { NIGNORED = sizeof(ignored_by_python) / sizeof(*ignored_by_python), BLOCKED = 1 << NIGNORED };

static void change_interrupt(int how, sigset_t *before)
{
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(how, &interrupt, before);
}

unsigned int pysignals_begin(void)
{
	struct sigaction action;
	unsigned int state = 0;
	sigset_t before;

	for (int i = 0; i < NIGNORED; i++)
		if (!sigaction(ignored_by_python[i], NULL, &action) && action.sa_handler == SIG_IGN)
			state |= 1u << i;
	change_interrupt(SIG_BLOCK, &before);
	return state | (sigismember(&before, SIGINT) ? BLOCKED : 0);
}

void pysignals_end(unsigned int state)
{
	for (int i = 0; i < NIGNORED; i++)
		if (!(state & 1u << i))
			signal(ignored_by_python[i], SIG_DFL);
	if (!(state & BLOCKED))
		change_interrupt(SIG_UNBLOCK, NULL);
}

/* What -c runs. "" is the current directory, from which nothing is imported. */
static const char program[] =
	"import sys\n"
	"if sys.path[:1] == ['']: del sys.path[0]\n"
	"signals, packages, command = sys.argv[1:4]\n"
	"if packages: sys.path.insert(0, packages)\n"
	"try: from perf_prof._native import _main, __version__\n"
	"except ImportError as e:\n"
	"    sys.exit(f'perf-prof: {sys.executable} (Python {sys.version.split()[0]}) cannot load perf_prof: {e}; '\n"
	"             'install the wheel of perf-prof, or its sources, with the pip of that Python')\n"
	"if __version__ != '" PERF_PROF_VERSION "':\n"
	"    sys.exit(f'perf-prof: {sys.executable} has perf_prof {__version__}, and this program is perf-prof '\n"
	"             '" PERF_PROF_VERSION ": use that of one installation, bin/perf-prof in the environment of that Python')\n"
	"if packages: del sys.path[0]\n"
	"_main(int(signals), sys.argv[4:], command)\n";

int become_check_rights(const char *command, const char *user, const char *remedy, struct fault *f)
{
	struct identity who;
	int found = identity_find(&who, user, f);

	if (found < 0)
		return -1;
	if (found)
		fault_set(f, EXIT_FAILED, "%s: as root for user %s: %s", command, who.name, remedy);
	else if (capabilities_of_file())
		fault_set(f, EXIT_FAILED, "%s: this program's file has capabilities: %s", command, remedy);
	identity_free(&who);
	return f->exit_code ? -1 : 0;
}

int become_python(const char *python, const char *packages, const char *command, const struct opt_parser *args, struct fault *f)
{
	enum { BEFORE = 7, END = 1 };
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
	argv[n++] = packages;
	argv[n++] = command;
	memcpy(argv + n, args->words, args->nwords * sizeof(*argv));
	fflush(NULL);
	execv(python, (char **)argv);
	pysignals_end(signals);
	free(argv);
	return fault_set(f, EXIT_FAILED, "%s: %s; expected the Python of an environment", python, strerror(errno));
}
