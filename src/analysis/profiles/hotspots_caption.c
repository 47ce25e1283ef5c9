/* SPDX-License-Identifier: Apache-2.0 */
/* The line above a table of functions: what was sampled, how much, and what is not in it. */
#include "analysis/profiles/hotspots_private.h"

#include <perfevent.h>
#include <stdio.h>

/* "359 ms" */
static void say_time(uint64_t ns, FILE *out)
{
	static const struct {
		const char *unit;
		uint64_t ns, below;
	} units[] = { { "us", 1000, 1000000 }, { "ms", 1000000, 10000000000 }, { "s", 1000000000, UINT64_MAX } };
	size_t i = 0;

	while (ns >= units[i].below && units[i].below != UINT64_MAX)
		i++;
	fprintf(out, "%.0f %s", (double)ns / (double)units[i].ns, units[i].unit);
}

static void say_counts(const struct hotspots *h, const struct hotspots_view *view, FILE *out)
{
	fputs("; ", out);
	if (view->in_ns) {
		say_time(view->count, out);
		fputs(view->elapsed ? " of all threads" : view->without_kernel ? " of user time" : " of CPU time", out);
	} else {
		fprintf(out, "counted %llu", (unsigned long long)view->count);
	}
	for (size_t i = 0; i < h->nmore; i++)
		fprintf(out, ", %s %llu", view->more[i], (unsigned long long)hotspots_more(view, i));
}

static void say_throttled(struct analysis *a, const struct hotspots_view *view, FILE *out)
{
	const uint64_t times = stream_throttled_times(a->stream, view->event);

	if (times)
		fprintf(out, ", throttled %llu times", (unsigned long long)times);
}

bool hotspots_read_cputime(const struct stream_opts *o, struct cputime *t)
{
	bool good = o->pids.n && !o->tids.n && !o->cpus.n && !o->cgroups.n && !o->filter && !o->input;

	*t = (struct cputime){ 0 };
	for (size_t i = 0; i < o->pids.n && good; i++)
		good = cputime_add(o->pids.v[i], t);
	return good;
}

/* The kernel starts a whole period for each new task: those that live shorter are hardly sampled, but they are counted. */
void hotspots_find_unsampled(const struct analysis *a, const struct stream_event *event, const struct hotspots *h,
			     struct hotspots_view *view)
{
	enum { FEW_SAMPLES = 20, PART = 10 };
	const struct stream_opts *o = &a->opts->stream;
	const struct perf_event_attr *attr = event->sampling ? &event->sampling->attr.attr : NULL;
	const bool clock = analysis_is_clock(event);
	const uint64_t sampled = h->weight + view->idle;
	uint64_t counted, each;

	/* the kernel counts all of a clock */
	if (!attr || (clock && (attr->exclude_kernel || attr->exclude_user)) || o->filter || o->cgroups.n || o->cpus.n ||
	    (o->input ? o->pids.n + o->tids.n || o->time.from || o->time.to : !(o->pids.n + o->tids.n)))
		return;
	counted = stream_counted(a->stream, event);
	each = h->samples ? h->weight / h->samples : !attr->freq ? attr->sample_period : clock ? UINT64_C(1000000000) / attr->sample_freq : 0;
	if (counted <= sampled + counted / PART || counted - sampled <= each * FEW_SAMPLES)
		return;
	view->counted_all = counted;
	view->cpu_time = clock ? counted : view->cpu_time;
	view->shown_time = clock ? h->weight : view->shown_time;
	view->if_none = NULL;
}

static void say_shown(const struct hotspots_view *view, const char *before, FILE *out)
{
	fprintf(out, "%s%.2f s of %.2f s of CPU time are shown", before, (double)view->shown_time / 1e9, (double)view->cpu_time / 1e9);
}

/* Much that the kernel counted has no samples. */
static void say_unsampled(const struct hotspots *h, const struct hotspots_view *view, FILE *out)
{
	if (view->cpu_time && !view->without_kernel)
		say_shown(view, "; ", out);
	else
		fprintf(out, "; %.0f %% of those counted are sampled", hotspots_percent(h->weight + view->idle, view->counted_all));
	fputs(": tasks that live less than a period are hardly sampled (-a, or a higher -F, has them)", out);
}

/* What the table lacks, and how much that is. */
static void say_without_kernel(const struct analysis *a, const struct hotspots *h, const struct hotspots_view *view, FILE *out)
{
	enum { NO_KERNEL = 2 };
	int level;

	fputs("; without the kernel", out);
	if (view->lowered && !pev_paranoid(&level) && level >= NO_KERNEL)
		fprintf(out, " (kernel.perf_event_paranoid is %d)", level);
	else if (view->lowered)
		fputs(" (not permitted)", out);
	if (stream_has_unwatched(a->stream))
		fputs(" and without programs that are not watched", out);
	if (view->cpu_time)
		say_shown(view, ": ", out);
	else if (view->faults)
		fprintf(out, ": %llu of %llu page faults are shown", (unsigned long long)h->weight,
			(unsigned long long)(view->faults > h->weight ? view->faults : h->weight));
}

char *hotspots_caption(struct analysis *a, const struct hotspots *h, const struct hotspots_view *view, const char *when)
{
	struct stream_totals totals;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	stream_totals(a->stream, &totals);
	fprintf(out, "%s %s: %llu samples of %s, %llu lost", when, view->name, (unsigned long long)h->samples,
		view->sampled ? view->sampled : view->what, (unsigned long long)totals.lost);
	say_throttled(a, view, out);
	if (view->timed)
		fprintf(out, "; %.3f ms on CPUs, %.3f ms off", (double)(h->weight - h->blocked) / 1e6,
			(double)h->blocked / 1e6);
	if (view->timed && view->preempted)
		fprintf(out, ", %.3f ms preempted (waiting for a CPU)", (double)view->preempted / 1e6);
	if (view->timed && h->own)
		fprintf(out, "; not shown: %.3f ms off because of this recording (clone and exit)", (double)h->own / 1e6);
	if (view->counted)
		say_counts(h, view, out);
	if (view->idle && !view->timed)
		fprintf(out, "; plus %.1f %% idle%s", hotspots_percent(view->idle, view->idle + h->weight),
			view->has_outside ? " or in tasks outside of this PID namespace" : "");
	if (view->without_kernel)
		say_without_kernel(a, h, view, out);
	if (view->counted_all)
		say_unsampled(h, view, out);
	if (a->opts->comms.n || a->opts->dsos.n)
		fprintf(out, "; %.2f %% of them shown", hotspots_percent(h->weight - h->left_out, h->weight));
	if (view->torn)
		fprintf(out, "; %llu left out, whose stack changed while it was read", (unsigned long long)view->torn);
	if (view->late)
		fprintf(out, "; %llu more skipped, since the machine is busy or stacks are deep%s", (unsigned long long)view->late,
			view->late > h->samples / 10 ? ": shares can be far off" : "");
	if (view->placeless && h->samples)
		fputs("; they don't say where", out);
	fclose(out);
	return text;
}
