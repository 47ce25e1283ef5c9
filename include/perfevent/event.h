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

/* Options of pev_event_open(). Zero the struct and set size to its sizeof. If size is larger than
 * the library's struct, the bytes beyond must be zero. */
struct pev_open_opts {
	size_t size;
	struct pev_event *group;   /* leader, or NULL */
	const char *label;         /* name for messages, or NULL */
	uint64_t flags;            /* PERF_FLAG_*; CLOEXEC is always added */
};

/* Opens an event with the first attr->size bytes of attr (0 = 128; see pev_attr_buf). Bytes that an older
 * kernel does not know must be zero. On failure *out is NULL, and err has the request, the kernel's error
 * and a remedy; if the kernel does not know an attr bit, the library finds by trial which one it is. A hardware
 * counter that this machine lacks is -ENOENT, even if the user would need privilege (-EACCES) to open it. */
PEV_API int pev_event_open(struct pev_event **out, const struct perf_event_attr *attr,
			   struct pev_target target, const struct pev_open_opts *opts,
			   struct pev_error *err);
/* Closes the descriptor and frees ev, which may be NULL. Unmap its ring first. */
PEV_API void pev_event_close(struct pev_event *ev);

/* The descriptor, owned by ev: for poll(2), fcntl(2) and calls missing in this library. */
PEV_API int pev_event_fd(const struct pev_event *ev);
/* The name: the label given at the opening, else pev_attr_label(), looked up at the first call. Owned by ev. */
PEV_API const char *pev_event_label(const struct pev_event *ev);
/* The attr that the kernel accepted, owned by ev. */
PEV_API const struct perf_event_attr *pev_event_attr(const struct pev_event *ev);
/* Starts or stops counting of this event only. A member of a group counts only while its leader
 * is enabled, too. Both may be called in any state. See pev_event_enable_group() for members whose
 * leader is on. */
PEV_API int pev_event_enable(struct pev_event *ev);
PEV_API int pev_event_disable(struct pev_event *ev);
/* Sets the count to 0. The kernel cannot reset the times. */
PEV_API int pev_event_reset(struct pev_event *ev);
/* The id of the event in records and in PERF_FORMAT_ID. */
PEV_API int pev_event_id(const struct pev_event *ev, uint64_t *id);
/* Writes ev's records into the ring of `to` (same CPU or same task), which must be mapped (-EINVAL). NULL
 * detaches. If their layouts differ, pev_ring_decode() refuses that ring's records. */
PEV_API int pev_event_set_output(struct pev_event *ev, struct pev_event *to);
/* Sets a tracepoint filter, once: the kernel refuses a second one with -EEXIST. On -EINVAL
 * err->said quotes the kernel's own message, if this user may read it (root), and err->remedy
 * lists the event's fields. NULL or "": no filter; 0, or -EEXIST if there is one already. */
PEV_API int pev_event_set_filter(struct pev_event *ev, const char *filter, struct pev_error *err);

/* attr.read_format bit for pev_count.lost, which older <linux/perf_event.h> do not define. Linux 6.0. */
#define PEV_FORMAT_LOST (1U << 4)

/* One counter as read by read(2); fields not in attr.read_format are 0. */
struct pev_count {
	uint64_t value;
	uint64_t time_enabled;  /* ns */
	uint64_t time_running;  /* ns; less than enabled = multiplexed */
	uint64_t id;
	uint64_t lost;          /* samples lost for lack of room. Linux 6.0 */
	bool timed;             /* both times were read, so a 0 is a value */
	bool stale;             /* the times are older than the value: see pev_self_read() */
};

/* Reads one counter. -EINVAL with PERF_FORMAT_GROUP; -ENODATA if a pinned event is in error. */
PEV_API int pev_event_read(const struct pev_event *ev, struct pev_count *count);

/* ---- Controls. pev_event_enable() and the like act on one event; these act on its whole group,
 * whichever member is given (PERF_IOC_FLAG_GROUP).
 *
 * Newer kernels (seen on Linux 6.18) start a software event that is opened in, or enabled in, a group
 * that is on already only when its task is next switched in, unless it is of the leader's PMU: task-clock,
 * cpu-clock, tracepoints, kprobes, uprobes and breakpoints are each of their own. The kernel's
 * PERF_EVENT_IOC_ENABLE with PERF_IOC_FLAG_GROUP enables the leader first, too. The library turns the leader of
 * such a group off and on, so that all count when the call returns; for pev_event_open(), pev_event_enable()
 * and pev_event_refresh() of a member it reads whether the leader is on, so attr.read_format of the leader needs
 * PERF_FORMAT_TOTAL_TIME_ENABLED. It cannot do so for an ioctl(2) of yours, or for pev_tasks_enable(): open
 * such members enabled (attr.disabled = 0) and the leader disabled, and enable the leader alone, last. */
PEV_API int pev_event_enable_group(struct pev_event *ev);
PEV_API int pev_event_disable_group(struct pev_event *ev);
PEV_API int pev_event_reset_group(struct pev_event *ev);

/* Enables a sampling event for n more overflows. Then the kernel disables it and signals POLL_HUP
 * (see pev_event_signal()). n is 1 to INT_MAX, else -EINVAL; the kernel refuses inherited and
 * counting events with -EINVAL, too. */
PEV_API int pev_event_refresh(struct pev_event *ev, unsigned int n);
/* Sets a new period, or a new frequency for an event with attr.freq (of a clock, too, for which an ioctl(2)
 * of yours would set a period). -EINVAL for 0, for a counting event, and for a frequency above
 * kernel.perf_event_max_sample_rate. Takes effect at
 * once since Linux 3.14 (ARM 3.7); for software events and tracepoints after the next overflow. */
PEV_API int pev_event_set_period(struct pev_event *ev, uint64_t period);
/* Stops or restarts writing of records into ev's ring; counting continues. The ring must be
 * mapped (-EINVAL). Linux 4.7. */
PEV_API int pev_event_pause_output(struct pev_event *ev, bool pause);
/* Attaches a BPF program to a kprobe, uprobe or tracepoint event (it filters and acts, Linux
 * 4.1), or to the overflows of a sampling event (4.9). What the program of a tracepoint filters
 * out, all events on that tracepoint lack, also those of other processes. prog_fd may be closed afterwards. err says
 * whether the program's type or a missing privilege is the reason. */
PEV_API int pev_event_set_bpf(struct pev_event *ev, int prog_fd, struct pev_error *err);
/* Stores the ids of the BPF programs on ev's tracepoint in ids[0..n); *nr is their number.
 * -ENOSPC: n is too small, *nr is the number needed. Needs CAP_PERFMON. Linux 4.16. */
PEV_API int pev_event_query_bpf(const struct pev_event *ev, uint32_t *ids, size_t n, size_t *nr);
/* Changes address, type, length or `disabled` of a breakpoint. Nothing else can be changed:
 * -EOPNOTSUPP for other types of event, -EINVAL for another field. Linux 4.17. */
PEV_API int pev_event_modify(struct pev_event *ev, const struct perf_event_attr *attr,
			     struct pev_error *err);

/* Enables / disables all events opened by the calling thread, by prctl(2). */
PEV_API int pev_tasks_enable(void);
PEV_API int pev_tasks_disable(void);

/* Effect of an address filter on the trace of a PMU with such filters (Intel PT, CoreSight). */
enum pev_range { PEV_RANGE_FILTER, PEV_RANGE_START, PEV_RANGE_STOP };
/* Appends "filter 0x1000/0x20@/usr/bin/x" to text, for pev_event_set_filter(). path NULL: kernel
 * addresses. size 0: only with START and STOP. -EINVAL, -E2BIG (no room). */
PEV_API int pev_filter_range(char *text, size_t text_size, enum pev_range what, uint64_t addr,
			     uint64_t size, const char *path);

/* The receiver of the signal of pev_event_signal(). */
enum pev_owner { PEV_OWNER_THREAD, PEV_OWNER_PROCESS, PEV_OWNER_GROUP };
/* Sends signo to a thread, process or process group at every wake-up of ev (by
 * attr.wakeup_events; POLL_HUP when a refresh has run out): fcntl O_ASYNC, F_SETSIG, F_SETOWN_EX.
 * id 0 is the caller. si_fd is pev_event_fd(), si_code POLL_IN or POLL_HUP. signo 0 stops the
 * signals. -EINVAL for a negative id, -ESRCH if no task has the id. */
PEV_API int pev_event_signal(struct pev_event *ev, int signo, enum pev_owner owner, pid_t id);

#ifdef __cplusplus
}
#endif
#endif
