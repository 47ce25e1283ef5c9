/* SPDX-License-Identifier: Apache-2.0 */
/* The time that tasks were on CPUs, from sched_switch events. */
#ifndef ANALYSIS_PROFILES_ONCPU_H
#define ANALYSIS_PROFILES_ONCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct oncpu {
	struct oncpu_cpu *cpus;
	size_t ncpus;
	uint64_t start;              /* time of the first event, ns: the first task of a CPU counts from here */
};

/* To be called first for each event, in order of time. */
void oncpu_see(struct oncpu *o, uint64_t time);
/* The ns that `tid` has run on the CPU, up to `time`, since it came onto the CPU or since the last call. 0 if another
 * task runs there. */
uint64_t oncpu_take(struct oncpu *o, uint32_t cpu, pid_t tid, uint64_t time);
/* A switch from prev to next. *ran: oncpu_take() for prev. False: no switch to prev was reported, so the time that
 * it ran is not known. */
bool oncpu_switch(struct oncpu *o, uint32_t cpu, pid_t prev, pid_t next, uint64_t time, uint64_t *ran);
/* The task that runs on that CPU; -1: not known. cpu < o->ncpus. */
pid_t oncpu_task(const struct oncpu *o, uint32_t cpu);
void oncpu_free(struct oncpu *o);
#endif
