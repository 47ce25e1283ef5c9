/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes of our own: kprobes and uprobes defined in tracefs, which makes tracepoints of
 * them, with their arguments as fields.
 *
 * They live in a group whose name says whose they are: perf_prof_NS_PID_START, with the pid
 * namespace, the process and its start time. So nobody else's is ever touched, and what a
 * killed perf-prof left behind is found and removed by the next. Whatever ends this process,
 * kill -9 included, another one (probesweep.c) sees it and removes them.
 */
#ifndef EVENTS_PROBES_H
#define EVENTS_PROBES_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>

enum { PROBE_NAME_SIZE = 64 };

struct probes {
	char tracefs[256];
	char group[PROBE_NAME_SIZE];
	int sweeper;              /* a socket: shut down, they go. -1: not started */
	unsigned int n;
};

enum probe_space { PROBE_KERNEL, PROBE_USER };

/* One definition in the words of tracefs. */
struct probe_definition {
	enum probe_space space;
	bool at_return;
	const char *where;        /* "do_exit+0x10", "/bin/x:0x1234" */
	const char *args;         /* "fd=%di:s32 ..." or "" */
};

void probes_init(struct probes *p);
/* Whether the kernel has this kind. */
bool probes_possible(const char *tracefs, enum probe_space space);
/* Makes a tracepoint; its name goes to `event` (PROBE_NAME_SIZE), its system is p->group. With
 * event[0] set, it is a further place of that tracepoint. 0, or -1 with f: text and exit code. */
int probes_define(struct probes *p, const char *tracefs, const struct probe_definition *def,
		  char *event, struct fault *f);
/* Removes them, once all that was opened of them is closed. */
void probes_end(struct probes *p);

/* ---- probesweep.c */

/* Removes what can be of the group (in all kinds); true once nothing is left. */
bool probes_sweep(const char *tracefs, const char *group);
/* The name of our group. */
void probes_group_name(char *buf, size_t size);
/* Removes the groups of perf-profs that are dead. */
void probes_sweep_dead(const char *tracefs);
/* Starts the process that sweeps once the returned socket is shut down, or closed with the
 * end of this process; it shuts its own end when it is done. -1: can't be had. */
int probes_start_sweeper(const char *tracefs, const char *group);

/* ---- probeargs.c */

/* A USDT probe's arguments ("-4@%edi 8@-8(%rbp)") as fetch arguments "arg1=%di:s32 ...". What
 * the kernel can't fetch is left out. Returns how many were; the text is cut at whole ones. */
size_t probe_args_of_usdt(const char *args, char *buf, size_t size);
/* Of a function's entry: $arg1 to $arg6 become registers. -ERANGE for others, -E2BIG. */
int probe_args_of_function(const char *args, char *buf, size_t size);

#endif
