/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of counters through the control page. The CPU's part can be replaced, so that tests can
 * use a page in plain memory. */
#ifndef PERFEVENT_OPEN_SELF_H
#define PERFEVENT_OPEN_SELF_H

#include "perfevent/open/event.h"
#include "perfevent/open/target.h"

/* Functions that depend on the CPU. */
struct pev_self_cpu {
	uint64_t (*counter)(uint32_t index);   /* hardware counter; NULL: not readable */
	uint64_t (*cycles)(void);              /* the clock of cap_user_time */
	uint64_t (*ns)(void);                  /* a clock that works without it */
};
extern const struct pev_self_cpu pev_self_this_cpu_;

/* How a counter is read, and why. */
enum pev_self_how {
	SELF_FAST,        /* in user space */
	SELF_STALE,       /* in user space, with old times */
	SELF_SLOWER,      /* by read(2), which is faster here */
	SELF_NO_RDPMC,    /* by read(2): the kernel or the CPU forbids it */
	SELF_NO_TIME,     /* by read(2): only the kernel knows its share of the time */
	SELF_OFF_PMU,     /* by read(2): it is not on the PMU now */
	SELF_NO_PAGE,     /* by read(2): it counts more than this thread */
	SELF_NOT_MAPPED,  /* by read(2): pev_self_map() was not called */
};
const char *pev_self_text_(enum pev_self_how how);

static inline bool pev_self_is_fast_(enum pev_self_how how)
{
	return how <= SELF_STALE;
}

/* Reads value and times from the page. Unless the result is fast, count is invalid. times: the
 * times are needed. */
enum pev_self_how pev_self_page_(const struct perf_event_mmap_page *page,
				 const struct pev_self_cpu *cpu, bool times,
				 struct pev_count *count);
/* When a state of the page, identified by its sequence count, was first seen. */
struct pev_sighting {
	uint32_t seq;
	uint64_t at;      /* ns */
};
/* Adds to stale times the time since this state of the page was first seen: while the page is
 * unchanged, neither the task nor the event was switched. seq: read from the page before count. */
void pev_self_age_(struct pev_sighting *seen, const struct perf_event_mmap_page *page,
		   const struct pev_self_cpu *cpu, uint32_t seq, struct pev_count *count);
/* pev_self_page_() for a mapped event, whichever way is faster. */
enum pev_self_how pev_self_fast_read_(const struct pev_self *self, struct pev_count *count);
/* pev_self_map() without measuring. */
int pev_self_map_by_(struct pev_self **out, struct pev_event *ev, const struct pev_self_cpu *cpu);
/* Use read(2) from now on, and unmap nothing: in a child of fork(2) the page is not mapped. */
void pev_self_forget_(struct pev_self *self);
void pev_group_forget_self_(struct pev_group *g);

/* ---- selfrace.c: which way is faster. If a hypervisor traps the reading of counters, that costs
 * more than the system call. */
enum pev_self_way { SELF_UNDECIDED, SELF_BY_PAGE, SELF_BY_KERNEL };

struct pev_self_race {
	bool (*page)(void *arg);      /* false: not possible now */
	void (*kernel)(void *arg);
	uint64_t (*now)(void);        /* ns */
};
enum pev_self_way pev_self_race_(const struct pev_self_race *race, void *arg);
uint64_t pev_self_ns_(void);
#endif
