/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/self.h - reading own counters without a system call */
#ifndef PEV_SELF_H
#define PEV_SELF_H

#include "group.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reads without a system call, where the PMU allows (x86: rdpmc; arm64 with
 * kernel.perf_user_access=1 and config1 bit 1; riscv). Which way is taken is found out
 * at every read: a counter that is not on the PMU now is read by read(2). Where reading the
 * counter takes longer than read(2), as in guests whose hypervisor traps it, read(2) is used,
 * too: that is measured once, some microseconds long, when the event is mapped or first read
 * on the PMU. Only for events of the calling thread on any CPU, and only in the thread that
 * opened them; for others read(2) is used. */
struct pev_self;

/* Maps the control page of ev, which must outlive the mapping and gets no ring then. Also 0 if
 * the hardware does not allow such reads; -ENOMEM. A child of fork(2) does not have the page:
 * neither read nor unmap it there. */
PEV_API int pev_self_map(struct pev_self **out, struct pev_event *ev);
/* NULL is fine. */
PEV_API void pev_self_unmap(struct pev_self *self);
/* Like pev_event_read(). If the kernel offers no clock with the counter (cap_user_time), the
 * times may lag by up to the time between two reads, and count->stale is set; an event that
 * shared its counter is then read with read(2), so pev_count_estimate() stays right. */
PEV_API int pev_self_read(const struct pev_self *self, struct pev_count *count);
/* Would a read need no system call now? */
PEV_API bool pev_self_fast(const struct pev_self *self);
/* How a read would be done now, and why, as text: "in user space", "by read(2): ...".
 * Static text. */
PEV_API const char *pev_self_why(const struct pev_self *self);
/* From now on pev_group_read() of an open group reads the pages, unless one system call for all
 * is faster. Members are then read one after another, ns apart. 0 or -errno. A child of fork(2)
 * does not have the pages: neither read nor close the group there. */
PEV_API int pev_group_map_self(struct pev_group *g);
/* Would pev_group_read() need no system call now, and why (not)? As above. */
PEV_API bool pev_group_fast(const struct pev_group *g);
PEV_API const char *pev_group_why(const struct pev_group *g);

#ifdef __cplusplus
}
#endif
#endif
