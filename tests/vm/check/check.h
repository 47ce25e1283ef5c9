/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of libperfevent on whatever kernel runs them: one program, linked statically, so
 * that it runs in a guest that has nothing else. It speaks TAP, a line per check:
 *
 *     ok 3 - tracepoint: works: 1000 getppid calls; expected 1000, seen 1000
 *     ok 9 - sigtrap: refused: since Linux 5.13; expected an error that names it, seen "…"
 *     ok 12 - kprobe # SKIP needs the PMU kprobe
 */
#ifndef VM_CHECK_H
#define VM_CHECK_H

#include "perfevent.h"

#include <stdint.h>

/* A check calls exactly one of these, at its end. */
__attribute__((format(printf, 2, 3))) void works_if(bool good, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void refused_if(bool good, const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void skip(const char *fmt, ...);

/* works_if() for a count that has to be exact. */
void works_exactly(const char *tried, uint64_t expected, uint64_t seen);
/* A failed check that quotes the library's error. */
void failed_with(const char *tried, int rc, const struct pev_error *err);
/* The library's error as one text; a static buffer. */
const char *error_text(const struct pev_error *err);

struct check {
	const char *name;
	void (*run)(void);
};
/* The tables, each ended by a check without a name. */
extern const struct check count_checks[], ring_checks[], attr_checks[], probe_checks[],
	permission_checks[], pmu_checks[], name_checks[];

/* Is this kernel at least major.minor? */
bool kernel_has(int major, int minor);

/* Opens on the calling thread: 0, or the check is over: failed, with the error told. */
int open_self(struct pev_event **ev, const struct perf_event_attr *attr, const char *tried);
/* What `work` counts on this event, enabled just for it; the event is closed. */
int count_work(uint64_t *seen, const struct perf_event_attr *attr, const char *tried,
	       void (*work)(void));
/* syscalls:sys_enter_getppid into *attr; false: the check is over. */
bool getppid_attr(struct perf_event_attr *attr);

void call_getppid(unsigned int n);
/* Spins for about `ns` of CPU time; what it calls can be found in samples. */
void burn(uint64_t ns);
uint64_t cpu_ns(void);
__attribute__((noinline)) void leaf(unsigned int n);

#endif
