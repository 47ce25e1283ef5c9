/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof latency: from one event to another of the same key. */
#include "analysis/durations/commands.h"
#include "analysis/durations/pairs.h"
#include "base/note.h"
#include "engine/keys.h"
#include "events/spec.h"

#include <stdlib.h>
#include <string.h>

enum role { ROLE_START, ROLE_END, ROLE_BOTH, ROLE_SHOWN };

/* An event's part. */
struct part {
	enum role role;
	struct expr *key;
	bool thread;                     /* the key is the thread */
	unsigned int pair;               /* which start it belongs to */
};

struct latency {
	struct pair_opts opts;
	const char *key;                 /* -k */
	struct pairs pairs;
	bool any;                        /* a pair was complete */
	struct part *parts;              /* as many as events */
	struct stream_event *events;
	size_t n;
};

/* ---- the table ---------------------------------------------------------------------- */

static int64_t shown_key(const struct latency *l, const struct distribution *d, uint64_t key)
{
	return l->parts[d->key[0] >> 32].thread ? pidmap_shown((pid_t)key) : (int64_t)key;
}

/* A row: both events, and the key with --perins. */
static void put(struct analysis *a, const struct distribution *d, struct table *t)
{
	struct latency *l = a->config;

	if (l->opts.per_instance)
		table_integer(t, shown_key(l, d, d->key[1]));
	else
		table_none(t);
	table_printf(t, "%s=>%s", l->events[d->key[0] >> 32].name, l->events[(uint32_t)d->key[0]].name);
}

static const struct table_column columns[] = {
	{ "key", TABLE_INTEGER }, { "pair", TABLE_TEXT, .title = "start=>end" },
};
static const enum shown shown[] = {
	SHOW_CALLS, SHOW_TOTAL, SHOW_MIN, SHOW_MEAN, SHOW_P50, SHOW_P95, SHOW_P99, SHOW_MAX,
};
static const struct distribution_view view = {
	"latency", columns, sizeof(columns) / sizeof(*columns), shown, sizeof(shown) / sizeof(*shown), put,
};

static void title(struct analysis *a, const struct distribution *d, uint64_t key, char *buf, size_t size)
{
	struct latency *l = a->config;

	snprintf(buf, size, "%s=>%s of key %llu", l->events[d->key[0] >> 32].name,
		 l->events[(uint32_t)d->key[0]].name, (unsigned long long)shown_key(l, d, key));
}

static struct part *part_of(struct latency *l, const struct stream_event *event)
{
	return &l->parts[event - l->events];
}

static bool key_at(struct analysis *a, const struct analysis_sample *s, uint64_t *key)
{
	struct part *part = part_of(a->config, s->event);

	if (!part->thread)
		return key_of(a, part->key, s, key);
	*key = (uint64_t)s->tid;
	return true;
}

/* Events of the same key, and those that are only shown: all, or by their own key. */
static bool between(struct analysis *a, const struct analysis_sample *s, uint64_t key, uint32_t cpu)
{
	struct latency *l = a->config;
	struct part *part = part_of(l, s->event);
	uint64_t own;

	return !part->key || (key_at(a, s, &own) && own == key);
}

static const struct pair_ops pair_ops = {
	.view = &view, .title = title, .between = between, .history = true,
};

/* ---- samples ------------------------------------------------------------------------ */

static void ends(struct analysis *a, const struct analysis_sample *s, uint64_t key)
{
	struct latency *l = a->config;
	struct pair_end end;

	if (!pairs_end(&l->pairs, s, key, &end))
		return;
	l->any = true;
	pairs_add(&l->pairs, s, &end, "", key, end.value << 32 | (uint64_t)(s->event - l->events),
		  l->opts.per_instance ? key : 0);
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct latency *l = a->config;
	struct part *part = part_of(l, s->event);
	uint64_t key;

	pairs_see(&l->pairs, s);
	if (part->role == ROLE_SHOWN || !key_at(a, s, &key))
		return;
	if (part->role == ROLE_END || (part->role == ROLE_BOTH && pairs_find(&l->pairs, key)))
		ends(a, s, key);
	if (part->role == ROLE_START || part->role == ROLE_BOTH)
		pairs_start(&l->pairs, s, key, (uint64_t)(s->event - l->events));
}

/* ---- what begins, what ends --------------------------------------------------------- */

static int role_of(const struct stream_event *event, bool last, struct part *part, struct fault *f)
{
	static const struct {
		const char *word;
		enum role role;
	} words[] = {
		{ "start", ROLE_START }, { "begin", ROLE_START }, { "end", ROLE_END }, { "both", ROLE_BOTH },
	};
	const char *said = spec_attr(event->item, "role");

	part->role = last ? ROLE_END : ROLE_START;
	if (spec_attr(event->item, "untraced"))
		part->role = ROLE_SHOWN;
	if (!said)
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(said, words[i].word)) {
			part->role = words[i].role;
			return 0;
		}
	return fault_usage(f, "%s: role=%s: expected start, end or both", event->name, said);
}

/* Without -k and key=: the thread. */
static const char *key_text(const struct latency *l, const struct stream_event *event)
{
	const char *own = spec_attr(event->item, "key");

	return own ? own : l->key ? l->key : "_tid";
}

static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	return pairs_read(a, key_reads(a, event, key_text(a->config, event)));
}

static int compile_key(struct analysis *a, const struct stream_event *event, struct part *part,
		       struct fault *f)
{
	const char *own = key_text(a->config, event);

	if (!spec_attr(event->item, "key") && part->role == ROLE_SHOWN)
		return 0;
	part->thread = key_is_thread(own);
	return key_compile(a, &part->key, event, own, spec_attr(event->item, "key") ? "key=" : "-k", f);
}

/* Two -e at least: those of the last one are the ends; or role= says it. */
static int begin(struct analysis *a, struct fault *f)
{
	struct latency *l = a->config;
	const char *last_text = NULL;
	bool starts = false, ends_too = false;

	l->events = stream_events(a->stream, &l->n);
	l->parts = calloc(l->n, sizeof(*l->parts));
	if (!l->parts)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < l->n; i++)
		if (!spec_attr(l->events[i].item, "untraced"))
			last_text = l->events[i].item->text;
	for (size_t i = 0; i < l->n; i++) {
		struct part *part = &l->parts[i];

		if (role_of(&l->events[i], l->events[i].item->text == last_text, part, f) ||
		    compile_key(a, &l->events[i], part, f))
			return -1;
		starts |= part->role == ROLE_START || part->role == ROLE_BOTH;
		ends_too |= part->role == ROLE_END || part->role == ROLE_BOTH;
	}
	if (!starts || !ends_too)
		return fault_usage(f, "latency: nothing %s: expected two -e, -e START -e END, or role=start and "
				   "role=end", starts ? "ends" : "begins");
	return pairs_begin(&l->pairs, a, &pair_ops, f);
}

static int events(struct analysis *a, struct fault *f)
{
	return fault_usage(f, "latency: no events: -e START -e END; `perf-prof list` shows what there is");
}

static void interval(struct analysis *a)
{
	pairs_print(&((struct latency *)a->config)->pairs);
}

/* Much of what a task causes happens in others: requests of disks end in interrupts, and are issued by workers. */
static void tell_if_nothing(const struct analysis *a)
{
	const struct stream_opts *o = &a->opts->stream;
	const struct latency *l = a->config;

	if (!o->input && (o->pids.n || o->tids.n) && !l->any)
		note(o->verbose < 0 ? -1 : 1, "latency: no pair of events happened in the watched tasks: kernel "
		     "threads and interrupts may have done that work for them, which -a watches, too");
}

static int end(struct analysis *a, struct fault *f)
{
	interval(a);
	tell_if_nothing(a);
	return pairs_picture(&((struct latency *)a->config)->pairs, f);
}

static void release(struct analysis *a)
{
	struct latency *l = a->config;

	pairs_free(&l->pairs);
	for (size_t i = 0; l->parts && i < l->n; i++)
		expr_free(l->parts[i].key);
	free(l->parts);
}

static const struct analysis_ops ops = {
	.name = "latency", .events = events, .reads = reads, .begin = begin, .sample = sample, .interval = interval,
	.end = end, .release = release, .chains_of_users = true,
	.attrs = STREAM_ATTR_STACK | STREAM_ATTR_KEY | STREAM_ATTR_PAIR,
};

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	return analysis_run(&ops, config, args, f);
}

/* ---- the command -------------------------------------------------------------------- */

static const struct opt key_opts[] = {
	{ "key", 'k', NULL, OPT_STRING, offsetof(struct latency, key), "EXPR",
	  "Pair events with the same value of this expression over their fields, such as "
	  "dev<<32|sector. An event's attribute key= overrides it. Default: the thread, _tid.", false, NULL },
};

static const struct opt_group groups[] = {
	{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
	{ "Pairs", key_opts, 1, 0 },
	{ "Durations", pair_opts_rows, PAIR_NOPTS, 0 },
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
	"How long does it take from one event to another? Events of the last -e end what the events "
	"before it begin, if their keys are equal; role=start, role=end and role=both set this for "
	"each event. If a pair begins again before it ends, the last beginning counts.",
	"A row for each pair of events, with --perins also for each key. Events without a partner "
	"are counted below the table.",
	"--than prints each longer pair when it ends, with the events of the same key, and those "
	"with the attribute untraced, that happened meanwhile.",
	"--heatmap draws all pairs as a picture: when they ended, and how long they took.",
	"Events are taken in order of time over all CPUs.",
	NULL,
};

static const struct command_example examples[] = {
	{ "perf-prof latency -e block:block_rq_issue -e block:block_rq_complete -k 'dev<<32|sector' -i 1000",
	  "what disks take for a request" },
	{ "perf-prof latency -e irq:irq_handler_entry -e irq:irq_handler_exit -k '_cpu<<16|irq' --than 100us",
	  "interrupt handlers that run longer than 100 us" },
	{ "perf-prof latency -e block:block_rq_issue -e block:block_rq_complete -k 'dev<<32|sector' --heatmap disk.html",
	  "when disks were slow, as a picture" },
	{ "perf-prof latency -a -e net:net_dev_start_xmit -e net:netif_receive_skb -k skbaddr",
	  "how long packets wait on the loopback device" },
	{ "perf-prof latency -e sched:sched_process_fork//key=child_pid/ -e sched:sched_process_exit//key=pid/",
	  "how long processes live" },
	{ NULL, NULL },
};

static void defaults(void *config)
{
	struct stream_opts *o = config;

	analysis_defaults(config);
	o->order = true;
}

const struct command latency_command = {
	.name = "latency",
	.summary = "measure how long it takes from one event to another",
	.usage = "-e START -e END [-k EXPR] [options] [[--] COMMAND [ARGUMENT...]]",
	.description = description,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(groups[0]),
	.examples = examples,
	.mode = OPT_MODE_COMMAND,
	.config_size = sizeof(struct latency),
	.defaults = defaults,
	.sources_at = ANALYSIS_SOURCES_AT,
	.release = analysis_release,
	.run = run,
};
