/* SPDX-License-Identifier: Apache-2.0 */
/* How long tasks were on CPUs, by the scheduler's switches. */
#ifndef ANALYSIS_PROFILES_ONCPU_H
#define ANALYSIS_PROFILES_ONCPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct oncpu {
	struct oncpu_cpu *cpus;
	size_t ncpus;
	uint64_t start;              /* ns: of the first event; what runs then runs since */
};

/* Each event in order of time, first. */
void oncpu_see(struct oncpu *o, uint64_t time);
/* The time since the CPU's task was asked for last, or came onto the CPU, until `time`; 0 where it is
 * not `tid`, as far as is known. */
uint64_t oncpu_take(struct oncpu *o, uint32_t cpu, pid_t tid, uint64_t time);
/* The same of the task that goes, in *ran, and what the CPU runs from then on. False: no switch had
 * reported that this one came, so it is not known for how long it ran. */
bool oncpu_switch(struct oncpu *o, uint32_t cpu, pid_t prev, pid_t next, uint64_t time, uint64_t *ran);
/* The task that was put on that CPU; -1: none is known. cpu < o->ncpus. */
pid_t oncpu_task(const struct oncpu *o, uint32_t cpu);
void oncpu_free(struct oncpu *o);
#endif
