/* SPDX-License-Identifier: Apache-2.0 */
#include "python/pysignals.h"

#include <signal.h>
#include <stddef.h>

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
