/* SPDX-License-Identifier: Apache-2.0 */
#include "base/signals.h"

#include <signal.h>
#include <stddef.h>

static void nothing(int signo)
{
	(void)signo;
}

void signals_pass(int signo)
{
	struct sigaction action;

	/* a signal that is ignored stays ignored, also in programs started later */
	if (sigaction(signo, NULL, &action) || action.sa_handler == SIG_IGN)
		return;
	action = (struct sigaction){ .sa_handler = nothing, .sa_flags = SA_RESTART };
	sigaction(signo, &action, NULL);
}
