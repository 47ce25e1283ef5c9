/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of counters through the control page, with the CPU's part exchangeable, so that
 * tests can lay a page into plain memory. */
#ifndef PERFEVENT_SELF_H
#define PERFEVENT_SELF_H

#include "perfevent/event.h"
#include "perfevent/target.h"

/* What only the CPU knows. */
struct pev_self_cpu {
	uint64_t (*counter)(uint32_t index);   /* hardware counter; NULL: can't be read here */
	uint64_t (*cycles)(void);              /* the clock of cap_user_time */
};
extern const struct pev_self_cpu pev_self_this_cpu_;

/* Reads value and times from the page. times: fail where the page can't tell them up to
 * date. False: take read(2). */
bool pev_self_page_(const struct perf_event_mmap_page *page, const struct pev_self_cpu *cpu,
		    bool times, struct pev_count *count);
/* The same for a mapped event; false without a page. */
bool pev_self_fast_read_(const struct pev_self *self, struct pev_count *count);
/* The page is gone, as in a child of fork(2): from here on read(2), and nothing is unmapped. */
void pev_self_forget_(struct pev_self *self);
void pev_group_forget_self_(struct pev_group *g);
#endif
