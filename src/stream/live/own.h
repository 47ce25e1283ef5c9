/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of perf-prof: this one and its helpers. Events of all CPUs would include what they
 * do, so their samples are counted but not delivered. After such a process has ended, the kernel
 * may give its pid to another process.
 */
#ifndef STREAM_LIVE_OWN_H
#define STREAM_LIVE_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { OWN_MAX = 64, OWN_WORDS = 64 };

struct own_process {
	pid_t pid;
	uint64_t until;             /* perf clock, ns; UINT64_MAX: still runs */
	uint64_t cpu_ns;            /* what this helper had used when usage_tell() last looked */
};

struct own {
	bool counts;                /* false: no process is treated as perf-prof's own */
	struct own_process all[OWN_MAX];   /* this process, then the latest OWN_MAX - 1 helpers */
	unsigned int n;
	uint64_t bits[OWN_WORDS];   /* set of their pids modulo 4096: a pid whose bit is clear is not in `all` */
};

/* Begins with this process, and with the helpers already added. */
void own_begin(struct own *o, bool counts);
void own_add(struct own *o, pid_t pid);
/* The process ended at `time` (ns of the perf clock). */
void own_ended(struct own *o, uint32_t pid, uint64_t time);
/* Whether `pid` was one of them at `time`. */
bool own_has(const struct own *o, uint32_t pid, uint64_t time);

/* A fast check that excludes nearly all other pids. */
static inline bool own_may_have(const struct own *o, uint32_t pid)
{
	return o->bits[pid >> 6 & (OWN_WORDS - 1)] >> (pid & 63) & 1;
}
#endif
