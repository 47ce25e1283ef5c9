/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/waitends.h"

#include "base/textfile.h"
#include "tracefmt/tracefmt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum context waitends_context(uint64_t flags, bool is_device)
{
	if (flags & (TRACE_HARDIRQ | TRACE_NMI) || (flags & TRACE_SOFTIRQ && is_device))
		return BY_INTERRUPT;
	return flags & TRACE_SOFTIRQ ? BY_SOFTIRQ : BY_TASK_ITSELF;
}

const char *waitends_word(uint64_t context)
{
	static const char *const words[] = { "task", "softirq", "interrupt", "timeout", "unknown", "exit" };

	return words[context];
}

const char *waitends_nobody(enum context context)
{
	static const char *const nobody[] = {
		[BY_INTERRUPT] = "[interrupt]", [BY_TIMEOUT] = "[timeout]", [BY_UNKNOWN] = "[not seen]", [BY_EXIT] = "[exit]",
	};

	return nobody[context];
}

/* A thread of the same process does so in these calls, or in none, if a signal kills it. */
bool waitends_may_be_kill(const struct waiton *on, pid_t tid, pid_t waker_pid, pid_t waker)
{
	static const char *const kills[] = { "exit_group", "kill", "tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "execve",
					     "execveat", "pidfd_send_signal" };
	const char *call;

	if (waiton_pid(on, tid) != waker_pid)
		return true;
	call = waiton_call_name(on, waker);
	for (size_t i = 0; call && i < sizeof(kills) / sizeof(*kills); i++)
		if (!strcmp(call, kills[i]))
			return true;
	return !call;
}

bool waitends_is_interrupt(int64_t result)
{
	enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };   /* of the kernel */

	return result == -EINTR || (result <= -ERESTARTSYS && result >= -ERESTARTNOHAND) || result == -ERESTART_RESTARTBLOCK;
}

bool waitends_is_dying(pid_t tid)
{
	enum { EXITING = 4 };   /* PF_EXITING of the kernel */
	unsigned long flags, pending;
	char path[64], text[1024];
	const char *rest;
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	if (textfile_read(path, text, sizeof(text)) <= 0 || !(rest = strrchr(text, ')')))
		return true;
	/* state, ppid, pgrp, session, tty, tpgid, flags; 21 numbers; signals that are pending */
	if (sscanf(rest, ") %c %*s %*s %*s %*s %*s %lu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		   " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu",
		   &state, &flags, &pending) != 3)
		return false;
	return state == 'Z' || state == 'X' || flags & EXITING || pending >> (SIGKILL - 1) & 1;
}
