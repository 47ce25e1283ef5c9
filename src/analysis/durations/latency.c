/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof latency: the time from one event to another with the same key. */
#include "analysis/durations/commands.h"
#include "base/note.h"
#include "engine/keys.h"
#include "engine/tapped.h"
#include "events/spec.h"
#include "rows/question.h"

#include <stdlib.h>
#include <string.h>

enum role { ROLE_START, ROLE_END, ROLE_BOTH, ROLE_SHOWN };

struct key {
	struct expr *expr;               /* NULL: the event needs no key */
	bool task, outer;                /* the key is a task's id; the kernel's own one, in a PID namespace */
	bool thread;                     /* the key is the thread: the sample's tid */
};

/* An event, and its role in a pair. */
struct part {
	const struct stream_event *event;
	enum role role;
	struct key key;
	struct key end_key;              /* for a source: the key for the end of a pair */
};

struct latency {
	struct question question;
	const char *key;                 /* -k */
	const char *start, *end, *end_key;   /* a source's options */
	struct tapped taps[2];               /* start, end */
	bool any;                        /* a pair was complete */
	struct part *parts;              /* for a command: one for each event; for a source: one or two */
	size_t n;
};

static const char *pair_text(struct question *q, uint64_t pair, char *buf, size_t size)
{
	const struct part *parts = ((struct latency *)q)->parts;

	snprintf(buf, size, "%s=>%s", parts[pair >> 32].event->name, parts[(uint32_t)pair].event->name);
	return buf;
}

enum { KEY, COMM, PAIR };
static const struct column columns[] = {
	[COMM] = { "comm", COLUMN_TEXT, COLUMN_COMM },
	[KEY] = { "key", COLUMN_UNSIGNED, COLUMN_PER_INSTANCE | COLUMN_FIELD },
	[PAIR] = { "pair", COLUMN_TEXT, COLUMN_KEY, 0, "start=>end", pair_text },
};

/* ---- samples ---------------------------------------------------------------------------- */

static struct part *part_of(struct latency *l, const struct stream_event *event)
{
	return &l->parts[l->question.maker ? event != l->parts[0].event : event - l->parts[0].event];
}

static bool key_at(struct question *q, const struct key *key, const struct analysis_sample *s, uint64_t *value)
{
	if (!key->thread)
		return key_of(q->a, key->expr, s, value);
	*value = (uint64_t)s->tid;
	return true;
}

static const char *name_of(struct question *q, const struct key *key, const struct analysis_sample *s, uint64_t value)
{
	pid_t task = q->a && key->outer ? stream_named(q->a->stream, (pid_t)value) : (pid_t)value;

	return key->task ? question_shown_comm(q, task, s->time) : NULL;
}

static const struct key *end_key(const struct part *part)
{
	return part->end_key.expr ? &part->end_key : &part->key;
}

static void ends(struct question *q, const struct analysis_sample *s, const struct part *part, uint64_t key)
{
	struct latency *l = (struct latency *)q;
	struct happening h = { .s = s, .pid = s->pid, .tid = s->tid, .key = key };

	if (!pairs_end(&q->pairs, s, key, &h.end))
		return;
	l->any = true;
	h.cells[KEY].number = l->parts[h.end.value].key.thread ? (uint64_t)pidmap_shown((pid_t)key) : key;
	h.comm = name_of(q, &l->parts[h.end.value].key, s, key);
	h.cells[PAIR].number = h.end.value << 32 | (uint64_t)(part - l->parts);
	question_emit(q, &h);
}

static void sample(struct question *q, const struct analysis_sample *s)
{
	struct latency *l = (struct latency *)q;
	const struct part *part = part_of(l, s->event);
	uint64_t key;

	if (part->role == ROLE_SHOWN)
		return;
	if (part->role != ROLE_START && key_at(q, end_key(part), s, &key) &&
	    (part->role == ROLE_END || pairs_find(&q->pairs, key)))
		ends(q, s, part, key);
	if (part->role != ROLE_END && key_at(q, &part->key, s, &key))
		pairs_start(&q->pairs, s, key, (uint64_t)(part - l->parts));
}

static void title(struct question *q, const struct happening *h, char *buf, size_t size)
{
	char pair[200];

	snprintf(buf, size, "%s of key %llu%s%s%s", pair_text(q, h->cells[PAIR].number, pair, sizeof(pair)),
		 (unsigned long long)h->cells[KEY].number, *h->comm ? " (" : "", h->comm, *h->comm ? ")" : "");
}

/* Events with the same key, and untraced events: all, or if they have key=, those with the same key. */
static bool between(struct question *q, const struct analysis_sample *s, const struct happening *h)
{
	const struct part *part = part_of((struct latency *)q, s->event);
	uint64_t own;

	return !part->key.expr || (key_at(q, &part->key, s, &own) && own == h->key);
}

/* ---- a command's parts: from -e --------------------------------------------------------- */

static int role_of(const struct stream_event *event, bool last, struct part *part, struct fault *f)
{
	static const struct {
		const char *word;
		enum role role;
	} words[] = {
		{ "start", ROLE_START }, { "begin", ROLE_START }, { "end", ROLE_END }, { "both", ROLE_BOTH },
	};
	const char *said = spec_attr(event->asked.item, "role");

	part->role = last ? ROLE_END : ROLE_START;
	if (spec_attr(event->asked.item, "untraced"))
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

/* key=, or -k, or by default the thread. */
static const char *key_text(const struct latency *l, const struct stream_event *event)
{
	const char *own = spec_attr(event->asked.item, "key");

	return own ? own : l->key ? l->key : "_tid";
}

static uint64_t reads(struct question *q, const struct stream_event *event)
{
	return key_reads(q->a, event, key_text((struct latency *)q, event));
}

static bool has_field(const struct stream_event *event, const char *name)
{
	for (size_t i = 0; event->fmt && i < event->fmt->nfields; i++)
		if (!strcmp(event->fmt->fields[i].name, name))
			return true;
	return false;
}

/* pid is the end of next_pid. */
static bool is_end(const char *name, const char *of)
{
	const size_t len = strlen(name), all = strlen(of);

	return all > len && of[all - len - 1] == '_' && !strcmp(of + all - len, name);
}

/* The event's field next_NAME, or the first with a similar name; NULL: it has none. */
static const char *similar_field(const struct stream_event *event, const char *name)
{
	const char *found = NULL;

	for (size_t i = 0; event->fmt && i < event->fmt->nfields; i++) {
		const char *field = event->fmt->fields[i].name;

		if ((is_end(name, field) || is_end(field, name)) && strncmp(field, "common_", 7) &&
		    (!found || !strncmp(field, "next_", 5)))
			found = field;
	}
	return found;
}

/* -k is a field of another event, and the field of this one is called otherwise. */
static int offer_key(const struct latency *l, const struct stream_event *event, const char *text, struct fault *f)
{
	const char *similar = similar_field(event, text), *filter = event->asked.item->filter;
	size_t n;
	const struct stream_event *events = stream_events(l->question.a->stream, &n);
	bool elsewhere = false;

	for (size_t i = 0; i < n; i++)
		elsewhere |= has_field(&events[i], text);
	if (!similar || !elsewhere || has_field(event, text))
		return -1;
	return fault_usage(f, "-k %s: %s has no field %s; give it a key of its own: -e '%s/%s/key=%s/'", text, event->name, text,
			   event->name, filter ? filter : "", similar);
}

static int compile_key(struct question *q, struct part *part, struct fault *f)
{
	const char *text = key_text((struct latency *)q, part->event), *own = spec_attr(part->event->asked.item, "key");

	if (!own && part->role == ROLE_SHOWN)
		return 0;
	part->key.thread = key_is_thread(text);
	if (key_compile(q->a, &part->key.expr, part->event, text, own ? "key=" : "-k", f))
		return own || !q->a ? -1 : offer_key((struct latency *)q, part->event, text, f);
	part->key.task = key_is_task(text) && expr_type(part->key.expr) != EXPR_TEXT;
	part->key.outer = part->key.task && text[0] != '_';
	q->named |= part->key.task;
	return 0;
}

/* Events of the last -e (without `untraced`) end pairs, the others begin them; role= overrides this. */
static int take_list(struct latency *l, struct fault *f)
{
	const struct stream_event *events = stream_events(l->question.a->stream, &l->n);
	const char *last = NULL;
	bool starts = false, ends_too = false;

	l->parts = calloc(l->n, sizeof(*l->parts));
	if (!l->parts)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < l->n; i++)
		if (!spec_attr(events[i].asked.item, "untraced"))
			last = events[i].asked.item->text;
	for (size_t i = 0; i < l->n; i++) {
		struct part *part = &l->parts[i];

		part->event = &events[i];
		if (role_of(part->event, part->event->asked.item->text == last, part, f) ||
		    compile_key(&l->question, part, f))
			return -1;
		starts |= part->role == ROLE_START || part->role == ROLE_BOTH;
		ends_too |= part->role == ROLE_END || part->role == ROLE_BOTH;
	}
	return starts && ends_too ? 0 :
	       fault_usage(f, "latency: no event %s a pair: expected two -e, -e START -e END, or role=start and role=end",
			   starts ? "ends" : "begins");
}

/* Much of a task's work is done by others: workers issue its disk requests, interrupts complete them. */
static void end(struct question *q)
{
	if (!q->targets->input && q->has_targets && !((struct latency *)q)->any)
		note(q->targets->verbose < 0 ? -1 : 1, "latency: no pair of events happened in the watched tasks; kernel "
		     "threads and interrupts may work for them: -a watches these, too");
}

/* ---- a source's parts: from --start and --end ------------------------------------------- */

static int compile_for(struct key *key, const struct stream_event *event, const char *text, const char *option,
		       struct fault *f)
{
	key->thread = key_is_thread(text);
	return key_compile(NULL, &key->expr, event, text, option, f);
}

/* If start and end are the same tracepoint, each event ends the pair of the previous one. */
static int take_options(struct latency *l, struct fault *f)
{
	const struct stream_event *start = question_event(&l->question, l->taps[0].sys, l->taps[0].name);
	const struct stream_event *end = question_event(&l->question, l->taps[1].sys, l->taps[1].name);
	const char *key = l->key ? l->key : "_tid";

	l->n = start == end ? 1 : 2;
	l->parts = calloc(l->n, sizeof(*l->parts));
	if (!l->parts)
		return fault_set(f, EXIT_FAILED, "out of memory");
	l->parts[l->n - 1] = (struct part){ .event = end, .role = ROLE_END };
	l->parts[0].event = start;
	l->parts[0].role = start == end ? ROLE_BOTH : ROLE_START;
	return compile_for(&l->parts[0].key, start, key, "-k", f) ||
	       compile_for(&l->parts[l->n - 1].end_key, end, l->end_key ? l->end_key : key, l->end_key ? "--end-key" : "-k", f)
	       ? -1 : 0;
}

static int tap(struct question *q, struct tapped *t, const char *option, const char *text, struct fault *f)
{
	return tapped_set(t, "latency", option, text,
			  "latency/--start block:block_rq_issue --end block:block_rq_complete -k sector/", f) ||
	       question_watch(q, t->sys, t->name, false, f) ? -1 : 0;
}

static int watch(struct question *q, struct fault *f)
{
	struct latency *l = (struct latency *)q;

	if (!q->maker)
		return fault_usage(f, "latency: no events: -e START -e END; `perf-prof list` shows the events");
	return tap(q, &l->taps[0], "--start", l->start, f) || tap(q, &l->taps[1], "--end", l->end, f) ? -1 : 0;
}

static int begin(struct question *q, struct fault *f)
{
	return q->maker ? take_options((struct latency *)q, f) : take_list((struct latency *)q, f);
}

static void release(struct question *q)
{
	struct latency *l = (struct latency *)q;

	for (size_t i = 0; l->parts && i < l->n; i++) {
		expr_free(l->parts[i].key.expr);
		expr_free(l->parts[i].end_key.expr);
	}
	free(l->parts);
	for (size_t i = 0; i < 2; i++)
		tapped_free(&l->taps[i]);
}

static const struct question_ops question = {
	.name = "latency", QUESTION_COLUMNS_ARE(columns), .attrs = STREAM_ATTR_KEY | STREAM_ATTR_PAIR,
	.print = "\"key %llu took %llu.%03llu us\", REC->key, REC->duration / 1000, REC->duration % 1000",
	.watch = watch, .reads = reads, .begin = begin, .sample = sample, .end = end, .release = release, .title = title,
	.between = between,
};

/* ---- the command ------------------------------------------------------------------------ */

static const struct opt key_opts[] = {
	{ "key", 'k', NULL, OPT_STRING, offsetof(struct latency, key), "EXPR",
	  "Pair events with the same value of this expression over their fields, such as "
	  "dev<<32|sector. An event's attribute key= overrides it. Default: the thread, _tid.", false, NULL },
};

static const struct opt duration_opts[] = QUESTION_DURATIONS_OPTS("key");

const struct command latency_command = {
	QUESTION_COMMAND(question, struct latency),
	OPT_GROUP_ROWS(
		QUESTION_EVENTS_GROUP, { "Pairs", key_opts, 1, 0 }, QUESTION_DURATIONS_GROUP(duration_opts),
		QUESTION_RUN_GROUPS),
	.name = "latency",
	.description = COMMAND_TEXT(
		"How long does it take from one event to another? The events of the last -e are ends, those of "
		"the other -e are starts; an end is paired with the last start that had the same key. The "
		"attributes role=start, role=end and role=both set this for each event.",
		"Prints a row for each pair of events, with --perins also for each key. Events without a "
		"partner are counted below the table.",
		"--than prints each longer pair when it ends, with the events of the same key that happened "
		"meanwhile, and all events with the attribute untraced.",
		"--heatmap draws all pairs: when they ended, and how long they took.",
		"Events are paired in order of time over all CPUs."),
	.summary = "measure how long it takes from one event to another",
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof latency -e block:block_rq_issue -e block:block_rq_complete -k 'dev<<32|sector' -i 1000",
		  "measure how long disk requests take, each second" },
		{ "perf-prof latency -e irq:irq_handler_entry -e irq:irq_handler_exit -k '_cpu<<16|irq' --than 100us",
		  "print interrupt handlers that run longer than 100 us" },
		{ "perf-prof latency -e block:block_rq_issue -e block:block_rq_complete -k 'dev<<32|sector' --heatmap disk.html",
		  "draw when disks were slow" },
		{ "perf-prof latency -a -e net:net_dev_start_xmit -e net:netif_receive_skb -k skbaddr",
		  "measure how long packets wait on the loopback device" },
		{ "perf-prof latency -e sched:sched_process_fork//key=child_pid/ -e sched:sched_process_exit//key=pid/",
		  "measure how long processes live" }),
	.usage = "-e START -e END [-k EXPR] [options] [[--] COMMAND [ARGUMENT...]]", .sources_at = ANALYSIS_SOURCES_AT,
};

/* ---- the source ------------------------------------------------------------------------- */

#define AT(member) offsetof(struct latency, member)

static const struct opt source_opts[] = {
	{ "start", 0, NULL, OPT_STRING, AT(start), "EVENT", "Start at this tracepoint.", false, NULL },
	{ "end", 0, NULL, OPT_STRING, AT(end), "EVENT",
	  "End at this tracepoint. If it is the same as --start: from each event to the next.", false, NULL },
	{ "key", 'k', NULL, OPT_STRING, AT(key), "EXPR",
	  "Pair events with the same value of this expression over the fields of both. Default: the "
	  "thread, _tid.", false, NULL },
	{ "end-key", 0, NULL, OPT_STRING, AT(end_key), "EXPR",
	  "Use this key for --end, if its fields have other names. Default: --key.", false, NULL },
};

const struct source_ops latency_source = {
	QUESTION_SOURCE(question, struct latency),
	OPT_GROUP_ROWS(
		{ "Pairs", source_opts, sizeof(source_opts) / sizeof(*source_opts), 0 }, QUESTION_SOURCE_GROUPS),
	.name = "latency",
	.summary = "each pair of tracepoints with the same key, when it ends",
};
