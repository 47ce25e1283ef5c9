/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/group.h - events that are counted together, and what multiplexing leaves of a count */
#ifndef PEV_GROUP_H
#define PEV_GROUP_H

#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A group is counted together or not at all: all its members are on the PMU for the
 * same time, so their values may be divided by each other.
 *
 *   struct pev_group *g = pev_group_new();
 *   pev_group_add(g, &instructions, NULL);          // the first one leads
 *   pev_group_add(g, &cycles, NULL);
 *   pev_group_open(g, pev_target_self(), NULL, &err);   // all or nothing
 *   pev_group_measure(g, work, arg, counts, 2);
 *   pev_group_close(g);
 *
 * Leader rules, kept by pev_group_open():
 *   - the first member leads; only it may be `pinned` or `exclusive` (-EINVAL else);
 *   - only the leader's `disabled` and `enable_on_exec` count. A member is opened
 *     running and follows its leader; one opened disabled would stay off when the
 *     leader alone is enabled. A zeroed leader counts from its opening on;
 *   - all have the leader's `inherit` (-EINVAL else). A read adds up the group and its
 *     copies in children, those that run and those that ended (Linux 4.13; samples with
 *     PERF_SAMPLE_READ need 6.13 and PERF_SAMPLE_TID);
 *   - read_format is GROUP | ID | both times; LOST if a member samples (Linux 6.0);
 *   - members of two hardware PMUs can't form a group (the kernel's EINVAL).
 */
struct pev_group;

/* An empty group, or NULL without memory. pev_group_close() frees it. */
PEV_API struct pev_group *pev_group_new(void);
/* Adds a copy of attr; label NULL = the event's own name. Returns the index of the member,
 * -EBUSY once the group is open, -E2BIG (see pev_attr_buf_copy()), -ENOMEM. */
PEV_API int pev_group_add(struct pev_group *g, const struct perf_event_attr *attr,
			  const char *label);
/* Opens all members on target, or none: err names the member that was refused. Of opts,
 * `flags` is used; `group` and `label` must be NULL. -EINVAL for an empty group, -EBUSY
 * if it is open. */
PEV_API int pev_group_open(struct pev_group *g, struct pev_target target,
			   const struct pev_open_opts *opts, struct pev_error *err);
/* Closes all members and frees the group; NULL is fine. */
PEV_API void pev_group_close(struct pev_group *g);

/* Number of members. */
PEV_API size_t pev_group_size(const struct pev_group *g);
/* Member i, owned by the group; NULL before the opening and past the end. 0 is the leader. */
PEV_API struct pev_event *pev_group_event(const struct pev_group *g, size_t i);
PEV_API const char *pev_group_label(const struct pev_group *g, size_t i);

/* All members at once. -EBADF before the opening. */
PEV_API int pev_group_enable(struct pev_group *g);
PEV_API int pev_group_disable(struct pev_group *g);
PEV_API int pev_group_reset(struct pev_group *g);

/* Reads all members into counts[0..n), n >= pev_group_size() (-EINVAL else), by one
 * system call, or by none after pev_group_map_self(). Returns their number. Values are
 * the kernel's, never scaled: see pev_count_estimate(). The times are the group's.
 * -ENODATA: a pinned group lost its place on the PMU and counts no more, until it is
 * disabled and enabled again. -ECHILD: an inherited copy of the group is no longer whole. */
PEV_API int pev_group_read(const struct pev_group *g, struct pev_count *counts, size_t n);

/* Runs fn(arg) with the group enabled, and disabled before and after. Counts and times are
 * those of this run: the difference of a read before and a read after it, so earlier counts
 * are kept. */
PEV_API int pev_group_measure(struct pev_group *g, void (*fn)(void *), void *arg,
			      struct pev_count *counts, size_t n);

/* The cheap way to measure often: the group stays on, and what happened between begin and
 * end is the difference of two reads. end() may be called repeatedly after one begin().
 * -EINVAL for an end without begin. What happens in the two reads themselves (a handful
 * of instructions, the syscalls of tracepoints) is in the difference. */
PEV_API int pev_group_begin(struct pev_group *g);
PEV_API int pev_group_end(struct pev_group *g, struct pev_count *counts, size_t n);

/* Like the above for a single event, or for a leader that was opened by hand with
 * PERF_FORMAT_GROUP. measure gives the leader's own count. read_group gives all, the leader's
 * first, and returns the number of members; -EINVAL if attr.read_format lacks GROUP or n is
 * too small. */
PEV_API int pev_event_measure(struct pev_event *ev, void (*fn)(void *), void *arg,
			      struct pev_count *count);
PEV_API int pev_event_read_group(const struct pev_event *ev, struct pev_count *counts, size_t n);

/* after - before, each field; id is after's, lost the difference. */
PEV_API struct pev_count pev_count_delta(const struct pev_count *before,
					 const struct pev_count *after);

/* A count as it would have been without multiplexing, and how much of the time it was
 * seen: share is time_running / time_enabled, 1 = exact. */
struct pev_estimate {
	double value;
	double share;     /* 0..1 */
	bool exact;       /* it ran all the time (or was never enabled): value is the count */
};

/* Needs both times in count. -EINVAL: it was read without them (count->timed), so it is not
 * known whether the value is complete. -ENODATA: the event was enabled but never running, so the
 * value is unknown. In both cases *est is zero. A count made by hand needs `timed` where a time is 0. */
PEV_API int pev_count_estimate(const struct pev_count *count, struct pev_estimate *est);

/* ---- text: both return the length of the whole text, as snprintf() does, and terminate
 * what fits (unless size is 0). Values are as they were read; one that was there for a part
 * of the time only says so. */

/* "page-faults = 42", or "cycles = 42 (seen 25.0% of the time)"; label NULL: "42". */
PEV_API int pev_count_text(const struct pev_count *count, const char *label, char *buf,
			   size_t size);
/* What pev_group_read() gave as a table: a line per member, value and label. -EINVAL if n is
 * not the number of members. */
PEV_API int pev_group_text(const struct pev_group *g, const struct pev_count *counts, size_t n,
			   char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
