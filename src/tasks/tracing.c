/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/tracing.h"

#include "base/procstatus.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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

/* Whether an effective or a saved id differs from the real one. */
static bool is_set_id(const char *status)
{
	static const char *const keys[] = { "\nUid:", "\nGid:" };

	for (int i = 0; i < 4; i++)
		if (procstatus_in(AT_FDCWD, status, keys[i / 2], 1 + i % 2) != procstatus_in(AT_FDCWD, status, keys[i / 2], 0))
			return true;
	return false;
}

/* What is special about the process, of which a user other than root needs sudo whatever ptrace_scope is; NULL: nothing. */
static const char *special(pid_t pid)
{
	char path[64];
	struct stat st;
	long user;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	user = procstatus_in(AT_FDCWD, path, "\nUid:", 0);
	if (user < 0)
		return NULL;
	if (user != (long)geteuid())
		return "it belongs to another user: use sudo, or run perf-prof as that user";
	if (is_set_id(path))
		return "it runs a program that is set-user-ID or set-group-ID: use sudo";
	/* files of a process that is not dumpable belong to root */
	if (!stat(path, &st) && st.st_uid != geteuid())
		return "it is not dumpable: this user may not read its program, its program has capabilities, or it called "
		       "prctl(PR_SET_DUMPABLE, 0): use sudo";
	return NULL;
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
	const char *why = root || scope == 3 ? NULL : special(pid);

	fault_set(f, EXIT_FAILED, "%s: the %s of process %d may not be %s (%s): %s", command, thing, (int)pid, done, strerror(-rc),
		  why ? why : remedies[scope == 3 ? 3 : root ? 4 : scope > 0 && scope < 3 ? scope : 0]);
	f->error = -rc;
	return -1;
}
