/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof kvm-exit: how long a host takes for what its guests can't do themselves. */
#include "analysis/durations/commands.h"
#include "analysis/durations/exit_reasons.h"
#include "analysis/durations/pairs.h"

#include <stdlib.h>
#include <string.h>

struct kvm_exit {
	struct pair_opts opts;
	struct pairs pairs;
	const struct stream_event *leave, *enter;   /* the guest */
	struct exit_reasons reasons;
	struct vcpu *vcpus;
};

/* A thread that was seen to run a guest. */
struct vcpu {
	pid_t tid;
	uint64_t first, last;
	UT_hash_handle hh;
};

/* ---- the table ---------------------------------------------------------------------- */

/* A row: reason, with --perins the thread of the virtual CPU. */
static void put(struct analysis *a, const struct distribution *d, struct table *t)
{
	table_text(t, d->name);
	if (d->key[1])
		table_integer(t, pidmap_shown((pid_t)d->key[1]));
	else
		table_none(t);
}

/* The time that virtual CPUs were seen, in the guest or out of it; then from now on. */
static uint64_t seen(struct analysis *a)
{
	struct kvm_exit *k = a->config;
	uint64_t ns = 0;

	for (struct vcpu *v = k->vcpus; v; v = v->hh.next) {
		ns += v->last - v->first;
		v->first = v->last;
	}
	return ns;
}

static const struct table_column columns[] = {
	{ "exit_reason", TABLE_TEXT }, { "tid", TABLE_INTEGER },
};
static const enum shown shown[] = {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P99, SHOW_MAX, SHOW_SHARE,
};
static const struct distribution_view view = {
	"kvm-exit", columns, sizeof(columns) / sizeof(*columns), shown, sizeof(shown) / sizeof(*shown), put,
	.share_title = "%gsys", .whole = seen,
};

static void title(struct analysis *a, const struct distribution *d, uint64_t key, char *buf, size_t size)
{
	snprintf(buf, size, "virtual CPU of thread %d: exit %s", pidmap_shown((pid_t)key), d->name);
}

static bool between(struct analysis *a, const struct analysis_sample *s, uint64_t key, uint32_t cpu)
{
	return (uint64_t)s->tid == key;
}

static const struct pair_ops pair_ops = {
	.view = &view, .title = title, .between = between, .history = true,
};

/* ---- samples ------------------------------------------------------------------------ */

static void see_vcpu(struct kvm_exit *k, const struct analysis_sample *s)
{
	struct vcpu *v;

	HASH_FIND(hh, k->vcpus, &s->tid, sizeof(s->tid), v);
	if (!v) {
		v = calloc(1, sizeof(*v));
		if (!v)
			return;
		v->tid = s->tid;
		v->first = s->time;
		HASH_ADD(hh, k->vcpus, tid, sizeof(v->tid), v);
		if (HASH_LOST(v)) {
			free(v);
			return;
		}
	}
	v->last = s->time;
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct kvm_exit *k = a->config;
	struct pair_end end;

	pairs_see(&k->pairs, s);
	see_vcpu(k, s);
	if (s->event == k->leave) {
		pairs_start(&k->pairs, s, (uint64_t)s->tid,
			    exit_reasons_code(&k->reasons, stream_formats(a->stream), s));
	} else if (s->event == k->enter && pairs_end(&k->pairs, s, (uint64_t)s->tid, &end)) {
		pairs_add(&k->pairs, s, &end, exit_reasons_name(&k->reasons, end.value), (uint64_t)s->tid, end.value,
			  k->opts.per_instance ? (uint64_t)s->tid : 0);
	}
}

static int events(struct analysis *a, struct fault *f)
{
	a->opts->stream.order = true;   /* a guest may go on on another CPU */
	return analysis_add_event(a, f, "kvm:kvm_exit,kvm:kvm_entry");
}

/* Of the entry, that it came. */
static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	return pairs_read(a, event == analysis_event(a, "kvm", "kvm_entry") ? 0 : PERF_SAMPLE_RAW);
}

static int begin(struct analysis *a, struct fault *f)
{
	struct kvm_exit *k = a->config;

	k->leave = analysis_event(a, "kvm", "kvm_exit");
	k->enter = analysis_event(a, "kvm", "kvm_entry");
	if (!k->leave || !k->enter)
		return analysis_lacks(a, "kvm", k->leave ? "kvm_entry" : "kvm_exit", f);
	if (exit_reasons_begin(&k->reasons, k->leave, f))
		return -1;
	return pairs_begin(&k->pairs, a, &pair_ops, f);
}

static void interval(struct analysis *a)
{
	pairs_print(&((struct kvm_exit *)a->config)->pairs);
}

static int end(struct analysis *a, struct fault *f)
{
	interval(a);
	return pairs_picture(&((struct kvm_exit *)a->config)->pairs, f);
}

static void release(struct analysis *a)
{
	struct kvm_exit *k = a->config;

	pairs_free(&k->pairs);
	HASH_FREE(k->vcpus);
	exit_reasons_free(&k->reasons);
}

static const struct analysis_ops ops = {
	.name = "kvm-exit", .events = events, .reads = reads, .begin = begin, .sample = sample, .interval = interval,
	.end = end, .release = release, .chains_of_users = true,
	.attrs = STREAM_ATTR_STACK,
};

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	return analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

static const struct opt_group groups[] = {
	{ "Durations", pair_opts_rows, PAIR_NOPTS, 0 },
	{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
	{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
	{ "Machine", analysis_all_opts, ANALYSIS_ALL_NOPTS, 0 },
	{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, 0 },
	{ "Reading", stream_ring_opts, STREAM_RING_NOPTS, 0 },
	{ "Call chains", analysis_callchain_opts, ANALYSIS_CALLCHAIN_NOPTS, 0 },
	PAIR_PICTURE_GROUP,
	{ "For programs", analysis_json_opts, ANALYSIS_JSON_NOPTS, 0 },
	{ "Output", stream_output_opts, STREAM_OUTPUT_NOPTS, 0 },
};

static const char *const description[] = {
	"Why do guests leave their virtual CPUs, and how long does the host take until it enters "
	"them again? A row for each exit reason, as the kernel names it (VMX, SVM, arm64); with "
	"--perins also for each thread of a virtual CPU. The time of HLT and WFx is mostly that of "
	"idle guests.",
	"%gsys is the share of the time of all virtual CPUs in sight that the host took for this "
	"reason.",
	"--than prints each longer exit, at the entry that ends it.",
	"--heatmap draws all exits as a picture: when the guest was entered again, and how long that "
	"took.",
	"Run it on the host; -p is the process of the virtual machine.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof kvm-exit -i 1000", "all guests, each second" },
	{ "perf-prof kvm-exit -p 1234 --perins --than 1ms", "one guest; exits that took longer than 1 ms" },
	{ NULL, NULL },
};

const struct command kvm_exit_command = {
	.name = "kvm-exit",
	.summary = "measure how long a host takes for the exits of its guests",
	.usage = "[options] [[--] COMMAND [ARGUMENT...]]",
	.description = description,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
	.examples = examples,
	.mode = OPT_MODE_COMMAND,
	.config_size = sizeof(struct kvm_exit),
	.defaults = analysis_defaults,
	.release = analysis_release,
	.run = run,
};
