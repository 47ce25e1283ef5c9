/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the parts (PERF_SAMPLE_*) of each event's samples: those that its item in -e asks for and
 * the consumer reads. Each part costs time in the watched program and space in the ring.
 *
 * To which event does a sample belong? If there is only one event, no part is needed for this. If
 * all events are tracepoints with raw data, the raw data is at the same offset in all samples, and
 * its common_type is the answer. Otherwise each sample has an IDENTIFIER (8 bytes). So if nobody
 * reads an event's raw data and it is left out, samples of the other events grow by 8 bytes, and
 * its own become at least 16 bytes smaller.
 */
#include "base/pidns.h"
#include "stream/asked/rate.h"
#include "stream/list/groups.h"
#include "stream/list/list.h"
#include "stream/list/source.h"

#include <stdlib.h>
#include <string.h>

/* Parts that are left out if nobody reads them. For PERIOD, see needs_period(). */
#define SPARED                                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |             \
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW |          \
	 PERF_SAMPLE_REGS_INTR)

/* In a PID namespace, raw data is always read: it pairs the kernel's ids of tasks with those of the
 * namespace (ids.h). */
static bool reads(const struct stream *s, const struct stream_event *ev, uint64_t part)
{
	return ev->reads & part || s->opts->record || (ev->fmt && part & PERF_SAMPLE_RAW && !pidns_is_initial());
}

static bool differ(const struct stream *s, const struct stream_event *a, const struct stream_event *b)
{
	return a->callchain != b->callchain || a->opened.read_format != b->opened.read_format || a->fmt == b->fmt ||
	       !a->fmt || !b->fmt || !reads(s, a, PERF_SAMPLE_RAW) || !reads(s, b, PERF_SAMPLE_RAW);
}

/* Whether samples need IDENTIFIER: nothing else shows their event, or somebody reads it. */
static bool need_identifiers(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++) {
		const struct stream_event *ev = &s->list.events[i];

		if (ev->sampling && ev->reads & PERF_SAMPLE_IDENTIFIER)
			return true;
		for (size_t k = i + 1; k < s->list.nevents; k++)
			if (!ev->maker && !s->list.events[k].maker && differ(s, ev, &s->list.events[k]))
				return true;
	}
	return s->opts->record || groups_are_read(s);
}

/* Whether a tracepoint counts 1 each time it is hit. Some count something else: sched_stat_runtime counts nanoseconds.
 * Without PERIOD, the kernel would then write many samples for one hit. For these systems it is known which ones do. */
static bool counts_one(const struct stream_event *ev)
{
	static const struct {
		const char *sys, *but;
	} systems[] = { { "syscalls", NULL }, { "raw_syscalls", NULL }, { "sched", "sched_stat_" } };

	for (size_t i = 0; ev->fmt && i < sizeof(systems) / sizeof(*systems); i++)
		if (!strcmp(ev->sys, systems[i].sys))
			return !systems[i].but || strncmp(ev->tracepoint, systems[i].but, strlen(systems[i].but)) != 0;
	return false;
}

/* Whether all events do. Samples with different parts need IDENTIFIER, so without it PERIOD is left
 * out of all or none. */
static bool each_counts_one(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (!s->list.events[i].maker && !counts_one(&s->list.events[i]))
			return false;
	return !s->opts->record || s->opts->recording.only;
}

/* With PERIOD, the kernel samples each hit of a software event, whatever its period is (perf_swevent_event()), so a period
 * that was asked for is known without it. That of a clock may change until it is open. */
static uint64_t known_period(const struct stream_event *ev)
{
	const struct perf_event_attr *a = &ev->sampling->attr.attr;

	return a->freq || rate_is_clock(a) ? 0 : a->sample_period;
}

/* Without it, the kernel would write other samples of a clock. */
static bool needs_period(const struct stream_event *ev)
{
	return !ev->sampling->attr.attr.freq && !known_period(ev);
}

static uint64_t unread(const struct stream *s, const struct stream_event *ev)
{
	uint64_t parts = 0;

	for (uint64_t part = 1; part && part <= SPARED; part <<= 1)
		if (part & SPARED && !reads(s, ev, part))
			parts |= part;
	if (ev->sampling && known_period(ev) > 1)
		parts |= PERF_SAMPLE_PERIOD;
	return ev->sampling && needs_period(ev) ? parts & ~(uint64_t)PERF_SAMPLE_PERIOD : parts;
}

/* The parts for call chains. sample_type_of() adds them again if the event has call chains. */
static uint64_t chain_parts(const struct stream_event *ev)
{
	return PERF_SAMPLE_CALLCHAIN | (ev->asked.stack_bytes ? PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER : 0);
}

/* In a PID namespace, samples of tasks outside of it have the id of an idle CPU. A tracepoint's fields tell them apart;
 * other events get a call chain of the kernel for that, which only ids.h reads. */
static bool needs_idle_chain(const struct stream *s, const struct stream_event *ev)
{
	const struct perf_event_attr *a = &ev->sampling->attr.attr;

	return !s->replay && !s->opts->record && !s->opts->keeps_ids && !ev->callchain && !a->exclude_kernel &&
	       !a->exclude_idle && targets_everybody(s->opts) && !pidns_is_initial();
}

/* As if the samples had no call chain. */
static void hide_chain(struct layout *l)
{
	l->sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	l->callchain = 0;
}

/* Which call the number means depends on how it was made: callnames.h. */
static bool needs_abi(const struct stream *s, const struct stream_event *ev)
{
	return ev->sys && !strcmp(ev->sys, "raw_syscalls") && !strcmp(ev->tracepoint, "sys_enter") && reads(s, ev, PERF_SAMPLE_REGS_USER) &&
	       source_registers();
}

static uint64_t sample_type_of(const struct stream *s, const struct stream_event *ev)
{
	bool no_period = s->list.each_counts_one ||
			 (s->choice.mixed && !reads(s, ev, PERF_SAMPLE_PERIOD) && counts_one(ev));
	uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

	if (ev->sampling)
		type |= ev->sampling->attr.attr.sample_type & ~chain_parts(ev) & ~unread(s, ev);
	else
		type |= (reads(s, ev, PERF_SAMPLE_RAW) ? PERF_SAMPLE_RAW : 0) | (no_period ? 0 : PERF_SAMPLE_PERIOD) |
			(ev->opened.read_format & ~(uint64_t)PEV_FORMAT_LOST ? PERF_SAMPLE_READ : 0);
	if (s->choice.mixed)
		type |= PERF_SAMPLE_IDENTIFIER;
	if (s->opts->record)
		type |= RECORDER_SAMPLE_TYPE;
	if (s->opts->samples_cgroups)
		type |= PERF_SAMPLE_CGROUP;
	if (ev->callchain)
		type |= PERF_SAMPLE_CALLCHAIN;
	if (ev->callchain && ev->asked.stack_bytes)
		type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	if (!ev->sampling && needs_abi(s, ev))
		type |= PERF_SAMPLE_REGS_USER;
	return type;
}

/* Decodes registers and stack, by the attributes with which open.c opens the event. */
static int choose_stack_format(struct stream_event *ev)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = ev->layout.sample_type,
					.read_format = ev->opened.read_format };
	struct pev_format format;

	if (!ev->callchain || !ev->asked.stack_bytes)
		return 0;
	if (ev->sampling)
		attr = ev->sampling->attr.attr;
	attr.sample_regs_user = source_registers();
	pev_format_from_attr(&format, &attr);
	return event_set_stack_format(ev, &format);
}

/* CX and IP of x86; elsewhere any, since the ABI comes with them. */
enum { ABI_REGISTERS = 1 << 2 | 1 << 8 };

/* The parts that are at the same offset in all samples of an event. */
#define PLAIN_PARTS                                                                                \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |             \
	 PERF_SAMPLE_PERIOD)

static void choose_layout(const struct stream *s, struct stream_event *ev)
{
	uint64_t type = sample_type_of(s, ev);
	struct perf_event_attr *a;

	ev->each = 1;
	if (!ev->sampling) {
		if (s->rings.has_lost_format)
			ev->opened.read_format |= PEV_FORMAT_LOST;
		layout_from_format(&ev->layout, type, ev->opened.read_format);
		if (type & PERF_SAMPLE_REGS_USER)
			ev->opened.regs_user = source_registers() & (type & PERF_SAMPLE_STACK_USER ? UINT64_MAX : ABI_REGISTERS);
		return;
	}
	a = &ev->sampling->attr.attr;
	ev->each = known_period(ev) > 1 ? known_period(ev) : 1;
	ev->opened.idle_chain = !(type & PERF_SAMPLE_RAW) && needs_idle_chain(s, ev);
	type |= ev->opened.idle_chain ? PERF_SAMPLE_CALLCHAIN : 0;
	a->sample_type = type;
	if (ev->callchain && ev->asked.stack_bytes)
		a->sample_regs_user = source_registers();
	if (s->rings.has_lost_format)
		a->read_format |= PEV_FORMAT_LOST;
	ev->sampling->decode = type & ~(uint64_t)PLAIN_PARTS;
	layout_from_format(&ev->layout, type, a->read_format);
	pev_format_from_attr(&ev->sampling->format, a);
	if (ev->opened.idle_chain)
		hide_chain(&ev->layout);
}

int layouts_choose(struct stream *s, struct fault *f)
{
	int rc = 0;

	for (size_t i = 0; i < s->list.nevents; i++)
		s->list.has_others |= !s->list.events[i].fmt;
	s->choice.mixed = need_identifiers(s);
	s->list.each_counts_one = each_counts_one(s);
	for (size_t i = 0; i < s->list.nevents; i++)
		if (!s->list.events[i].maker)
			choose_layout(s, &s->list.events[i]);
	for (size_t i = 0; i < s->list.nevents && !rc; i++)
		rc = s->list.events[i].maker ? 0 : choose_stack_format(&s->list.events[i]);
	while (s->list.first + 1 < s->list.nevents && s->list.events[s->list.first].maker)
		s->list.first++;
	return rc ? fault_set(f, EXIT_FAILED, "out of memory") : 0;
}

/* Whether expressions (of filters and sources) have been compiled: they contain the offsets of the parts. */
static bool is_compiled(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].filter_here || s->list.events[i].taps)
			return true;
	return false;
}

int stream_narrow(struct stream *s, struct fault *f)
{
	if (s->opts->record || is_compiled(s))
		return 0;
	for (size_t i = 0; i < s->list.nevents; i++)
		s->list.events[i].callchain &= (s->list.events[i].reads & PERF_SAMPLE_CALLCHAIN) != 0;
	return layouts_choose(s, f);
}
