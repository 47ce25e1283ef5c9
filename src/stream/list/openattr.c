/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/openattr.h"

#include "stream/list/source.h"
#include "stream/state/state.h"

#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MIN_WAKE_BYTES = 4096 };

/* The watermark is in bytes: a ring that has grown wakes the loop after as many bytes as before. */
static void wake_attr(const struct stream *s, struct perf_event_attr *attr)
{
	uint64_t bytes = s->opts->ring.bytes, wake = bytes / 4;

	if (s->opts->watermark == 0) {
		pev_attr_wakeup_events(attr, 1);
		return;
	}
	if (s->opts->watermark != UINT64_MAX)
		wake = bytes / 100 * s->opts->watermark;
	if (wake < MIN_WAKE_BYTES && bytes > 2 * MIN_WAKE_BYTES)
		wake = MIN_WAKE_BYTES;
	pev_attr_wakeup_watermark(attr, (uint32_t)(wake ? wake : 1));
}

static void callchain_attr(const struct stream_event *event, struct perf_event_attr *attr)
{
	if (event->opened.idle_chain)
		attr->exclude_callchain_user = 1;
	if (!event->callchain)
		return;
	attr->exclude_callchain_user = !event->asked.chain_user || (event->asked.stack_bytes && !event->asked.chain_mended);
	attr->exclude_callchain_kernel = !event->asked.chain_kernel;
	attr->sample_max_stack = (uint16_t)event->asked.max_stack;
	if (!event->asked.stack_bytes)
		return;
	attr->sample_regs_user = source_registers();
	attr->sample_stack_user = event->asked.stack_bytes;
}

/* A member counts while its leader is enabled. A tracepoint that is opened disabled in the group of
 * a software event would stay disabled. */
static void member_attr(const struct stream *s, const struct stream_event *event, struct perf_event_attr *attr)
{
	if (event->opened.leader == NO_LEADER || &s->list.events[event->opened.leader] == event)
		return;
	attr->disabled = attr->enable_on_exec = 0;
	attr->pinned = attr->exclusive = 0;
}

void open_attr(const struct stream *s, const struct stream_event *event,
	       const struct task_target *task, union pev_attr_buf *buf)
{
	struct perf_event_attr *attr = &buf->attr;

	if (event->sampling) {
		*buf = event->sampling->attr;
	} else {
		pev_attr_buf_init(buf, PERF_TYPE_TRACEPOINT, event->fmt->id);
		pev_attr_sample_period(attr, event->opened.counted ? 0 : 1);
		attr->sample_type = event->layout.sample_type;
		attr->sample_regs_user = event->opened.regs_user;
		attr->exclude_kernel = attr->exclude_hv = event->asked.user_only;
		attr->read_format = event->opened.read_format | (s->rings.has_lost_format ? PEV_FORMAT_LOST : 0);
	}
	attr->disabled = 1;
	/* perf takes from the first event whether records of tasks have a time */
	attr->sample_id_all |= s->opts->record != NULL;
	attr->enable_on_exec = s->run.with_exec && task->tid >= 0;
	attr->inherit = task->tid >= 0 && s->opts->inherit >= 0 &&
			!(s->rings.reads_alone && attr->sample_type & PERF_SAMPLE_READ);
	member_attr(s, event, attr);
	perf_clock_attr(&s->clock, attr);
	wake_attr(s, attr);
	callchain_attr(event, attr);
}

int open_ring_owner(const struct stream *s, int cpu, pid_t tid, struct pev_event **owner, struct pev_error *err)
{
	struct perf_event_attr attr;
	struct pev_open_opts opts = { .size = sizeof(opts), .label = "the ring's own event" };

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	perf_clock_attr(&s->clock, &attr);
	wake_attr(s, &attr);
	return pev_event_open(owner, &attr, pev_target_thread_on_cpu(tid, cpu), &opts, err);
}

/* Older kernels refuse what they do not know with EINVAL. Others look at the descriptor of the group next, and refuse that:
 * an event that is the only one of the machine would take 10 ms to open. */
static bool opens(uint64_t sample_type, uint64_t read_format)
{
	struct perf_event_attr attr;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.sample_type = sample_type;
	attr.read_format = read_format;
	attr.exclude_kernel = attr.exclude_hv = 1;
	return syscall(SYS_perf_event_open, &attr, 0, -1, INT_MAX, 0ul) < 0 && errno == EBADF;
}

bool open_knows_lost_format(void)
{
	return opens(0, PEV_FORMAT_LOST);
}

bool open_knows_cgroups(void)
{
	return opens(PERF_SAMPLE_CGROUP, 0);
}
