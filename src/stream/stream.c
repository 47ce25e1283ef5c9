/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/choice/counts.h"
#include "stream/choice/dispatch.h"
#include "stream/code/buildids.h"
#include "stream/code/codefiles.h"
#include "stream/code/jitnames.h"
#include "stream/list/list.h"
#include "stream/list/maker.h"
#include "stream/list/openattr.h"
#include "stream/private.h"
#include "stream/record/recorder.h"
#include "stream/recording/facts.h"
#include "stream/replay/replay.h"
#include "stream/rings/rings.h"
#include "stream/rings/running.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int choose_clock(struct stream *s, struct fault *f)
{
	const struct stream_opts *o = s->opts;

	if (o->tsc && o->monotonic)
		return fault_usage(f, "--tsc and --monotonic name two clocks; give one");
	s->clock.kind = o->tsc ? CLOCK_TSC : o->monotonic ? CLOCK_MONO : CLOCK_PERF;
	s->clock.added = o->clock_offset;
	if (!o->tsc)
		return 0;
	if (perf_clock_open(&s->clock) || perf_clock_learn_tsc(&s->clock))
		return fault_set(f, EXIT_FAILED, "--tsc: this kernel does not report how its clock relates "
				 "to the TSC (not an x86 with a stable TSC, or a virtual machine with a clock of its own); "
				 "--monotonic is a clock that all programs can read");
	return 0;
}

static int check_cgroups(const struct stream_opts *o, struct fault *f)
{
	if (!o->samples_cgroups || open_knows_cgroups())
		return 0;
	return fault_set(f, EXIT_FAILED, "samples cannot have the control group of their task: this needs Linux 5.7, with "
			 "CONFIG_CGROUP_PERF");
}

struct stream *stream_new(const struct stream_opts *opts, struct fault *f)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s) {
		fault_set(f, EXIT_FAILED, "out of memory");
		return NULL;
	}
	s->opts = opts;
	s->tasks_due = UINT64_MAX;
	s->run.epoll = s->run.end_with = s->run.watched = s->run.attention.kick = s->run.attention.tell = s->run.attention.timer = s->run.attention.end = -1;
	probes_init(&s->list.probes);
	running_init(s);
	s->rings.has_lost_format = opts->input || open_knows_lost_format();
	s->list.formats = tracefmt_db_new();
	if (!s->list.formats) {
		fault_set(f, EXIT_FAILED, "out of memory");
		stream_free(s);
		return NULL;
	}
	if (opts->input ? replay_new(s, f) || filters_prepare(s, f)
			: ids_check(f) || check_cgroups(opts, f) || choose_clock(s, f) || targets_resolve(&s->targets, opts, f) ||
				  (!opts->without_events && events_from_specs(s, f)) || filters_prepare(s, f)) {
		stream_free(s);
		return NULL;
	}
	return s;
}

int stream_check_chains(const struct stream *s, struct fault *f)
{
	if (s->opts->chains.said && s->opts->chains.stack_bytes && s->opts->user_callchain < 0)
		return fault_usage(f, "--call-graph %s samples the user part of call chains, which "
				   "--no-user-callchain leaves out; -g samples the kernel part",
				   s->opts->chains.stack_bytes == CHAINS_AUTO ? "auto" : "dwarf");
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].callchain && !s->list.events[i].asked.chain_kernel &&
		    !s->list.events[i].asked.chain_user)
			return fault_usage(f, "%s with --no-kernel-callchain leaves no call chain for %s; add "
					   "--user-callchain", s->opts->call_graph ? "-g" : "the attribute stack",
					   s->list.events[i].name);
	return 0;
}

void stream_add_own(void *stream, pid_t pid)
{
	own_add(&((struct stream *)stream)->choice.own, pid);
}

bool stream_is_own(const struct stream *s, pid_t tid)
{
	return own_has(&s->choice.own, (uint32_t)tid, 0) || (s->choice.own.counts && !syscall(SYS_tgkill, getpid(), tid, 0));
}

void stream_settle(struct stream *s)
{
	dispatch_index(s);
}

void stream_free(struct stream *s)
{
	int closer;

	if (!s)
		return;
	ordered_stop(s);
	counts_free(s);
	replay_free(s);
	attention_stop(&s->run.attention);
	closer = closer_start(s);
	filters_forget(s);
	close_all(s);
	closer_release(closer);
	probes_end(&s->list.probes);
	recorder_free(s);
	buildids_free(s->record.buildids);
	codefiles_free(s->record.codefiles);
	jitnames_free(s->record.jitnames);
	free(s->record.folders);
	perf_clock_close(&s->clock);
	hotplug_end(&s->hotplug);
	if (s->run.epoll >= 0)
		close(s->run.epoll);
	targets_free(&s->targets);
	makers_free(s);
	ids_end(s);
	running_end(s);
	throttles_free(&s->loss.throttles);
	events_free(s);
	tracefmt_db_free(s->list.formats);
	free(s->choice.by_id);
	free(s);
}

struct stream_event *stream_events(struct stream *s, size_t *n)
{
	*n = s->list.nshown;
	return s->list.events;
}

bool stream_event_has_counts(const struct stream_event *event)
{
	return counts_are_in(event);
}

struct stream_event *stream_leaders(struct stream *s, size_t *n)
{
	*n = 0;
	return s->replay ? replay_leaders(s, n) : NULL;
}

bool stream_samples_cgroups(const struct stream *s)
{
	return s->opts->samples_cgroups;
}

bool stream_prints_functions(const struct stream *s)
{
	for (size_t i = 0; i < s->list.nevents; i++)
		if (s->list.events[i].wanted && s->list.events[i].fmt &&
		    tracefmt_prints_functions(s->list.events[i].fmt))
			return true;
	return false;
}

struct tracefmt_db *stream_formats(struct stream *s)
{
	return s->list.formats;
}

void stream_totals(const struct stream *s, struct stream_totals *totals)
{
	*totals = s->loss.totals;
	totals->throttled = s->loss.throttles.times;
	totals->late = s->rings.order ? order_late(s->rings.order) : 0;
}

void stream_keep_folder(struct stream *s, const char *line)
{
	if (s->record.writer)
		recorder_keep_folder(s, line);
}

bool stream_recording_failed(const struct stream *s)
{
	return s->record.failed;
}

bool stream_leaves_out_chains(const struct stream *s, bool kernel)
{
	return s->replay && (kernel ? s->opts->kernel_callchain : s->opts->user_callchain) < 0;
}

const struct replay *stream_replay(const struct stream *s)
{
	return s->replay;
}

uint64_t stream_reached(const struct stream *s)
{
	return s->replay ? replay_reached(s->replay) : 0;
}
