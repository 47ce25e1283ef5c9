/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks whose events the kernel has removed: when a task executes a program that gives it other privileges, or that it may
 * execute but not read, begin_new_exec() ends all events of this task. Events of whole CPUs stay. An event with a ring
 * then polls as at the end of the task (POLLHUP), but the task runs on.
 */
#ifndef TASKS_UNWATCHED_H
#define TASKS_UNWATCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pev_event;
struct pev_ring;

enum { UNWATCHED_TEXT = 800 };

/* After the end of the task's events: whether it is only these that have ended. text: which program, why, and what to do.
 * command: the program as the user has named it, if the task is a command that perf-prof has started: its file tells why,
 * also after the task has ended. NULL: another task. */
bool unwatched_check(pid_t tid, const char *command, char *text, size_t size);

/* Where it ran. If root executes such a program, the kernel keeps the events. perf-prof run as root starts its command as root, but
 * processes of -p may belong to other users. */
enum unwatched_in { UNWATCHED_IN_COMMAND, UNWATCHED_IN_PROCESS, UNWATCHED_IN_RECORDING };

/* The text of unwatched_check() for a process of which only the name of the program is known. others: how many more there are. */
void unwatched_say_of_child(pid_t pid, const char *name, size_t others, enum unwatched_in in, char *text, size_t size);

/* An event of a task for who has no ring: poll() reports POLLHUP for `fd` when the task's events end. */
struct unwatched_event {
	struct pev_event *ev;
	struct pev_ring *ring;
	int fd;                          /* -1: it could not be opened */
};

void unwatched_open(struct unwatched_event *u, pid_t tid);
void unwatched_close(struct unwatched_event *u);
#endif
