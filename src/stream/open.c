/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens events: event × task × CPU, with one ring per CPU.
 *
 * An inherited event for any CPU cannot be mapped, so events of tasks are opened for each CPU, and
 * redirected (SET_OUTPUT) to the ring of that CPU. The ring belongs to a dummy event of our own
 * thread, so that wakeups do not stop when a watched task ends.
 *
 * A thread that starts while the events of its process are being opened inherits only some of them.
 * So threads are listed again afterwards, and if there is a new one, everything is closed and
 * opened again. The same happens if the kernel's limit on frequencies fell meanwhile, so that all
 * CPUs and tasks are sampled alike.
 */
#include "base/descriptors.h"
#include "base/note.h"
#include "base/units.h"
#include "perfevent/attr/attr_fields.h"
#include "stream/asked/filter.h"
#include "stream/choice/counts.h"
#include "stream/choice/dispatch.h"
#include "stream/list/groups.h"
#include "stream/list/maker.h"
#include "stream/list/openattr.h"
#include "stream/list/useronly.h"
#include "stream/private.h"
#include "stream/record/recorder.h"
#include "stream/replay/replay.h"
#include "stream/rings/grow.h"
#include "stream/rings/rings.h"
#include "stream/rings/running.h"
#include "stream/rings/slower.h"
#include "stream/state/mappings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* With stacks, a CPU fills 16 MiB in two seconds. So long may the loop wait for unwind tables that are read for the first
 * time, on busy CPUs. A program that starts has page faults fast enough to fill 64 MiB with their stacks in half a second. */
enum {
	DEFAULT_RING = 1 << 20, RECORD_RING = 8 << 20, STACK_RING = 16 << 20, LEAST_STACK_RING = 4 << 20, STACKS_PART = 64,
	EACH_STACK_RING = 64 << 20, EACH_STACKS_PART = 128, OPEN_TRIES = 5,
};

/* Descriptors for the event loop itself; with --buffer; and for a script that opens files. */
enum { LOOP_FILES = 5, BUFFER_FILES = 2, SPARE_FILES = 64 };

/* ---- our own events --------------------------------------------------- */

/*
 * perf-prof's own work would cause more events: printing an event calls write, which is an event.
 * So if all tasks are targets, samples of perf-prof are dropped: those of the main thread, which
 * prints, by the kernel's filter if its tid in the initial PID namespace is known; all others when
 * they are read. sched_switch is kept: it also tells when the next task starts to run. So is what an
 * interrupt does meanwhile; but most softirqs may be perf-prof's own, see interrupts_of_others().
 */
static int set_filter(struct stream *s, struct opened *o, struct fault *f)
{
	const char *kernel = o->event->opened.filtered ? o->event->opened.filtered->kernel : NULL;
	bool skip_us = s->rings.filter_self && !o->event->keep_own;
	struct pev_error err = {0};
	char ours[80], *text = NULL;
	int rc;

	if (!o->event->fmt || (!kernel && !skip_us))
		return 0;
	snprintf(ours, sizeof(ours), "common_pid != %d || common_flags & %d", (int)s->rings.own_tid, o->event->interrupts);
	if (kernel && skip_us && asprintf(&text, "(%s) && (%s)", kernel, ours) < 0)
		return fault_set(f, EXIT_FAILED, "out of memory");
	rc = pev_event_set_filter(o->ev, text ? text : kernel ? kernel : ours, &err);
	free(text);
	return rc ? fault_from_pev(f, EXIT_USAGE, &err) : 0;
}

/* ---- rings ------------------------------------------------------------ */

static uint64_t power_of_two(uint64_t bytes)
{
	uint64_t p = (uint64_t)sysconf(_SC_PAGESIZE);

	while (p < bytes && p < 1ull << 40)
		p <<= 1;
	return p;
}

/* size, or less if the rings of all CPUs are more than that part of memory together. */
static uint64_t fitting_ring(const struct stream *s, uint64_t size, uint64_t least, unsigned int part)
{
	struct sysinfo si;

	sysinfo(&si);
	while (size > least && size * s->targets.cpus.n > (uint64_t)si.totalram * si.mem_unit / part)
		size /= 2;
	return size;
}

/* A recording of each system call fills 1 MiB in a few milliseconds, and rings grow only after a loss. */
static uint64_t ring_without_stacks(const struct stream *s)
{
	const uint64_t usual = s->opts->ring.usual ? s->opts->ring.usual : DEFAULT_RING;

	if (!s->opts->record || usual >= RECORD_RING || !stream_has_samples_of_each(s))
		return usual;
	return fitting_ring(s, RECORD_RING, usual, STACKS_PART);
}

/* The default size; rings for stacks get at most 1/64 of memory together. */
static uint64_t usual_ring(const struct stream *s)
{
	uint64_t size = STACK_RING;

	if (!stream_has_stacks(s))
		return ring_without_stacks(s);
	if (stream_has_stack_of_each(s))
		size = fitting_ring(s, EACH_STACK_RING, STACK_RING, EACH_STACKS_PART);
	return fitting_ring(s, size, LEAST_STACK_RING, STACKS_PART);
}

/* Rounds -m to a power of two; all rings together get at most a quarter of memory. */
static void choose_ring_size(struct stream *s)
{
	struct stream_opts *o = (struct stream_opts *)s->opts;
	uint64_t wish = o->ring.bytes ? o->ring.bytes : usual_ring(s);
	uint64_t asked = wish > s->rings.least_bytes ? wish : s->rings.least_bytes, size = power_of_two(asked);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), limit;
	int verbose = o->verbose;
	struct sysinfo si;
	char a[32], b[32];

	if (size != asked)
		note(verbose, "-m: %s rounded up to %s, a power of two",
		     units_bytes_text(asked, a, sizeof(a)), units_bytes_text(size, b, sizeof(b)));
	sysinfo(&si);
	limit = (uint64_t)si.totalram * si.mem_unit / 4 / s->targets.cpus.n;
	/* the kernel has the ring's size in an int */
	for (uint64_t was = size; size > page && (size > limit || size > 1ull << 31); size /= 2)
		if (size == was)
			note(verbose, "-m: %s for each of %zu CPUs is more than a quarter of memory: "
			     "using less", units_bytes_text(size, a, sizeof(a)),
			     s->targets.cpus.n);
	s->rings.wanted_bytes = size;
}

/* Neither 0 nor -1, which -EPERM is. */
enum { TOO_LARGE = 1 };

/* 0, TOO_LARGE for the limit on locked memory, or -1 with f. */
static int map_ring(struct stream *s, struct ring *ring, struct fault *f)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes = s->opts->ring.bytes;
	struct pev_error err = {0};
	int rc = pev_ring_map(&ring->ring, ring->owner, (unsigned int)(bytes / page), &err);

	if (rc == -EPERM && bytes > page)
		return TOO_LARGE;
	if (rc)
		return fault_from_pev(f, EXIT_FAILED, &err);
	s->loss.totals.ring_bytes += bytes;
	return 0;
}

/* --buffer: equal parts, none smaller than the ring that it serves. */
static int buffer_ring(struct stream *s, struct ring *ring, struct fault *f)
{
	uint64_t part = s->opts->buffer / s->targets.cpus.n, size = s->opts->ring.bytes;
	char text[32];

	if (!s->opts->buffer)
		return 0;
	while (size < part && size < UINT64_MAX / 2)
		size *= 2;
	ring->backlog = size <= SIZE_MAX ? backlog_new(ring->ring, (size_t)size) : NULL;
	if (!ring->backlog)
		return fault_set(f, EXIT_FAILED, "--buffer: no memory for %s behind the ring of "
				 "CPU %d: %s; give a smaller size",
				 units_bytes_text(size, text, sizeof(text)), ring->cpu,
				 strerror(errno));
	ring->ring = backlog_ring(ring->backlog);
	return 0;
}

static int open_ring(struct stream *s, int cpu, struct fault *f)
{
	struct ring *ring = &s->rings.v[s->rings.n];
	struct pev_error err = {0};
	int rc;

	if (open_ring_owner(s, cpu, gettid(), &ring->owner, &err))
		return fault_from_pev(f, EXIT_FAILED, &err);
	ring->cpu = cpu;
	s->rings.n++;
	rc = map_ring(s, ring, f);
	return rc ? rc : buffer_ring(s, ring, f);
}

static void close_rings(struct stream *s)
{
	for (size_t i = 0; i < s->rings.n; i++) {
		grow_free(&s->rings.v[i]);
		if (s->rings.v[i].backlog)
			backlog_free(s->rings.v[i].backlog);
		else
			pev_ring_unmap(s->rings.v[i].ring);
		pev_event_close(s->rings.v[i].owner);
	}
	free(s->rings.v);
	s->rings.v = NULL;
	s->rings.n = 0;
	s->loss.totals.ring_bytes = 0;
}

/* As map_ring(). */
static int try_rings(struct stream *s, struct fault *f)
{
	int rc = 0;

	s->rings.v = calloc(s->targets.cpus.n, sizeof(*s->rings.v));
	if (!s->rings.v)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < s->targets.cpus.n && !rc; i++)
		rc = open_ring(s, s->targets.cpus.v[i], f);
	return rc;
}

/* The largest rings that fit; all have the same size. */
static int open_rings(struct stream *s, struct fault *f)
{
	struct stream_opts *o = (struct stream_opts *)s->opts;
	int rc;

	o->ring.bytes = s->rings.wanted_bytes;
	while ((rc = try_rings(s, f)) == TOO_LARGE) {
		close_rings(s);
		o->ring.bytes /= 2;
	}
	return rc;
}

/* ---- rings and sideband ------------------------------------------------ */

static enum side_maps wanted_maps(const struct stream *s)
{
	return !stream_wants_mappings(s) ? SIDE_MAPS_NONE : mappings_have_data(s) ? SIDE_MAPS_ALL : SIDE_MAPS_CODE;
}

static void open_sideband(struct stream *s, unsigned int pages)
{
	const struct sideband_opts opts = {
		.clock = &s->clock, .more_sample_type = s->opts->record ? RECORDER_SAMPLE_TYPE : 0,
		.inherit = s->opts->inherit >= 0, .apart = s->rings.inherits_probes, .mappings = wanted_maps(s),
		.cgroups = s->opts->samples_cgroups, .pages = pages,
	};

	s->sideband = sideband_open(&s->targets, &opts);
	if (s->sideband)
		sideband_set_own(s->sideband, &s->choice.own);
}

/* The sideband comes first: without records of mappings, samples have no names, and smaller rings for samples may be
 * large enough. If so little memory can be locked that the sideband has more of it than the samples, it gets less. */
static int open_rings_and_sideband(struct stream *s, bool sideband, struct fault *f)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned int pages = 0;
	bool starved;

	do {
		close_rings(s);
		sideband_free(s->sideband);
		s->sideband = NULL;
		if (sideband)
			open_sideband(s, pages);
		starved = open_rings(s, f);
		pages = s->sideband ? sideband_pages(s->sideband) / 2 : 0;
		if (starved && (f->error != EPERM || pages < SIDEBAND_LEAST_PAGES))
			return -1;
		*f = starved ? (struct fault){ 0 } : *f;
	} while (starved || (s->opts->ring.bytes < s->rings.wanted_bytes && pages >= SIDEBAND_LEAST_PAGES &&
			     s->opts->ring.bytes / page < 2ull * pages));
	return 0;
}

static void tell_lost_probes(const struct stream *s)
{
	if (s->rings.inherits_probes && !(s->sideband && sideband_is_apart(s->sideband)))
		note(1, "probes in programs may miss processes that children of the watched ones start: %s; -a, which watches "
		     "all tasks, has them", s->sideband ? "Linux before 6.12 loses these" : "the limit on open files or locked memory is too low");
}

static void tell_ring_size(struct stream *s)
{
	char a[32], b[32];

	s->rings.limited = s->opts->ring.bytes != s->rings.wanted_bytes;
	if (s->rings.limited)
		note(s->opts->verbose, "rings of %s instead of %s: the limit on locked memory "
		     "(ulimit -l, sysctl kernel.perf_event_mlock_kb)",
		     units_bytes_text(s->opts->ring.bytes, a, sizeof(a)),
		     units_bytes_text(s->rings.wanted_bytes, b, sizeof(b)));
}

/* ---- events ----------------------------------------------------------- */

static int wire(struct stream *s, struct opened *o, struct fault *f)
{
	struct pev_error err = { .remedy = "this is a bug of perf-prof: please report it" };
	int rc = pev_event_set_output(o->ev, o->ring->owner);

	if (rc) {
		snprintf(err.asked, sizeof(err.asked), "send %s into the ring of CPU %d",
			 o->event->name, o->ring->cpu);
		snprintf(err.said, sizeof(err.said), "%s", strerror(-rc));
		return fault_from_pev(f, EXIT_FAILED, &err);
	}
	return set_filter(s, o, f);
}

/* Errors that would also affect the next event. */
static bool is_shortage(int rc)
{
	return rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM;
}

/* Arguments of open_event(), for rate_open(). */
struct opening {
	struct pev_event **ev;
	struct stream_event *event;
	struct pev_target target;
	struct pev_event *leader;   /* of its group; NULL: none */
	struct pev_error *err;
};

static int open_event(void *ctx, struct perf_event_attr *attr)
{
	const struct opening *o = ctx;
	const struct stream_event *event = o->event;
	char label[256];
	struct pev_open_opts opts = { .size = sizeof(opts), .label = label, .group = o->leader };

	if (event->sampling)
		snprintf(label, sizeof(label), "%s", event->sampling->what);
	else if (event->asked.probe)
		snprintf(label, sizeof(label), "%s", event->name);
	else
		snprintf(label, sizeof(label), "%s:%s", event->sys, event->tracepoint);
	return pev_event_open(o->ev, attr, o->target, &opts, o->err);
}

/* Whether the PMU may lack the precision of :P. (EINVAL may also mean the frequency, but
 * rate_open() has handled that.) */
static bool is_too_precise(const struct stream_sampling *sampling, const struct perf_event_attr *attr, int rc)
{
	return sampling && sampling->precise_max && attr->precise_ip &&
	       (rc == -EINVAL || rc == -EOPNOTSUPP || rc == -ENOENT);
}

/* Whether an event is open with a frequency that is too high by now. */
static bool exceeds(const struct stream *s, uint64_t limit)
{
	for (size_t i = 0; i < s->rings.nopened; i++) {
		const struct perf_event_attr *a = pev_event_attr(s->rings.opened[i].ev);

		if (a->freq && a->sample_freq > limit)
			return true;
	}
	return false;
}

/* Opens an event, and lowers its frequency, raises the period of a clock, and lowers the precision
 * of :P as far as the kernel requires. */
static int try_open(struct stream *s, struct opening *o, union pev_attr_buf *buf)
{
	struct stream_sampling *sampling = o->event->sampling;
	const struct rate_opener opener = { open_event, rate_limit, o, s->opts->strict_freq,
					    .steady = sampling && !sampling->rate };
	const uint64_t asked = buf->attr.sample_period;
	int rc;

	while ((rc = rate_open(&opener, &buf->attr)) && is_too_precise(sampling, &buf->attr, rc))
		sampling->attr.attr.precise_ip = --buf->attr.precise_ip;
	if (sampling && buf->attr.sample_period != asked) {
		sampling->rate = buf->attr.freq ? sampling->rate : asked;
		sampling->attr.attr.sample_period = buf->attr.sample_period;
		sampling->lowered = true;
		s->rings.uneven |= buf->attr.freq && exceeds(s, buf->attr.sample_freq);
	}
	return rc;
}

int open_one(struct stream *s, struct stream_event *event, const struct task_target *task, struct ring *ring, struct fault *f)
{
	union pev_attr_buf buf;
	struct pev_error err = {0};
	struct opened *o = &s->rings.opened[s->rings.nopened];
	int rc;

	open_attr(s, event, task, &buf);
	/* read(2) then reports how long the event was on, for throttling; samples stay as they are */
	if (event->sampling && buf.attr.sample_period && !(buf.attr.sample_type & PERF_SAMPLE_READ))
		buf.attr.read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	rc = try_open(s, &(struct opening){ &o->ev, event, targets_of(task, ring->cpu),
						     groups_leader(s, event, task, ring), &err }, &buf);
	if (rc == -ESRCH)
		return -ESRCH;
	if (rc == -ERANGE && s->opts->strict_freq)
		return rate_refuse(event, s->opts->freq, f);
	if (rc && event->sampling && task->tid < 0 && task->cgroup_fd < 0 && !pev_is_of_kernel_alone_(&event->sampling->attr.attr))
		useronly_advise(&err, &event->sampling->attr, s->opts->takes_command);
	if (rc)
		fault_from_pev(f, EXIT_FAILED, &err);
	if (rc)
		return is_shortage(rc) ? rc : -1;
	*o = (struct opened){ o->ev, event, ring, task, false };
	s->rings.nopened++;
	return wire(s, o, f);
}

/* Some tracepoints cannot be sampled at all: a glob that includes one works without it. */
static void leave_out(struct stream *s, struct stream_event *event, const struct fault *f)
{
	note(s->opts->verbose, "left out: %s", f->text);
	event->wanted = false;
}

static int open_task(struct stream *s, const struct task_target *task, struct fault *f)
{
	int rc = 0;

	for (size_t e = 0; e < s->list.nevents && !rc; e++) {
		struct stream_event *event = &s->list.events[e];

		if (event->maker || event->asked.everywhere != (task == &s->everybody))
			continue;
		for (size_t r = 0; event->wanted && r < s->rings.n && !rc; r++)
			if (!event->asked.cpus.n || numlist_has(&event->asked.cpus, s->rings.v[r].cpu))
				rc = open_one(s, event, task, &s->rings.v[r], f);
		if (rc == -1 && event->asked.from_glob) {
			leave_out(s, event, f);
			rc = 0;
		}
	}
	return rc;
}

static int open_events(struct stream *s, struct fault *f)
{
	size_t alive = 0;

	s->everybody = (struct task_target){ .tid = -1, .cgroup_fd = -1 };
	s->rings.opened = calloc(s->list.nevents * s->rings.n * (s->targets.ntasks + 1) + 1, sizeof(*s->rings.opened));
	if (!s->rings.opened)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t t = 0; t < s->targets.ntasks; t++) {
		int rc = open_task(s, &s->targets.tasks[t], f);

		if (rc && rc != -ESRCH)
			return -1;
		alive += rc == 0;
	}
	if (!alive)
		return targets_ended(f);
	if (!s->rings.nopened && f->exit_code)
		return -1;   /* every event of the globs was refused: f has the last reason */
	f->exit_code = 0;
	return open_task(s, &s->everybody, f) ? -1 : 0;
}

static int check_event_cpus(struct stream *s, struct fault *f)
{
	for (size_t e = 0; e < s->list.nevents; e++) {
		const struct numlist *cpus = &s->list.events[e].asked.cpus;

		for (size_t i = 0; i < cpus->n; i++)
			if (!numlist_has(&s->targets.cpus, cpus->v[i]))
				return fault_usage(f, "%s: cpus=%d: that CPU is not among the watched "
						   "ones", s->list.events[e].name, cpus->v[i]);
	}
	return 0;
}

/* Number of descriptors for one task, or for events opened for all tasks. */
static size_t count_openings(const struct stream *s, bool everywhere)
{
	size_t n = 0;

	for (size_t e = 0; e < s->list.nevents; e++)
		if (s->list.events[e].wanted && !s->list.events[e].maker &&
		    s->list.events[e].asked.everywhere == everywhere)
			n += s->list.events[e].asked.cpus.n ? s->list.events[e].asked.cpus.n : s->targets.cpus.n;
	return n;
}

/* Checks the number of descriptors before the first of thousands is opened, so that the message can
 * give numbers. */
static int reserve_descriptors(const struct stream *s, bool *sideband, struct fault *f)
{
	size_t each = count_openings(s, false), tasks = s->targets.ntasks;
	size_t need = each * tasks + count_openings(s, true) + s->targets.cpus.n + (s->opts->buffer ? BUFFER_FILES : 0);
	const size_t all = need + sideband_descriptors(&s->targets) + LOOP_FILES + SPARE_FILES;
	char remedy[256];

	/* without room for both, the loop has priority over the sideband */
	*sideband = descriptors_reserve(all) ||
		    descriptors_reserve(need + sideband_descriptors(&s->targets) + LOOP_FILES);
	if (*sideband || descriptors_reserve(need + LOOP_FILES))
		return 0;
	return fault_set(f, EXIT_FAILED, "%zu open files are needed in addition to those that perf-prof has open (%zu for each of %zu "
			 "%s%s, one for each of %zu ring%s), but %s, or watch fewer events, tasks or CPUs (-C)",
			 need + LOOP_FILES, each, tasks, targets_everybody(s->opts) ? "target"
			 : s->opts->cgroups.n ? "control group" : "thread", units_plural(tasks), s->targets.cpus.n,
			 units_plural(s->targets.cpus.n),
			 descriptors_remedy(all, remedy, sizeof(remedy)));
}

static int open_once(struct stream *s, struct fault *f)
{
	bool sideband;

	s->rings.uneven = false;
	if (reserve_descriptors(s, &sideband, f) || open_rings_and_sideband(s, sideband, f) || open_events(s, f))
		return -1;
	return 0;
}

static int list_again(struct stream *s, struct fault *f)
{
	close_all(s);
	targets_free(&s->targets);
	return targets_resolve(&s->targets, s->opts, f);
}

static int open_until_whole(struct stream *s, struct fault *f)
{
	for (int i = 0; i < OPEN_TRIES; i++) {
		if (i && list_again(s, f))
			return -1;
		if (open_once(s, f))
			return -1;
		if (!s->rings.uneven && !targets_moved(&s->targets, s->opts))
			return 0;
	}
	note(s->opts->verbose, s->rings.uneven ? "kernel.perf_event_max_sample_rate kept "
	     "falling while events were opened: some CPUs are sampled more often than others"
	     : "new threads kept starting while events were opened: some of their first events may "
	     "be missing");
	return 0;
}

int open_all(struct stream *s, struct fault *f)
{
	bool fixed = s->opts->ring.bytes || s->rings.least_bytes || s->opts->buffer;

	own_begin(&s->choice.own, targets_everybody(s->opts));
	s->rings.filter_self = s->choice.own.counts && s->rings.own_tid;
	if (check_event_cpus(s, f))
		return -1;
	choose_ring_size(s);
	groups_prepare(s);
	if (open_until_whole(s, f))
		return -1;
	tell_ring_size(s);
	tell_lost_probes(s);
	grow_allow(s, fixed);
	slower_allow(s);
	return 0;
}

void close_all(struct stream *s)
{
	grow_wait(s);
	for (size_t i = 0; i < s->rings.nopened; i++)
		pev_event_close(s->rings.opened[i].ev);
	close_rings(s);
	sideband_free(s->sideband);
	s->sideband = NULL;
	free(s->rings.opened);
	s->rings.opened = NULL;
	s->rings.nopened = 0;
}

int stream_open(struct stream *s, struct fault *f)
{
	if (s->replay)
		return replay_open(s, f) || ids_begin(s, f) || running_begin(s, f) ? -1 : 0;
	hotplug_begin(&s->hotplug);
	if (s->opts->without_events)
		return 0;
	makers_settle(s);
	groups_settle(s);
	/* its ring comes first: later, the limit on locked memory may be used up */
	if (!s->clock.ring)
		perf_clock_open(&s->clock);
	if (ids_begin(s, f) || open_all(s, f))
		return -1;
	rate_tell(s->list.events, s->list.nevents, s->opts->verbose);
	targets_note_empty(&s->targets, s->opts);
	if (!s->sideband)
		note(s->opts->verbose, "names of new tasks are looked up late: too few open files or too little locked "
		     "memory for COMM records");
	if (running_begin(s, f) || counts_begin(s, f))
		return -1;
	dispatch_index(s);
	return recorder_prepare(s, f);
}
