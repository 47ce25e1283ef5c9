/* SPDX-License-Identifier: Apache-2.0 */
/* Controls of an open event: ioctls, signals, prctl. */
#include "perfevent/open/event.h"

#include "perfevent/attr/complain.h"
#include "perfevent/machine/kernel.h"
#include "perfevent/open/explain.h"
#include "perfevent/open/mixed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

static int control(const struct pev_event *ev, unsigned long request, unsigned long arg)
{
	return ioctl(ev->fd, request, arg) < 0 ? -errno : 0;
}

static int explain(struct pev_error *err, const struct pev_event *ev, const char *what, int rc,
		   const char *remedy)
{
	if (!rc)
		return 0;
	pev_ask_(err, -rc, "%s %s", what, pev_event_label(ev));
	pev_say_errno_(err, -rc);
	pev_advise_(err, "%s", remedy);
	return rc;
}

/* ---- on and off ------------------------------------------------------------------ */

int pev_event_enable(struct pev_event *ev)
{
	int rc = control(ev, PERF_EVENT_IOC_ENABLE, 0);

	if (!rc)
		pev_mixed_start_(ev);
	return rc;
}

int pev_event_disable(struct pev_event *ev)
{
	return control(ev, PERF_EVENT_IOC_DISABLE, 0);
}

int pev_event_reset(struct pev_event *ev)
{
	return control(ev, PERF_EVENT_IOC_RESET, 0);
}

int pev_event_enable_group(struct pev_event *ev)
{
	int rc = control(ev, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);

	if (!rc)
		pev_mixed_start_group_(ev);   /* the kernel enables the leader first */
	return rc;
}

int pev_event_disable_group(struct pev_event *ev)
{
	return control(ev, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
}

int pev_event_reset_group(struct pev_event *ev)
{
	return control(ev, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
}

/* The kernel gives a clock that is opened with a frequency a fixed period (perf_swevent_init_hrtimer() in
 * kernel/events/core.c), and then takes any number for one. A real frequency as high as `none` it refuses. */
static int set_frequency(struct pev_event *ev, uint64_t freq)
{
	static const uint64_t none = UINT64_C(1) << 62, second = 1000000000;
	uint64_t period = freq ? second / freq : 0;
	long long limit = second;

	pev_sysctl_("perf_event_max_sample_rate", &limit);
	if (freq > (uint64_t)limit)
		return -EINVAL;
	if (!freq || control(ev, PERF_EVENT_IOC_PERIOD, (unsigned long)&none))
		period = freq;
	return control(ev, PERF_EVENT_IOC_PERIOD, (unsigned long)&period);
}

int pev_event_set_period(struct pev_event *ev, uint64_t period)
{
	int rc = ev->attr.freq ? set_frequency(ev, period) :
				 control(ev, PERF_EVENT_IOC_PERIOD, (unsigned long)&period);

	if (!rc)
		ev->attr.sample_period = period;
	return rc;
}

int pev_event_refresh(struct pev_event *ev, unsigned int n)
{
	int rc;

	/* the kernel's argument is an int, and 0 is undefined */
	if (!n || n > INT_MAX)
		return -EINVAL;
	rc = control(ev, PERF_EVENT_IOC_REFRESH, n);
	/* After the last overflow a tracepoint stays stopped (seen on 6.18): enabling it does not
	 * clear PERF_HES_STOPPED. Setting the period starts it again. */
	if (!rc && ev->attr.type == PERF_TYPE_TRACEPOINT)
		rc = pev_event_set_period(ev, ev->attr.sample_period);
	if (!rc)
		pev_mixed_start_(ev);
	return rc;
}

int pev_tasks_enable(void)
{
	return prctl(PR_TASK_PERF_EVENTS_ENABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

int pev_tasks_disable(void)
{
	return prctl(PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0) < 0 ? -errno : 0;
}

/* ---- output ------------------------------------------------------------------------ */

int pev_event_id(const struct pev_event *ev, uint64_t *id)
{
	return control(ev, PERF_EVENT_IOC_ID, (unsigned long)id);
}

static bool same_layout(const struct pev_event *a, const struct pev_event *b)
{
	struct pev_format x, y;

	pev_format_from_attr(&x, &a->attr);
	pev_format_from_attr(&y, &b->attr);
	return x.sample_type == y.sample_type && x.read_format == y.read_format &&
	       x.branch_sample_type == y.branch_sample_type && x.regs_user == y.regs_user &&
	       x.regs_intr == y.regs_intr && x.sample_id_all == y.sample_id_all;
}

int pev_event_set_output(struct pev_event *ev, struct pev_event *to)
{
	int rc = control(ev, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)(to ? to->fd : -1));

	if (!rc)
		ev->has_ring = to && to->has_ring;
	/* until the ring is unmapped: records stay in it when ev is detached or closed */
	if (!rc && to && !same_layout(ev, to))
		to->foreign = true;
	return rc;
}

int pev_event_pause_output(struct pev_event *ev, bool pause)
{
	return control(ev, PERF_EVENT_IOC_PAUSE_OUTPUT, pause);
}

/* F_SETOWN_EX takes 0 as no owner. */
static pid_t own_id(enum pev_owner owner)
{
	if (owner == PEV_OWNER_THREAD)
		return gettid();
	return owner == PEV_OWNER_PROCESS ? getpid() : getpgrp();
}

int pev_event_signal(struct pev_event *ev, int signo, enum pev_owner owner, pid_t id)
{
	static const int types[] = {
		[PEV_OWNER_THREAD] = F_OWNER_TID, [PEV_OWNER_PROCESS] = F_OWNER_PID,
		[PEV_OWNER_GROUP] = F_OWNER_PGRP,
	};
	int flags = fcntl(ev->fd, F_GETFL);
	struct f_owner_ex ex;

	if (flags < 0)
		return -errno;
	if (!signo)
		return fcntl(ev->fd, F_SETFL, flags & ~O_ASYNC) < 0 ? -errno : 0;
	if ((size_t)owner >= sizeof(types) / sizeof(*types) || signo < 0 || id < 0)
		return -EINVAL;
	ex = (struct f_owner_ex){ types[owner], id ? id : own_id(owner) };
	/* owner and signal first: O_ASYNC alone would send SIGIO, which terminates the process */
	if (fcntl(ev->fd, F_SETOWN_EX, &ex) < 0 || fcntl(ev->fd, F_SETSIG, signo) < 0 ||
	    fcntl(ev->fd, F_SETFL, flags | O_ASYNC) < 0)
		return -errno;
	return 0;
}

/* ---- filters ------------------------------------------------------------------------ */

int pev_event_set_filter(struct pev_event *ev, const char *filter, struct pev_error *err)
{
	int rc = control(ev, PERF_EVENT_IOC_SET_FILTER, (unsigned long)(filter ? filter : ""));

	/* EINVAL for an empty text: the event has no filter (EEXIST is checked first), as requested */
	if (rc == -EINVAL && (!filter || !*filter) && ev->attr.type == PERF_TYPE_TRACEPOINT)
		return 0;
	return rc ? pev_explain_filter(err, ev, filter, -rc) : 0;
}

int pev_filter_range(char *text, size_t text_size, enum pev_range what, uint64_t addr,
		     uint64_t size, const char *path)
{
	static const char *const words[] = {
		[PEV_RANGE_FILTER] = "filter", [PEV_RANGE_START] = "start", [PEV_RANGE_STOP] = "stop",
	};
	size_t used = strnlen(text, text_size), n;
	char range[32] = "";

	if ((size_t)what >= sizeof(words) / sizeof(*words) || (what == PEV_RANGE_FILTER && !size) ||
	    addr + size < addr)
		return -EINVAL;
	/* the kernel's parser ends a path at a space, comma or newline, and has no quoting */
	if (path && (!*path || strpbrk(path, " ,\n")))
		return -EINVAL;
	if (used >= text_size)
		return -E2BIG;
	if (size)
		snprintf(range, sizeof(range), "/%#llx", (unsigned long long)size);
	n = (size_t)snprintf(text + used, text_size - used, "%s%s %#llx%s%s%s", used ? "\n" : "",
			     words[what], (unsigned long long)addr, range, path ? "@" : "",
			     path ? path : "");
	if (n < text_size - used)
		return 0;
	text[used] = '\0';
	return -E2BIG;
}

/* ---- BPF ------------------------------------------------------------------------------ */

static const struct {
	int code;
	const char *remedy;
} bpf_remedies[] = {
	{ EINVAL, "the program's type does not fit: tracepoint for a tracepoint, kprobe for a kprobe "
		  "or uprobe, perf_event for an event that samples; other events take none" },
	{ EBADF, "the descriptor is not one of a BPF program" },
	{ EEXIST, "a program is attached to this event already" },
	{ EACCES, "the program reads beyond the tracepoint's fields" },
	{ EPERM, "run as root, or with CAP_PERFMON and CAP_BPF" },
	{ E2BIG, "the tracepoint has the most programs that it can have (64)" },
	{ EPROTO, "the event's precise callchains and the program's bpf_get_stackid() exclude each "
		  "other" },
};

int pev_event_set_bpf(struct pev_event *ev, int prog_fd, struct pev_error *err)
{
	int rc = control(ev, PERF_EVENT_IOC_SET_BPF, (unsigned long)prog_fd);
	const char *remedy = "see bpf(2)";

	for (size_t i = 0; i < sizeof(bpf_remedies) / sizeof(*bpf_remedies); i++)
		if (bpf_remedies[i].code == -rc)
			remedy = bpf_remedies[i].remedy;
	return explain(err, ev, "attach a BPF program to", rc, remedy);
}

int pev_event_query_bpf(const struct pev_event *ev, uint32_t *ids, size_t n, size_t *nr)
{
	enum { MOST = 64 };   /* BPF_TRACE_MAX_PROGS: the kernel refuses more */
	size_t asked = n > MOST ? MOST : n;
	struct perf_event_query_bpf *query = calloc(1, sizeof(*query) + asked * sizeof(*ids));
	int rc;

	*nr = 0;
	if (!query)
		return -ENOMEM;
	query->ids_len = (uint32_t)asked;
	rc = control(ev, PERF_EVENT_IOC_QUERY_BPF, (unsigned long)query);
	if (!rc || rc == -ENOSPC)
		*nr = query->prog_cnt;
	if (rc == -ENOENT)   /* the tracepoint never had a program */
		rc = 0;
	if (!rc && *nr && ids)
		memcpy(ids, query->ids, (*nr < asked ? *nr : asked) * sizeof(*ids));
	/* with room for none, the kernel returns 0 and the number */
	if (!rc && *nr > asked)
		rc = -ENOSPC;
	free(query);
	return rc;
}

/* ---- changing a breakpoint -------------------------------------------------------------- */

int pev_event_modify(struct pev_event *ev, const struct perf_event_attr *attr,
		     struct pev_error *err)
{
	union pev_attr_buf copy;
	const char *remedy = "only bp_addr, bp_type, bp_len and disabled of a breakpoint can change; "
			     "open another event for the rest";
	int rc = pev_attr_buf_copy(&copy, attr);

	if (rc)
		return explain(err, ev, "modify", rc, "attr.size has to say how long it is, 64 to 256 bytes");
	/* the size accepted by this kernel */
	copy.attr.size = ev->attr.size;
	rc = control(ev, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, (unsigned long)&copy);
	if (rc)
		return explain(err, ev, "modify", rc, remedy);
	ev->buf = copy;
	if (!copy.attr.disabled)   /* the kernel turned it off and on */
		pev_mixed_start_(ev);
	return 0;
}
