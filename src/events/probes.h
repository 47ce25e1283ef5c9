/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof's own probes: kprobes and uprobes defined in tracefs, where they become tracepoints
 * with their arguments as fields.
 *
 * They are in a group whose name identifies its process: perf_prof_NS_PID_START, with the PID
 * namespace, the pid and the process's start time. So the probes of a killed perf-prof are found
 * and removed by the next one, and probes of others are never touched. However this process ends,
 * kill -9 included, another process notices it and removes the probes.
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
	int sweeper;              /* socket: shutting it down removes the probes. -1: not started */
	unsigned int n;
};

enum probe_space { PROBE_KERNEL, PROBE_USER };

/* One definition in the syntax of tracefs. */
struct probe_definition {
	enum probe_space space;
	bool at_return;
	const char *where;        /* "do_exit+0x10", "/proc/self/fd/3:0x1234" */
	const char *shown;        /* the file in messages; or NULL */
	const char *args;         /* "fd=%di:s32 ..." or "" */
};

void probes_init(struct probes *p);
/* Whether the kernel supports this kind. */
bool probes_possible(const char *tracefs, enum probe_space space);
/* 0, or -errno: this user may not write to the file that defines them. */
int probes_may_define(const char *tracefs, enum probe_space space);
/* Sets f: this user may not even read tracefs. Returns -1. */
int probes_refuse(enum probe_space space, struct fault *f);
/* Makes a tracepoint; its name is stored in `event` (PROBE_NAME_SIZE), its system is p->group. If
 * event[0] is set, adds a place to that tracepoint. 0, or -1 with f: text and exit code. */
int probes_define(struct probes *p, const char *tracefs, const struct probe_definition *def,
		  char *event, struct fault *f);
/* Whether the kernel takes that definition: makes the tracepoint and removes it. 0, or -1 with f. */
int probes_try(const char *tracefs, const struct probe_definition *def, struct fault *f);
/* Whether a group of tracepoints is that of a running perf-prof, of any process. */
bool probes_group_is_ours(const char *group);
/* Whether that tracepoint is a probe in a program (uprobe, uretprobe), whoever made it. */
bool probes_is_of_program(const char *tracefs, const char *group, const char *event);
/* Removes the probes; close all events on them first. */
void probes_end(struct probes *p);

/* ---- probeargs.c */

/* Converts a USDT probe's arguments ("-4@%edi 8@-8(%rbp)") to fetch arguments "arg1=%di:s32 ...", leaving
 * out those that the kernel cannot fetch. Returns the number left out; the text ends after a whole argument. */
size_t probe_args_of_usdt(const char *args, char *buf, size_t size);
/* The register with that number in DWARF, as a fetch argument: "%di". NULL: it cannot be fetched. */
const char *probe_register(unsigned int dwarf);
/* For a function's entry: replaces $arg1 to $arg6 by registers. -ERANGE for others, -E2BIG. */
int probe_args_of_function(const char *args, char *buf, size_t size);

#endif
