/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/group.h - groups of events, and estimates for multiplexed counts */
#ifndef PEV_GROUP_H
#define PEV_GROUP_H

#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All members of a group are on the PMU at the same time, or none is, so the values may be
 * divided by each other.
 *
 *   struct pev_group *g = pev_group_new();
 *   pev_group_add(g, &instructions, NULL);          // the first one leads
 *   pev_group_add(g, &cycles, NULL);
 *   pev_group_open(g, pev_target_self(), NULL, &err);   // all or nothing
 *   pev_group_measure(g, work, arg, counts, 2);
 *   pev_group_close(g);
 *
 * Rules, checked or applied by pev_group_open():
 *   - the first member leads; only it may be `pinned` or `exclusive` (else -EINVAL);
 *   - only the leader's `disabled` and `enable_on_exec` count. A member is opened enabled
 *     and follows its leader; a disabled one would stay off when only the leader is
 *     enabled. A leader with a zeroed attr counts once all are open: it is opened disabled,
 *     and enabled last, so that no member starts late (see pev_event_enable_group());
 *   - all have the leader's `inherit` (else -EINVAL). A read adds up the group and its
 *     copies in running and ended children (Linux 4.13; samples with PERF_SAMPLE_READ
 *     need 6.13 and PERF_SAMPLE_TID);
 *   - read_format is GROUP | ID | both times, and LOST if a member samples (Linux 6.0);
 *   - members on two hardware PMUs cannot form a group (the kernel's EINVAL).
 */
struct pev_group;

/* An empty group, or NULL if out of memory. Free it with pev_group_close(). */
PEV_API struct pev_group *pev_group_new(void);
/* Adds a copy of attr; label NULL: the event's own name. Returns the member's index; -EBUSY once
 * the group is open, -E2BIG (see pev_attr_buf_copy()), -ENOMEM. */
PEV_API int pev_group_add(struct pev_group *g, const struct perf_event_attr *attr,
			  const char *label);
/* Opens all members on target, or none: err names the member that was refused. Only `flags` in opts
 * is used; `group` and `label` must be NULL. -EINVAL for an empty group, -EBUSY if it is open. */
PEV_API int pev_group_open(struct pev_group *g, struct pev_target target,
			   const struct pev_open_opts *opts, struct pev_error *err);
/* Closes all members and frees the group, which may be NULL. */
PEV_API void pev_group_close(struct pev_group *g);

/* Number of members. */
PEV_API size_t pev_group_size(const struct pev_group *g);
/* Member i, owned by the group; NULL before the group is opened and past the end. 0 is the leader. */
PEV_API struct pev_event *pev_group_event(const struct pev_group *g, size_t i);
PEV_API const char *pev_group_label(const struct pev_group *g, size_t i);

/* All members at once. -EBADF before the group is opened. */
PEV_API int pev_group_enable(struct pev_group *g);
PEV_API int pev_group_disable(struct pev_group *g);
PEV_API int pev_group_reset(struct pev_group *g);

/* Reads all members into counts[0..n), n >= pev_group_size() (else -EINVAL), by one system call,
 * or by none after pev_group_map_self(). Returns their number. Values are the kernel's, unscaled:
 * see pev_count_estimate(). The times are the group's. -ENODATA: a pinned group lost its place on
 * the PMU, and does not count until it is disabled and enabled again. -ECHILD: an inherited copy
 * of the group is no longer complete. */
PEV_API int pev_group_read(const struct pev_group *g, struct pev_count *counts, size_t n);

/* Runs fn(arg) with the group enabled, and disabled before and after. Counts and times are the
 * differences between a read before and a read after it, so earlier counts are kept. */
PEV_API int pev_group_measure(struct pev_group *g, void (*fn)(void *), void *arg,
			      struct pev_count *counts, size_t n);

/* The cheap way to measure often: the group stays enabled, and the result is the difference
 * between the reads at begin and end. end() may be called several times after one begin().
 * -EINVAL for an end without a begin. Events caused by the two reads themselves (a few
 * instructions, system calls seen by tracepoints) are included. */
PEV_API int pev_group_begin(struct pev_group *g);
PEV_API int pev_group_end(struct pev_group *g, struct pev_count *counts, size_t n);

/* The same for a single event, or for a leader that was opened with PERF_FORMAT_GROUP by
 * pev_event_open(). measure returns the leader's own count. read_group stores all counts, the leader's
 * first, and returns the number of members; -EINVAL if attr.read_format lacks GROUP or n is too small. */
PEV_API int pev_event_measure(struct pev_event *ev, void (*fn)(void *), void *arg,
			      struct pev_count *count);
PEV_API int pev_event_read_group(const struct pev_event *ev, struct pev_count *counts, size_t n);

/* after - before for each field, including lost; id is after's. */
PEV_API struct pev_count pev_count_delta(const struct pev_count *before,
					 const struct pev_count *after);

/* The count extrapolated to all of the time, and the share of the time it was measured:
 * time_running / time_enabled, 1 = exact. */
struct pev_estimate {
	double value;
	double share;     /* 0..1 */
	bool exact;       /* running all the time (or never enabled): value is the count */
};

/* Needs both times in count. -EINVAL: read without them (!count->timed), so the value may be
 * incomplete. -ENODATA: the event was enabled but never running, so the value is unknown. In both
 * cases *est is zero. In a count filled in by hand, set `timed` if a time is 0. */
PEV_API int pev_count_estimate(const struct pev_count *count, struct pev_estimate *est);

/* ---- text: both functions return the length of the whole text, as snprintf() does, and
 * terminate what fits (unless size is 0). Values are unscaled; a share of the time below 1 is
 * printed. */

/* "page-faults = 42", or "cycles = 42 (seen 25.0% of the time)"; label NULL: "42". */
PEV_API int pev_count_text(const struct pev_count *count, const char *label, char *buf,
			   size_t size);
/* The counts of pev_group_read() as a table: a line per member with value and label. -EINVAL if n
 * is not the number of members. */
PEV_API int pev_group_text(const struct pev_group *g, const struct pev_count *counts, size_t n,
			   char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
