/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/list/groups.h"

#include "base/note.h"
#include "events/probes.h"
#include "stream/list/openattr.h"
#include "stream/state/state.h"

#include <string.h>

#define GROUP_READ                                                                                 \
	(PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |                     \
	 PERF_FORMAT_TOTAL_TIME_RUNNING)

/* ---- groups in the event list ---------------------------------------------- */

static const char *modifiers_of(const struct stream *s, const struct spec_item *item)
{
	const char *text = item->group ? s->list.specs.groups[item->group - 1].modifiers : NULL;

	return text ? text : "";
}

void groups_modifiers(const struct stream *s, const struct spec_item *item, char *buf, size_t size)
{
	bool leads = item == s->list.specs.items || item[-1].group != item->group;
	size_t n = 0;

	for (const char *c = modifiers_of(s, item); *c && n + 1 < size; c++)
		if (leads || !strchr("De", *c))
			buf[n++] = *c;
	buf[n] = '\0';
}

static bool is_read(const struct stream *s, const struct stream_event *leader)
{
	return strchr(modifiers_of(s, leader->asked.item), 'S') || (leader->sampling && leader->sampling->group_read);
}

/* Why the event cannot be in its group; NULL: it can. */
static const char *why_not(const struct stream *s, const struct stream_event *ev)
{
	const char *modifiers = modifiers_of(s, ev->asked.item);

	if (ev->maker)
		return "a group takes no events that a source makes from other events";
	if (ev->fmt && modifiers[strspn(modifiers, "SW")])
		return "a tracepoint's group has no modifiers but S and W";
	if (strchr(modifiers, 'W') && is_read(s, &s->list.events[ev->opened.leader]))
		return "a weak group (W) may be split, and then its counts (S) are not read: give "
	"W or S, not both";
	return NULL;
}

static void set_format(struct stream_event *ev, uint64_t read_format)
{
	ev->opened.read_format |= read_format;
	if (!ev->sampling)
		return;
	ev->sampling->attr.attr.read_format |= read_format;
	ev->sampling->attr.attr.sample_type |= PERF_SAMPLE_READ;
}

/* Not sampled: its count is read with the leader's. */
static void set_counted(struct stream_event *ev)
{
	ev->opened.counted = true;
	if (!ev->sampling)
		return;
	ev->sampling->attr.attr.freq = 0;
	ev->sampling->attr.attr.sample_period = 0;
}

int groups_apply(struct stream *s, struct fault *f)
{
	for (uint32_t i = 0, leader = 0; i < s->list.nevents; i++) {
		struct stream_event *ev = &s->list.events[i];
		const char *why;

		if (!ev->asked.item->group)
			continue;
		if (!i || s->list.events[i - 1].asked.item->group != ev->asked.item->group)
			leader = i;
		ev->opened.leader = leader;
		why = why_not(s, ev);
		if (why)
			return spec_fault(f, ev->asked.item, ev->asked.item->at, why, "another event, or this "
					  "one outside the braces");
		if (!is_read(s, &s->list.events[leader]))
			continue;
		set_format(ev, GROUP_READ);
		if (i != leader)
			set_counted(ev);
	}
	return 0;
}

bool groups_are_read(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].opened.read_format & PERF_FORMAT_GROUP)
			return true;
	return false;
}

/* ---- what this kernel and PMU support -------------------------------------- */

static bool reads(const struct stream_event *ev)
{
	return ev->opened.read_format & PERF_FORMAT_GROUP ||
	       (ev->sampling && ev->sampling->attr.attr.sample_type & PERF_SAMPLE_READ);
}

/* Linux 6.12 and later can, and then count for each task. */
static bool can_inherit_reads(void)
{
	struct perf_event_attr attr;
	struct pev_event *ev;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.disabled = attr.inherit = attr.exclude_kernel = attr.exclude_hv = 1;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	attr.read_format = GROUP_READ;
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, NULL))
		return false;
	pev_event_close(ev);
	return true;
}

static bool inherits(const struct stream *s)
{
	return !targets_everybody(s->opts) && !s->opts->cgroups.n && s->opts->inherit >= 0;
}

/* The format of a probe has such a field, whoever made it: for all other tracepoints, the kernel's lists need not be read. */
static bool is_probe(const struct tracefmt *fmt)
{
	for (size_t i = fmt ? fmt->ncommon : 0; fmt && i < fmt->nfields; i++)
		if (!strncmp(fmt->fields[i].name, "__probe_", strlen("__probe_")))
			return true;
	return false;
}

static bool has_probes_of_programs(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++) {
		const struct stream_event *ev = &s->list.events[i];

		if (is_probe(ev->fmt) && probes_is_of_program(s->list.tracefs, ev->sys, ev->tracepoint))
			return true;
	}
	return false;
}

static void look_at_inheritance(struct stream *s)
{
	bool any = false;

	for (size_t i = 0; i < s->list.nevents; i++)
		any |= reads(&s->list.events[i]);
	s->rings.inherits_probes = inherits(s) && has_probes_of_programs(s);
	s->rings.reads_alone = any && inherits(s) && !can_inherit_reads();
	if (s->rings.reads_alone)
		note(1, "events whose samples have counts (groups with S, sample=read) don't "
		     "follow new threads and children: Linux before 6.12 cannot read inherited "
		     "counts; use -a to watch all tasks");
}

/* Opens the group on our own thread; at most its first 32 events. */
static bool fits(const struct stream *s, uint32_t leader)
{
	struct pev_event *opened[32] = { NULL };
	size_t n = 0;
	bool fit = true;

	for (size_t i = leader; i < s->list.nevents && s->list.events[i].opened.leader == leader && n < 32 &&
	     fit; i++) {
		struct pev_open_opts opts = { .size = sizeof(opts), .group = opened[0] };
		union pev_attr_buf buf;

		open_attr(s, &s->list.events[i], &s->everybody, &buf);
		if (buf.attr.freq)   /* its frequency may be refused for other reasons */
			pev_attr_sample_period(&buf.attr, 1u << 30);
		fit = !pev_event_open(&opened[n++], &buf.attr, pev_target_self(), &opts, NULL);
	}
	while (n)
		pev_event_close(opened[--n]);
	return fit;
}

static void take_apart(struct stream *s, uint32_t leader)
{
	for (size_t i = leader; i < s->list.nevents && s->list.events[i].opened.leader == leader; i++)
		s->list.events[i].opened.leader = NO_LEADER;
}

void groups_prepare(struct stream *s)
{
	look_at_inheritance(s);
	for (uint32_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].opened.leader == i &&
		    strchr(modifiers_of(s, s->list.events[i].asked.item), 'W') &&
		    !fits(s, i)) {
			note(s->opts->verbose, "the group of %s doesn't fit on the PMU: its events are opened alone",
			     s->list.events[i].name);
			take_apart(s, i);
		}
}

/* A leader that nobody wants is opened for its members, and its samples are dropped: without it,
 * the group does not count. */
void groups_settle(struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++) {
		struct stream_event *ev = &s->list.events[i], *leader;

		if (ev->opened.leader == NO_LEADER)
			continue;
		leader = &s->list.events[ev->opened.leader];
		if (ev->opened.counted)
			ev->wanted = leader->wanted && !leader->opened.muted;
		else if (ev->wanted && !leader->wanted)
			leader->wanted = leader->opened.muted = true;
	}
}

/* ---- opening --------------------------------------------------------------- */

struct pev_event *groups_leader(const struct stream *s, const struct stream_event *event,
				const struct task_target *task, const struct ring *ring)
{
	if (event->opened.leader == NO_LEADER || &s->list.events[event->opened.leader] == event)
		return NULL;
	for (size_t i = s->rings.nopened; i-- > 0;) {
		const struct opened *o = &s->rings.opened[i];

		if (o->event == &s->list.events[event->opened.leader] && o->task == task && o->ring == ring)
			return o->ev;
	}
	return NULL;
}
