/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of counters through the control page, with the CPU's part exchangeable, so that
 * tests can lay a page into plain memory. */
#ifndef PERFEVENT_OPEN_SELF_H
#define PERFEVENT_OPEN_SELF_H

#include "perfevent/open/event.h"
#include "perfevent/open/target.h"

/* What only the CPU knows. */
struct pev_self_cpu {
	uint64_t (*counter)(uint32_t index);   /* hardware counter; NULL: can't be read here */
	uint64_t (*cycles)(void);              /* the clock of cap_user_time */
	uint64_t (*ns)(void);                  /* any clock that is there without it */
};
extern const struct pev_self_cpu pev_self_this_cpu_;

/* How a read is made, and why by the kernel. */
enum pev_self_how {
	SELF_FAST,        /* in user space */
	SELF_STALE,       /* in user space, with times that lag behind */
	SELF_SLOWER,      /* by read(2), which takes less time here */
	SELF_NO_RDPMC,    /* ... since the kernel or the CPU doesn't let us */
	SELF_NO_TIME,     /* ... since its share of the time can't be had otherwise */
	SELF_OFF_PMU,     /* ... since it is not on the PMU now */
	SELF_NO_PAGE,     /* ... since it is no event of this thread alone */
	SELF_NOT_MAPPED,  /* ... since nobody asked */
};
const char *pev_self_text_(enum pev_self_how how);

static inline bool pev_self_is_fast_(enum pev_self_how how)
{
	return how <= SELF_STALE;
}

/* Reads value and times from the page; unless that is fast, nothing in count is good. times:
 * they are wanted. */
enum pev_self_how pev_self_page_(const struct perf_event_mmap_page *page,
				 const struct pev_self_cpu *cpu, bool times,
				 struct pev_count *count);
/* When a writing of the page, by its sequence count, was first seen. */
struct pev_sighting {
	uint32_t seq;
	uint64_t at;      /* ns */
};
/* Adds to stale times what has passed since the page's writing was first seen: while it stands,
 * neither the task nor the event was switched. seq: the page's before count was read. */
void pev_self_age_(struct pev_sighting *seen, const struct perf_event_mmap_page *page,
		   const struct pev_self_cpu *cpu, uint32_t seq, struct pev_count *count);
/* What pev_self_page_() says of a mapped event, without asking what is cheaper. */
enum pev_self_how pev_self_fast_read_(const struct pev_self *self, struct pev_count *count);
/* pev_self_map() that measures nothing. */
int pev_self_map_by_(struct pev_self **out, struct pev_event *ev, const struct pev_self_cpu *cpu);
/* The page is gone, as in a child of fork(2): from here on read(2), and nothing is unmapped. */
void pev_self_forget_(struct pev_self *self);
void pev_group_forget_self_(struct pev_group *g);

/* ---- selfrace.c: which way is cheaper. A hypervisor may trap the reading of counters, which
 * costs more than the system call then. */
enum pev_self_way { SELF_UNDECIDED, SELF_BY_PAGE, SELF_BY_KERNEL };

struct pev_self_race {
	bool (*page)(void *arg);      /* false: not now */
	void (*kernel)(void *arg);
	uint64_t (*now)(void);        /* ns */
};
enum pev_self_way pev_self_race_(const struct pev_self_race *race, void *arg);
uint64_t pev_self_ns_(void);
#endif
