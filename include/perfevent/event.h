/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/event.h - events: open, control, read */
#ifndef PEV_EVENT_H
#define PEV_EVENT_H

#include "error.h"
#include "target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pev_event;

/* Options of pev_event_open(). Zero it, set size = sizeof; unknown tail must be zero. */
struct pev_open_opts {
	size_t size;
	struct pev_event *group;   /* leader, or NULL */
	const char *label;         /* name for messages, or NULL */
	uint64_t flags;            /* PERF_FLAG_*; CLOEXEC is always added */
};

/* Opens an event. attr->size bytes of attr count (0 = 128; see pev_attr_buf), and what an
 * older kernel does not know of them has to be zero. On failure *out is NULL and
 * err says which request, what the kernel said and what to do; where the kernel
 * does not know an attr bit, the library finds out which one by trying. */
PEV_API int pev_event_open(struct pev_event **out, const struct perf_event_attr *attr,
			   struct pev_target target, const struct pev_open_opts *opts,
			   struct pev_error *err);
/* Closes the descriptor and frees the object; NULL is fine. Unmap its ring first. */
PEV_API void pev_event_close(struct pev_event *ev);

/* The descriptor, owned by ev: for poll(2), fcntl(2), and what this library lacks. */
PEV_API int pev_event_fd(const struct pev_event *ev);
/* The name of an event: as given when it was opened, else pev_attr_label(), looked up at
 * the first call. Owned by ev. */
PEV_API const char *pev_event_label(const struct pev_event *ev);
/* The attr as the kernel took it, owned by ev. */
PEV_API const struct perf_event_attr *pev_event_attr(const struct pev_event *ev);
/* Starts and stops the counting of this event alone; a member of a group counts while its
 * leader is enabled, too. Both may be called in any state. */
PEV_API int pev_event_enable(struct pev_event *ev);
PEV_API int pev_event_disable(struct pev_event *ev);
/* Sets the count to 0. The kernel has no way to reset the times. */
PEV_API int pev_event_reset(struct pev_event *ev);
/* The id that records and PERF_FORMAT_ID carry. */
PEV_API int pev_event_id(const struct pev_event *ev, uint64_t *id);
/* Sends ev's records into the ring of `to` (same CPU, or same task); NULL detaches. */
PEV_API int pev_event_set_output(struct pev_event *ev, struct pev_event *to);
/* Sets a tracepoint filter, once: the kernel refuses a second one with EEXIST. On
 * EINVAL err->said quotes the kernel's own complaint where it can be had (as root) and
 * err->remedy lists the event's fields. NULL or "" is no filter: 0, unless there is one. */
PEV_API int pev_event_set_filter(struct pev_event *ev, const char *filter, struct pev_error *err);

/* attr.read_format: pev_count.lost. Older <linux/perf_event.h> lack its name. Linux 6.0. */
#define PEV_FORMAT_LOST (1U << 4)

/* One counter as read(2) gives it; fields not in attr.read_format are 0. */
struct pev_count {
	uint64_t value;
	uint64_t time_enabled;  /* ns */
	uint64_t time_running;  /* ns; less than enabled = multiplexed */
	uint64_t id;
	uint64_t lost;          /* samples that found no room. Linux 6.0 */
	bool timed;             /* both times were read: 0 in them means 0 */
	bool stale;             /* the times lag behind the value: see pev_self_read() */
};

/* Reads one counter (not PERF_FORMAT_GROUP). -ENODATA if a pinned event is in error. */
PEV_API int pev_event_read(const struct pev_event *ev, struct pev_count *count);

/* ---- Controls. pev_event_enable() and friends act on one event; these on all of its
 * group, whichever member is given (PERF_IOC_FLAG_GROUP). */
PEV_API int pev_event_enable_group(struct pev_event *ev);
PEV_API int pev_event_disable_group(struct pev_event *ev);
PEV_API int pev_event_reset_group(struct pev_event *ev);

/* Enables a sampling event for n more overflows, after which the kernel disables it and
 * signals POLL_HUP (see pev_event_signal()). n >= 1, since 0 means "for ever"; refused
 * with -EINVAL, as are inherited and counting events by the kernel. */
PEV_API int pev_event_refresh(struct pev_event *ev, unsigned int n);
/* New period, or new frequency for an event with attr.freq. -EINVAL for 0, for a counting
 * event, and beyond kernel.perf_event_max_sample_rate. Takes effect at once since
 * Linux 3.14 (ARM 3.7); of software events and tracepoints after the next overflow. */
PEV_API int pev_event_set_period(struct pev_event *ev, uint64_t period);
/* Stops and restarts the writing of records into ev's ring; counting goes on. The ring
 * must be mapped (-EINVAL). Linux 4.7. */
PEV_API int pev_event_pause_output(struct pev_event *ev, bool pause);
/* Attaches a BPF program: to a kprobe, uprobe or tracepoint event (it filters and acts,
 * Linux 4.1), or to an overflow of a sampling event (4.9). prog_fd may be closed then.
 * err says whether the program's type or the privilege is at fault. */
PEV_API int pev_event_set_bpf(struct pev_event *ev, int prog_fd, struct pev_error *err);
/* Ids of the BPF programs on the tracepoint of ev into ids[0..n); *nr is their number.
 * -ENOSPC if n is too small; *nr is the number needed. Needs CAP_PERFMON. Linux 4.16. */
PEV_API int pev_event_query_bpf(const struct pev_event *ev, uint32_t *ids, size_t n, size_t *nr);
/* Gives a breakpoint another address, type, length or `disabled`; nothing else can be
 * modified (-EOPNOTSUPP for other types, -EINVAL for another field). Linux 4.17. */
PEV_API int pev_event_modify(struct pev_event *ev, const struct perf_event_attr *attr,
			     struct pev_error *err);

/* Enables / disables every event that the calling thread opened, by prctl(2). */
PEV_API int pev_tasks_enable(void);
PEV_API int pev_tasks_disable(void);

/* What an address filter does with the trace of a PMU that has them (Intel PT, CoreSight). */
enum pev_range { PEV_RANGE_FILTER, PEV_RANGE_START, PEV_RANGE_STOP };
/* Appends "filter 0x1000/0x20@/usr/bin/x" to text, for pev_event_set_filter(). path NULL =
 * addresses of the kernel. size 0 with START and STOP only. -EINVAL, -E2BIG (no room). */
PEV_API int pev_filter_range(char *text, size_t text_size, enum pev_range what, uint64_t addr,
			     uint64_t size, const char *path);

/* Who gets the signal of pev_event_signal(). */
enum pev_owner { PEV_OWNER_THREAD, PEV_OWNER_PROCESS, PEV_OWNER_GROUP };
/* Sends signo to a thread, process or process group at every wake-up of ev (overflow
 * by attr.wakeup_events; POLL_HUP when a refresh ran out): fcntl O_ASYNC, F_SETSIG,
 * F_SETOWN_EX. id 0 is the caller's own. si_fd is pev_event_fd(), si_code POLL_IN or POLL_HUP.
 * signo 0 ends it. -EINVAL for a negative id, -ESRCH if no task has the id. */
PEV_API int pev_event_signal(struct pev_event *ev, int signo, enum pev_owner owner, pid_t id);

#ifdef __cplusplus
}
#endif
#endif
