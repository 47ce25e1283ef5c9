/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/tracing.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int ptrace_scope(void)
{
	FILE *in = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = -1;

	if (in && fscanf(in, "%d", &scope) != 1)
		scope = -1;
	if (in)
		fclose(in);
	return scope;
}

int tracing_refused(int rc, const char *command, const char *thing, const char *done, pid_t pid, struct fault *f)
{
	static const char *const remedies[] = {
		"use sudo; in a container, run it with --cap-add SYS_PTRACE",
		("kernel.yama.ptrace_scope is 1, so only root may trace programs that it did not start: use sudo, "
		 "or allow it for all your programs with `sudo sysctl kernel.yama.ptrace_scope=0`"),
		"kernel.yama.ptrace_scope is 2, so only root may trace programs: use sudo",
		"kernel.yama.ptrace_scope is 3, so nobody may trace programs, not even root, until the next boot",
		"root needs CAP_SYS_PTRACE, in the user namespace of that process; run the container with --cap-add SYS_PTRACE",
	};
	const int scope = ptrace_scope();
	const bool root = !geteuid();

	return fault_set(f, EXIT_FAILED, "%s: the %s of process %d may not be %s (%s): %s", command, thing, (int)pid, done,
			 strerror(-rc), remedies[scope == 3 ? 3 : root ? 4 : scope > 0 && scope < 3 ? scope : 0]);
}
