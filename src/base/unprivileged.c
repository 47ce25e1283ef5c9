/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unprivileged.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STACKS_NOW "`perf-prof dump PID` shows the stacks of a process of yours, now"
#define COUNTED_CALLS "`strace -f -c -w COMMAND`, or `strace -f -c -w -p PID`, counts and times system calls"
#define PRINTED_CALLS "`strace -f -T COMMAND`, or `strace -f -T -p PID`, prints system calls and how long each took"
#define CALLS COUNTED_CALLS "; `ls -l /proc/PID/fd` shows the open files of a process of yours"
#define PYTHON_WAITS "`perf-prof profile --python --idle -p PID` shows where your Python program runs and waits"

static const struct {
	const char *command, *works;
} others[] = {
	{ "latency", STACKS_NOW }, { "syscalls", CALLS }, { "waits", STACKS_NOW "; " PYTHON_WAITS },
	{ "task-state", STACKS_NOW "; " PYTHON_WAITS }, { "profile", STACKS_NOW "; " PYTHON_WAITS },
	{ "rundelay", "the second number in /proc/PID/task/TID/schedstat is how long a thread has waited for a CPU, in ns" },
	{ "migrations", "se.nr_migrations in /proc/PID/task/TID/sched is how often a thread has changed its CPU" },
	{ "record", "`perf-prof record -- COMMAND` samples user space of a program" },
	{ "stat", "`perf-prof stat -- COMMAND` counts what your programs do in user space" },
	{ "trace", STACKS_NOW "; `perf-prof profile -- COMMAND` samples user space of a program" },
	{ "top", "`perf-prof profile -- COMMAND` samples user space of a program" },
	{ "python", "-e page-faults:u -p PID works, and so do other events in user space of your own processes" },
};

/* Not for processes of other users, nor for whole CPUs, where the error says it itself. */
static bool is_refused(const struct fault *f)
{
	return f->exit_code && geteuid() && !strstr(f->text, "needs no privilege") &&
	       (strstr(f->text, "tracefs: this user may not read") || strstr(f->text, "of tracefs: Permission denied") ||
		strstr(f->text, "kernel.perf_event_paranoid=-1"));
}

/* Whether a word of -e names tracepoints of system calls: -e LIST, -eLIST, --event LIST, --event=LIST. */
static bool asks_for_calls(char *const *argv)
{
	const char *before = "";

	for (; *argv && strcmp(*argv, "--"); before = *argv++)
		if (strstr(*argv, "syscalls") && (!strncmp(*argv, "-e", 2) || !strncmp(*argv, "--event", 7) || !strcmp(before, "-e") ||
						  !strcmp(before, "--event")))
			return true;
	return false;
}

static const char *works(const char *command, char *const *argv)
{
	if (asks_for_calls(argv))
		return !strcmp(command, "stat") || !strcmp(command, "top") ? COUNTED_CALLS : PRINTED_CALLS;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(command, others[i].command))
			return others[i].works;
	return NULL;
}

/* stat says it itself. */
static bool is_of_switches(const char *command, const struct fault *f)
{
	return f->exit_code && geteuid() && strcmp(command, "stat") && strstr(f->text, "kernel.perf_event_paranoid") &&
	       (!strncmp(f->text, "open cs ", 8) || !strncmp(f->text, "open context-switches ", 22));
}

void unprivileged_advise(const char *command, char *const *argv, struct fault *f)
{
	const size_t len = strlen(f->text);
	const char *advice = is_of_switches(command, f) ? UNPRIVILEGED_SWITCHES : is_refused(f) ? works(command, argv) : NULL;

	if (advice)   /* a caret below the event list has a line of its own */
		snprintf(f->text + len, sizeof(f->text) - len, "%swithout privilege: %s", strchr(f->text, '\n') ? "\n" : "; ", advice);
}
