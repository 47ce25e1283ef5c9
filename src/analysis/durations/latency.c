/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof latency: the time from one event to another with the same key. */
#include "analysis/durations/breakdownrows.h"
#include "analysis/durations/commands.h"
#include "base/escape.h"
#include "base/note.h"
#include "engine/keys.h"
#include "engine/tapped.h"
#include "events/spec.h"
#include "report/json.h"
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
	bool seen, any;                  /* an event of a pair; a pair was complete */
	struct breakdown breakdown;          /* --breakdown; not for a source */
	struct breakdown_rows broken_down;
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

static const char *name_of(struct question *q, const struct key *key, uint64_t value)
{
	pid_t task = q->a && key->outer ? stream_named(q->a->stream, (pid_t)value) : (pid_t)value;

	return key->task ? question_shown_comm(q, task) : NULL;
}

static const struct key *end_key(const struct part *part)
{
	return part->end_key.expr ? &part->end_key : &part->key;
}

static void ends(struct question *q, const struct analysis_sample *s, const struct part *part, uint64_t key)
{
	struct latency *l = (struct latency *)q;
	struct happening h = { .s = s, .pid = s->pid, .tid = s->tid, .key = key };

	if (!pairs_end(&q->pairs, s->time, key, &h.end))
		return;
	l->any = true;
	if (l->breakdown.on)
		breakdown_end(&l->breakdown, s, &h.end);
	h.cells[KEY].number = l->parts[h.end.value].key.thread ? (uint64_t)pidmap_shown((pid_t)key) : key;
	h.comm = name_of(q, &l->parts[h.end.value].key, key);
	h.cells[PAIR].number = h.end.value << 32 | (uint64_t)(part - l->parts);
	question_emit(q, &h);
}

static void sample(struct question *q, const struct analysis_sample *s)
{
	struct latency *l = (struct latency *)q;
	const struct part *part = part_of(l, s->event);
	uint64_t key;

	if (l->breakdown.on && breakdown_has(s->event))
		breakdown_sample(&l->breakdown, s);
	if (part->role == ROLE_SHOWN)
		return;
	l->seen = true;
	if (part->role != ROLE_START && key_at(q, end_key(part), s, &key) &&
	    (part->role == ROLE_END || pairs_find(&q->pairs, key)))
		ends(q, s, part, key);
	if (part->role == ROLE_END || !key_at(q, &part->key, s, &key))
		return;
	if (l->breakdown.on)
		breakdown_start(&l->breakdown, s);
	pairs_start(&q->pairs, s->time, key, (uint64_t)(part - l->parts));
}

static void title(struct question *q, const struct happening *h, char *buf, size_t size)
{
	const bool thread = ((struct latency *)q)->parts[h->end.value].key.thread;
	char pair[200];

	snprintf(buf, size, "%s of %s %llu%s%s%s", pair_text(q, h->cells[PAIR].number, pair, sizeof(pair)),
		 thread ? "thread" : "key", (unsigned long long)h->cells[KEY].number, *h->comm ? " (" : "", h->comm, *h->comm ? ")" : "");
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
	if (breakdown_has(event))
		return PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
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

/* Much of a task's work is done by others: workers issue its disk requests, interrupts complete them. If a recording has no event
 * of the tasks at all, the stream says so. */
static void end(struct question *q)
{
	const struct latency *l = (struct latency *)q;
	const bool recorded = q->targets->input;

	if (q->has_targets && !l->any && (!recorded || l->seen))
		note(q->targets->verbose < 0 ? -1 : 1, "latency: no pair of events happened in the watched tasks; kernel threads and "
		     "interrupts may work for them: %s", recorded ? "without -p and -t, the pairs of all recorded tasks are shown" :
		     "-a watches these, too");
}

/* ---- --breakdown ------------------------------------------------------------------------ */

static const struct question_ops broken_down;

static int add(struct question *q, struct fault *f)
{
	struct latency *l = (struct latency *)q;

	if (l->breakdown.shows_on && !l->breakdown.on)
		return fault_usage(f, "latency: --on shows what the pairs of --breakdown waited on: add --breakdown");
	if (!l->breakdown.on)
		return 0;
	q->ops = &broken_down;
	q->common.merges_python = true;
	return breakdown_events(&l->breakdown, q->a, f);
}

/* Only of a thread it is known what it does. */
static int check_keys(const struct latency *l, struct fault *f)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->parts[i].role != ROLE_SHOWN && !l->parts[i].key.thread)
			return fault_usage(f, "latency: --breakdown is for pairs of the same thread, but the key of %s is %s: leave out "
					   "-k and key=", l->parts[i].event->name, key_text(l, l->parts[i].event));
	return 0;
}

static int begin_breakdown(struct latency *l, struct fault *f)
{
	l->broken_down = (struct breakdown_rows){ .from = &l->breakdown, .than = l->question.than };
	return check_keys(l, f) || breakdown_begin(&l->breakdown, l->question.a, f) ? -1 : 0;
}

static void lost(struct question *q, const struct stream_loss *loss)
{
	breakdown_lost(&((struct latency *)q)->breakdown, loss);
}

static bool keeps(struct question *q, const struct analysis_sample *s)
{
	return !breakdown_has(s->event);
}

/* The pair, and with --perins its thread. */
static void name_row(struct latency *l, struct breakdown_row *row, const struct happening *h, const struct distribution *d)
{
	struct question *q = &l->question;
	const bool one = q->per_instance;
	char pair[200];

	pair_text(q, h->cells[PAIR].number, pair, sizeof(pair));
	row->labels = json_object_new_object();
	if (!row->labels || (one && !json_put_unsigned(row->labels, "key", h->cells[KEY].number)) ||
	    (one && !json_put_text(row->labels, "comm", d->name)) || !json_put_text(row->labels, "pair", pair)) {
		json_object_put(row->labels);
		row->labels = NULL;
	}
	if (one)
		snprintf(row->name, sizeof(row->name), "%s of thread %llu (%s)", pair, (unsigned long long)h->cells[KEY].number, d->name);
	else
		snprintf(row->name, sizeof(row->name), "%s", pair);
}

static void added(struct question *q, const struct happening *h, const struct distribution *d)
{
	struct latency *l = (struct latency *)q;
	bool fresh;
	struct breakdown_row *row = breakdown_rows_add(&l->broken_down, d->key, &fresh);

	if (row && fresh)
		name_row(l, row, h, d);
}

static void detail(struct question *q, const struct happening *h)
{
	char text[1024], safe[4 * sizeof(text)];

	breakdown_text(&((struct latency *)q)->breakdown, text, sizeof(text));
	escape_terminal(text, strlen(text), safe, sizeof(safe));
	printf("    %s\n", safe);
}

static bool detail_json(struct question *q, const struct happening *h, struct json_object *root)
{
	struct breakdown *b = &((struct latency *)q)->breakdown;

	return breakdown_json(b, &b->call, root);
}

static void put_last(struct question *q, const struct distribution *d, struct table *t)
{
	breakdown_rows_put(&((struct latency *)q)->broken_down, d, t);
}

static void more(struct question *q, struct table *t)
{
	struct json_object *rows = breakdown_rows_json(&((struct latency *)q)->broken_down);

	if (rows)
		table_extra(t, "breakdown", rows);
}

static void after_table(struct question *q, uint64_t from)
{
	struct breakdown_rows *rows = &((struct latency *)q)->broken_down;

	if (q->common.json || q->csv)
		breakdown_rows_clear(rows);
	else
		breakdown_rows_print(rows, q->a);
	breakdown_rest(&((struct latency *)q)->breakdown);
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
	struct latency *l = (struct latency *)q;

	if (q->maker)
		return take_options(l, f);
	return take_list(l, f) || (l->breakdown.on && begin_breakdown(l, f)) ? -1 : 0;
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
	breakdown_rows_clear(&l->broken_down);
	breakdown_free(&l->breakdown);
}

#define LATENCY_QUESTION \
	.name = "latency", QUESTION_COLUMNS_ARE(columns), .attrs = STREAM_ATTR_KEY | STREAM_ATTR_PAIR, \
	.watch = watch, .add = add, .reads = reads, .begin = begin, .sample = sample, .end = end, .release = release, .title = title, \
	.between = between
static const struct question_ops question = {
	LATENCY_QUESTION,
	.print = "\"key %llu took %llu.%03llu us\", REC->key, REC->duration / 1000, REC->duration % 1000",
};
static const struct question_ops broken_down = {
	LATENCY_QUESTION, .stacks = true,
	.lost = lost, .keeps = keeps, .added = added, .detail = detail, .detail_json = detail_json,
	.last = breakdown_columns, .nlast = BREAKDOWN_COLUMNS, .put_last = put_last, .more = more, .after_table = after_table,
	.if_missing = "pairs may be left out, a wait for a CPU may count as sleep, and times be unknown",
};

/* ---- the command ------------------------------------------------------------------------ */

static const struct opt key_opts[] = {
	{ "key", 'k', NULL, OPT_STRING, offsetof(struct latency, key), "EXPR",
	  "Pair events with the same value of this expression over their fields, such as "
	  "dev<<32|sector. An event's attribute key= overrides it. Default: the thread, _tid.", false, NULL },
};

static const struct opt duration_opts[] = {
	{ "than", 0, NULL, OPT_CALL, offsetof(struct latency, question.than), "TIME",
	  "Print each pair above TIME (10ms, 500us, 1s; a bare number is ns), and the events with the same key from its start to its end; "
	  "also those with the attribute untraced, which are in no pair (with key=EXPR, only if they have its key).",
	  false, question_parse_than },
	{ "perins", 0, NULL, OPT_FLAG, offsetof(struct latency, question.per_instance), NULL, "Print a row for each key.", false, NULL },
	{ "hist", 0, NULL, OPT_FLAG, offsetof(struct latency, question.hist), NULL,
	  "Below the table, print a histogram of the durations of each row. Its buckets begin at powers of two: 1, 2, 4, ... 512 "
	  "ns, us, ms, s.",
	  false, NULL },
	{ "breakdown", 0, NULL, OPT_FLAG, offsetof(struct latency, breakdown.on), NULL,
	  "Show where the time of the pairs went: running, waiting for a CPU, asleep (S), blocked in the kernel (D: disks, kernel "
	  "locks); and which tasks ran meanwhile or woke the thread. With --than also for each longer pair. With -g also the "
	  "stacks that slept or were blocked; with --than, only those of longer pairs. Both events of a pair must be in the same "
	  "thread.",
	  false, NULL },
	{ "on", 0, NULL, OPT_FLAG, offsetof(struct latency, breakdown.shows_on), NULL,
	  "With --breakdown, also show what the threads waited for, as waits --on does: the system call, and its lock (for futex), file, "
	  "pipe or socket. This traces the system calls of the watched tasks.",
	  false, NULL },
};

/* Only here it is known why these events are needed. */
static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	const struct latency *l = config;
	const int rc = question_run(config, args, f);

	if (rc && l->breakdown.on && l->question.common.stream.input)
		breakdown_explain(l->question.common.stream.input, f);
	return rc;
}

const struct command latency_command = {
	.usual = "event key breakdown on hist than pids rows input json",
	.subject = &question, .mode = OPT_MODE_COMMAND, .config_size = sizeof(struct latency), .defaults = analysis_defaults,
	.release = analysis_release, .run = run,
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
		"meanwhile, and the events with the attribute untraced, which are in no pair: all of them or, with key=EXPR, those with "
		"the same key (key=_tid: in the same thread).",
		"--breakdown shows where the time of pairs of the same thread went. It also opens sched_switch, sched_waking and "
		"sched_wakeup of all tasks; a recording needs the first two. Time between two events that contradict each other is unknown: "
		"the kernel has left out an event. With -g, a list below the table shows where in the program the threads slept "
		"or were blocked: the merged stacks of the watched tasks; with --than, only those of the longer pairs.",
		"--heatmap draws all pairs: when they ended, and how long they took.",
		"Events are paired in order of time over all CPUs."),
	.summary = "measure how long it takes from one event to another",
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof latency -p 1234 -e uprobe:handle@./server -e uretprobe:handle@./server --breakdown --than 10ms",
		  "print the calls of a function over 10 ms, and where their time went" },
		{ "perf-prof latency -p 1234 -e uprobe:handle@./server -e uretprobe:handle@./server --breakdown -g --than 10ms",
		  "also print the stacks in which these calls slept or were blocked" },
		{ "perf-prof latency -e block:block_rq_issue -e block:block_rq_complete -k 'dev<<32|sector' -i 1000",
		  "measure how long disk requests take, each second" },
		{ "perf-prof latency -e irq:irq_handler_entry -e irq:irq_handler_exit -k '_cpu<<16|irq' --than 100us",
		  "print interrupt handlers that run longer than 100 us" },
		{ "perf-prof latency -e block:block_rq_issue -e block:block_rq_complete -k 'dev<<32|sector' --hist",
		  "print a histogram of these durations" },
		{ "perf-prof latency -e block:block_rq_issue -e block:block_rq_complete -k 'dev<<32|sector' --heatmap disk.svg",
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
	{ "start", 0, NULL, OPT_STRING, AT(start), "EVENT",
	  "Start at this tracepoint; or at a probe that the same list of events has, named without its file: uprobe:read.", false, NULL },
	{ "end", 0, NULL, OPT_STRING, AT(end), "EVENT",
	  "End at this tracepoint or probe. If it is the same as --start: from each event to the next.", false, NULL },
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
	.summary = "each pair of tracepoints or probes with the same key, when it ends",
};
