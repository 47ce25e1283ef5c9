/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/overwrite.h"

#include "base/units.h"
#include "events/spec.h"
#include "report/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* After SIGUSR2, the time (ns) to wait for earlier events: much longer than the delay of the merge by time and the
 * run loop's interval. */
static const uint64_t patience = 200000000;

enum { DEFAULT_BYTES = 64 << 20 };

/* ---- options ---------------------------------------------------------------------------- */

static const uint64_t longest = UINT64_C(1000000000) * 86400 * 365;

/* Seconds, or a time with a unit. */
int overwrite_parse_last(const char *text, void *field, struct fault *f)
{
	uint64_t *ns = field;
	char *end;
	double seconds = strtod(text, &end);
	size_t len = strlen(text);
	bool digits = len && strspn(text, "0123456789.") == len;

	if (digits && !*end && seconds * 1e9 <= (double)longest)
		*ns = (uint64_t)(seconds * 1e9);
	else if (digits || units_duration(text, ns) || *ns > longest)
		*ns = 0;
	if (*ns)
		return 0;
	return fault_usage(f, "--last %s: expected seconds above 0, such as 2 or 0.5, or a time such as 500ms",
			   text);
}

#define AT(member) offsetof(struct overwrite_opts, member)

const struct opt overwrite_opts_rows[] = {
	{ "overwrite", 0, NULL, OPT_FLAG, AT(on), NULL,
	  "Keep the newest events in memory, and print them at each trigger: an event with the "
	  "attribute trigger, or SIGUSR2. -N ends the run after N triggers.", false, NULL },
	{ "last", 0, NULL, OPT_CALL, AT(last), "SECONDS",
	  "Print only the last SECONDS before the trigger: 2, 0.5, 500ms.", false, overwrite_parse_last },
	{ "keep", 0, NULL, OPT_SIZE, AT(bytes), "SIZE",
	  "Set the memory for these events. Default: 64M, about 400,000 events.", OVERWRITE_KEEP_LIMITS },
};

int overwrite_prepare(const struct overwrite_opts *opts, struct stream_opts *stream, struct fault *f)
{
	if (!opts->on && (opts->last || opts->bytes))
		return fault_usage(f, "trace: --last and --keep need --overwrite");
	if (opts->on)
		stream->order = true;
	return 0;
}

/* ---- life ------------------------------------------------------------------------------- */

/* Sets event->consumer for triggers only. */
static bool mark_triggers(struct stream_event *events, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		bool triggers = spec_attr(events[i].asked.item, "trigger");

		events[i].consumer = triggers ? &events[i] : NULL;
		any |= triggers;
	}
	return any;
}

int overwrite_begin(struct overwrite *o, struct analysis *a, const struct overwrite_opts *opts,
		    overwrite_print_fn *print, struct fault *f)
{
	struct stream_opts *stream = &a->opts->stream;
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);
	bool any = mark_triggers(events, n);

	if (!opts->on)
		return any ? fault_usage(f, "trace: the attribute trigger needs --overwrite")
			   : 0;
	o->opts = opts;
	o->print = print;
	o->limit = stream->exit_n;
	stream->exit_n = 0;
	o->history = history_new(opts->bytes ? opts->bytes : DEFAULT_BYTES);
	return o->history ? 0 : fault_set(f, EXIT_FAILED, "out of memory");
}

void overwrite_free(struct overwrite *o)
{
	history_free(o->history);
}

/* ---- dumps ------------------------------------------------------------------------------ */

static void count_one(struct analysis *a, const struct analysis_sample *s, const char *comm, void *ctx)
{
	++*(size_t *)ctx;
}

static void print_one(struct analysis *a, const struct analysis_sample *s, const char *comm, void *ctx)
{
	((const struct overwrite *)ctx)->print(a, s, comm);
}

/* The line above a dump. */
struct head {
	const char *time, *why;
	size_t events, older;
	uint64_t overwritten;
};

static void print_head(const struct overwrite *o, struct analysis *a, const struct head *h)
{
	json_object *root;

	if (!a->opts->json) {
		printf("--- %s dump %" PRIu64 ", by %s: %zu events; %zu older left out, %" PRIu64 " overwritten\n",
		       h->time, o->dumps, h->why, h->events, h->older, h->overwritten);
		return;
	}
	root = json_object_new_object();
	json_line(root, json_put_unsigned(root, "dump", o->dumps) && json_put_text(root, "by", h->why) &&
		  json_put_text(root, "time", h->time) && json_put_unsigned(root, "events", h->events) &&
		  json_put_unsigned(root, "older", h->older) &&
		  json_put_unsigned(root, "overwritten", h->overwritten), stdout);
}

static void dump(struct overwrite *o, struct analysis *a, uint64_t time, const char *why)
{
	uint64_t from = o->opts->last && time > o->opts->last ? time - o->opts->last : 0;
	uint64_t overwritten = history_overwritten(o->history);
	char when[64];
	struct head head = {
		.time = analysis_time_text(a, time, when, sizeof(when)), .why = why,
		.overwritten = overwritten - o->overwritten,
	};

	o->dumps++;
	history_each(o->history, a, from, UINT64_MAX, count_one, &head.events);
	head.older = history_count(o->history) - head.events;
	print_head(o, a, &head);
	history_each(o->history, a, from, UINT64_MAX, print_one, o);
	history_clear(o->history);
	o->overwritten = overwritten;
}

static bool is_over(const struct overwrite *o)
{
	return o->limit && o->dumps >= o->limit;
}

static void answer(struct overwrite *o, struct analysis *a)
{
	dump(o, a, o->asked, "SIGUSR2");
	o->asked = 0;
}

void overwrite_take(struct overwrite *o, struct analysis *a, const struct analysis_sample *s)
{
	if (is_over(o))
		return;
	if (o->asked && s->time > o->asked)
		answer(o, a);
	history_add(o->history, s, analysis_comm(a, s->tid));
	if (s->event->consumer && !is_over(o))
		dump(o, a, s->time, s->event->name);
	if (is_over(o))
		stream_stop(a->stream);
}

void overwrite_ask(struct overwrite *o, struct analysis *a)
{
	if (!o->asked)
		o->asked = analysis_now(a);
}

bool overwrite_look(struct overwrite *o, struct analysis *a)
{
	if (o->asked && analysis_now(a) > o->asked + patience)
		answer(o, a);
	return is_over(o);
}

void overwrite_end(struct overwrite *o, struct analysis *a)
{
	if (o->asked)
		answer(o, a);
	if (!o->dumps && !a->opts->json)
		printf("--- nothing triggered a dump: %zu events were kept, %" PRIu64 " overwritten\n",
		       history_count(o->history), history_overwritten(o->history));
}
