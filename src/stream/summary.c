/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/summary.h"

#include "base/note.h"
#include "base/units.h"
#include "stream/recording/recording.h"
#include "stream/state/state.h"
#include "stream/stream.h"
#include "tasks/pidmap.h"

#include <stdio.h>

/* "99 % of"; at most 100 %. */
static void put_share(const struct stream_throttled *t, char *buf, size_t size)
{
	if (t->observed)
		snprintf(buf, size, "%.0f %% of", t->ns < t->observed ? 100. * (double)t->ns / (double)t->observed : 100.);
	else
		snprintf(buf, size, "%.3f ms of", (double)t->ns / 1e6);
}

static void tell_throttled(const struct stream *s)
{
	bool told = false, all = s->opts->verbose > 0;
	struct stream_throttled t;
	char share[32];

	for (size_t i = 0; stream_throttled(s, i, &t); i++) {
		if (!all && !throttle_matters(t.ns, t.bound))
			continue;
		put_share(&t, share, sizeof(share));
		fprintf(stderr, "perf-prof: %s throttled %llu time%s, %s%s the time %s CPU %d%s\n", t.event->name,
			(unsigned long long)t.times, units_plural(t.times), t.at_most ? "at most " : "", share,
			t.on_task ? "it was on" : "of", t.cpu, told ? "" : ": its samples come too fast; use a longer period "
			"or a lower frequency");
		told = true;
	}
}

/* For recordings: a pid from another day or machine is an easy mistake. */
static int check_absent(const struct stream *s, const struct stream_totals *t, struct fault *f)
{
	const struct stream_opts *o = s->opts;
	const struct replay *p = s->replay;
	const bool absent = p && (p->chooses_tasks ? !p->found : o->cpus.n && !t->delivered && !t->filtered);

	if (!absent || !t->counted || o->time.from || o->time.to || stream_was_interrupted(s))
		return 0;
	if (p->thread)
		return fault_set(f, EXIT_FAILED, "the recording has no event from process %d: %d is a thread of process %d; -t %d selects "
				 "it", (int)p->thread, (int)p->thread, (int)p->thread_of, (int)p->thread);
	return fault_set(f, EXIT_FAILED, "the recording has no event from the tasks and CPUs that -p, -t and -C select; `perf-prof "
			 "script -F pid,tid,cpu` shows its tasks and CPUs");
}

/* As --time takes it. */
static void put_seconds(uint64_t ns, char *buf, size_t size)
{
	snprintf(buf, size, "%llu.%06llu", (unsigned long long)(ns / 1000000000), (unsigned long long)(ns % 1000000000 / 1000));
}

static int check_outside(const struct stream *s, const struct stream_totals *t, struct fault *f)
{
	const struct replay *p = s->replay;
	char first[32], last[32];

	if (!t->counted || p->outside != t->counted)
		return 0;
	put_seconds(p->outside_first, first, sizeof(first));
	put_seconds(p->outside_last + 999, last, sizeof(last));   /* rounded up: --time includes the last sample */
	return fault_set(f, EXIT_FAILED, "the recording has no event in the time that --time selects: its events %s %s%s%s, in seconds "
			 "of its clock", p->cut ? "begin at" : "are from", first, p->cut ? "" : " to ", p->cut ? "" : last);
}

static int check_any(const struct stream *s, const struct stream_totals *t, struct fault *f)
{
	if (!s->opts->needs_samples || t->delivered)
		return 0;
	return fault_set(f, EXIT_FAILED, "%s: there are no samples to convert%s", s->opts->input,
			 t->filtered ? ": none passes the filters" : "");
}

int summary_check(const struct stream *s, struct fault *f)
{
	struct stream_totals t;

	stream_totals(s, &t);
	return s->replay && !stream_was_interrupted(s) &&
	       (check_absent(s, &t, f) || check_outside(s, &t, f) || check_any(s, &t, f)) ? -1 : 0;
}

uint64_t summary_missing(const struct stream *s, uint64_t *counted)
{
	struct stream_totals t;
	uint64_t known;

	stream_totals(s, &t);
	known = t.delivered + t.lost + t.malformed + t.limited + t.skipped + t.filtered + t.beyond;
	*counted = t.counted;
	/* after -N perf-prof reads no further */
	return s->replay || s->run.stop == STOP_CONSUMER || t.counted_other || t.counted < known ? 0 : t.counted - known;
}

void summary_tell(const struct stream *s)
{
	struct stream_totals t;
	int verbose = s->opts->verbose;

	stream_totals(s, &t);
	if (t.lost || verbose > 0)
		fprintf(stderr, "perf-prof: %llu event%s delivered, %llu lost%s\n",
			(unsigned long long)t.delivered, units_plural(t.delivered), (unsigned long long)t.lost,
			t.lost_at_least ? " at least" : "");
	tell_throttled(s);
	if (t.limited)
		note(verbose, "%llu events were dropped by --sampling-limit",
		     (unsigned long long)t.limited);
	if (verbose > 0 && s->replay)
		fprintf(stderr, "perf-prof: %llu recorded, %llu malformed\n", (unsigned long long)t.counted,
			(unsigned long long)t.malformed);
	else if (verbose > 0 && t.counted_other)
		fprintf(stderr, "perf-prof: %llu events of perf-prof itself, not delivered; %llu "
			"malformed\n",
			(unsigned long long)t.skipped, (unsigned long long)t.malformed);
	else if (verbose > 0)
		fprintf(stderr, "perf-prof: %llu counted by the kernel, %llu of them events of "
			"perf-prof itself, not delivered; %llu malformed\n", (unsigned long long)t.counted,
			(unsigned long long)t.skipped, (unsigned long long)t.malformed);
	if (verbose > 0 && t.beyond)
		fprintf(stderr, "perf-prof: %llu came after a source had reached its -N\n",
			(unsigned long long)t.beyond);
	if (verbose > 0 && t.filtered)
		fprintf(stderr, "perf-prof: %llu dropped by filters that perf-prof evaluates itself\n",
			(unsigned long long)t.filtered);
	if (s->rings.pids && pidmap_unpaired(s->rings.pids))
		note(verbose, "%zu tasks are not in this PID namespace, or perf-prof did not see "
		"them in it: they are shown with their ids of the initial namespace",
			     pidmap_unpaired(s->rings.pids));
	if (t.late)
		fprintf(stderr, "perf-prof: %llu event%s came late, out of order: %s\n",
			(unsigned long long)t.late, units_plural(t.late), s->replay
			? "more events between two FINISHED_ROUND records than perf-prof can sort"
			: "the machine was overloaded");
}

void summary_tell_empty(const struct stream *s)
{
	struct stream_totals t;

	stream_totals(s, &t);
	if (!s->replay && !t.delivered && !t.lost && !t.filtered && !t.skipped)
		targets_tell_idle(&s->targets, s->opts);
}
