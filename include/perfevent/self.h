/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/self.h - reading a thread's own counters without a system call */
#ifndef PEV_SELF_H
#define PEV_SELF_H

#include "group.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reads without a system call, if the PMU allows them (x86: rdpmc; arm64 with
 * kernel.perf_user_access=1 and config1 bit 1; riscv). Each read uses read(2) instead
 *   - while the counter is not on the PMU,
 *   - if the event does not count the calling thread on any CPU, or another thread opened it,
 *   - if reading the counter takes longer than read(2), as in guests whose hypervisor traps it.
 *     This is measured once, in some microseconds, when the event is mapped or first read on
 *     the PMU. */
struct pev_self;

/* Maps the control page of ev. ev must outlive the mapping, and cannot have a ring then. Returns
 * 0 also if the hardware does not allow such reads; -ENOMEM. A child of fork(2) does not have the
 * page: neither read nor unmap it there. */
PEV_API int pev_self_map(struct pev_self **out, struct pev_event *ev);
/* self may be NULL. */
PEV_API void pev_self_unmap(struct pev_self *self);
/* Like pev_event_read(). If the kernel provides no clock with the counter (cap_user_time), the
 * times may be as old as the previous read, and count->stale is set; an event that shared its
 * counter is then read with read(2), so pev_count_estimate() stays right. */
PEV_API int pev_self_read(const struct pev_self *self, struct pev_count *count);
/* Whether a read would need no system call now. */
PEV_API bool pev_self_fast(const struct pev_self *self);
/* How a read would be done now, and why: "in user space", "by read(2): ...". Static text. */
PEV_API const char *pev_self_why(const struct pev_self *self);
/* From now on pev_group_read() of an open group reads the pages, unless one system call for all
 * members is faster. Members are read one after another, ns apart. 0 or -errno. A child of
 * fork(2) does not have the pages: neither read nor close the group there. */
PEV_API int pev_group_map_self(struct pev_group *g);
/* The same for pev_group_read(). */
PEV_API bool pev_group_fast(const struct pev_group *g);
PEV_API const char *pev_group_why(const struct pev_group *g);

#ifdef __cplusplus
}
#endif
#endif
