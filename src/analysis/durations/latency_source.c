/* SPDX-License-Identifier: Apache-2.0 */
/* latency as a source: from one tracepoint to another of the same key, told when it ends. */
#include "analysis/durations/commands.h"
#include "analysis/durations/pairs.h"
#include "engine/keys.h"
#include "engine/tapped.h"
#include "stream/schema.h"

#include <stdlib.h>
#include <string.h>

struct latency_source_opts {
	struct pair_opts pairs;
	const char *start, *end, *key, *end_key;
};

/* One of the two. */
struct edge {
	struct tapped of;
	char *key_text;
	const struct stream_event *event;
	struct expr *key;
	bool thread;                         /* the key is the thread */
};

struct latency_source {
	struct maker *maker;
	struct edge start, end;
	uint64_t than;
	struct pairs pairs;
};

struct made_latency {
	struct made_head head;
	int32_t pid, tid;
	uint64_t key, start, duration;
};

static const struct made_field fields[] = {
	MADE_FIELD(struct made_latency, pid, "pid_t pid", true),
	MADE_FIELD(struct made_latency, tid, "pid_t tid", true),
	MADE_FIELD(struct made_latency, key, "u64 key", false),
	MADE_FIELD(struct made_latency, start, "u64 start", false),
	MADE_FIELD(struct made_latency, duration, "u64 duration", false),
};

/* ---- samples ---------------------------------------------------------------------------- */

static int edge_begin(struct edge *edge, struct maker *m, const char *option, struct fault *f)
{
	struct expr_schema schema;
	int rc;

	edge->event = maker_event(m, edge->of.sys, edge->of.name);
	if (schema_of_event(&schema, edge->event))
		return fault_set(f, EXIT_FAILED, "out of memory");
	rc = key_compile_over(&edge->key, &schema, edge->event->name, edge->key_text, option, f);
	schema_free(&schema);
	return rc;
}

static int begin(void *state, struct maker *m, struct fault *f)
{
	struct latency_source *src = state;

	src->maker = m;
	return edge_begin(&src->start, m, "-k", f) ||
	       edge_begin(&src->end, m, src->end.key_text == src->start.key_text ? "-k" : "--end-key", f) ? -1 : 0;
}

static bool edge_key(const struct edge *edge, const struct analysis_sample *s, uint64_t *key)
{
	struct expr_run run = { .ctx = NULL };
	struct expr_value v;

	if (edge->thread) {
		*key = (uint64_t)s->tid;
		return true;
	}
	schema_set_run(&run, s->view.rec, s->view.raw, s->view.raw_size, &s->cpu);
	if (expr_eval(edge->key, &run, &v))
		return false;
	*key = key_number(&v);
	return true;
}

static void emit(struct latency_source *src, const struct analysis_sample *s, uint64_t key,
		 const struct pair_end *end)
{
	struct made_latency *e = maker_fields(src->maker);

	e->pid = s->pid;
	e->tid = pidmap_shown(s->tid);
	e->key = src->start.thread ? (uint64_t)pidmap_shown((pid_t)key) : key;
	e->start = end->start;
	e->duration = end->duration;
	maker_emit(src->maker, s->time, s->pid, e->tid);
}

/* An event that is both ends what the one before it began. */
static void sample(void *state, struct maker *m, const struct stream_event *event,
		   const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu)
{
	struct latency_source *src = state;
	const struct analysis_sample s = analysis_sample_of(event, rec, raw, raw_size, cpu);
	struct pair_end end;
	uint64_t key;

	if (event == src->end.event && edge_key(&src->end, &s, &key) &&
	    pairs_end(&src->pairs, &s, key, &end) && end.duration >= src->than)
		emit(src, &s, key, &end);
	if (event == src->start.event && edge_key(&src->start, &s, &key))
		pairs_start(&src->pairs, &s, key, 0);
}

static void edge_free(struct edge *edge)
{
	tapped_free(&edge->of);
	free(edge->key_text);
	expr_free(edge->key);
}

static void release(void *state)
{
	struct latency_source *src = state;

	pairs_free(&src->pairs);
	edge_free(&src->start);
	edge_free(&src->end);
	free(src);
}

static const struct maker_ops ops = { .begin = begin, .sample = sample, .free = release };

/* ---- the item of the list ----------------------------------------------------------------- */

static int edge_set(struct edge *edge, const char *option, const char *text, const char *key, struct fault *f)
{
	edge->key_text = strdup(key);
	edge->thread = key_is_thread(key);
	if (!edge->key_text)
		return fault_set(f, EXIT_FAILED, "out of memory");
	return tapped_set(&edge->of, "latency", option, text,
			  "latency/--start block:block_rq_issue --end block:block_rq_complete -k sector/", f);
}

static int set(struct latency_source *src, const struct latency_source_opts *o, struct fault *f)
{
	const char *key = o->key ? o->key : "_tid";

	src->than = o->pairs.than;
	return edge_set(&src->start, "--start", o->start, key, f) ||
	       edge_set(&src->end, "--end", o->end, o->end_key ? o->end_key : key, f) ? -1 : 0;
}

static int events(struct source *source, const void *config, struct fault *f)
{
	struct latency_source *src = calloc(1, sizeof(*src));
	struct source_made made = {
		.fields = fields, .nfields = sizeof(fields) / sizeof(*fields),
		.print = "\"key %llu took %llu.%03llu us\", REC->key, REC->duration / 1000, REC->duration % 1000",
		.size = sizeof(struct made_latency), .ops = &ops, .state = src,
		.order = true,   /* it may end on another CPU */
	};
	struct maker *m;

	if (!src)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (set(src, config, f)) {
		release(src);
		return -1;
	}
	m = source_make(source, &made, f);
	return !m || source_watch(m, src->start.of.sys, src->start.of.name, false, f) ||
	       source_watch(m, src->end.of.sys, src->end.of.name, false, f) ? -1 : 0;
}

#define AT(member) offsetof(struct latency_source_opts, member)

static const struct opt pair_rows[] = {
	{ "start", 0, NULL, OPT_STRING, AT(start), "EVENT", "The tracepoint that begins it.", false, NULL },
	{ "end", 0, NULL, OPT_STRING, AT(end), "EVENT",
	  "The tracepoint that ends it; the same one: from each to the next.", false, NULL },
	{ "key", 'k', NULL, OPT_STRING, AT(key), "EXPR",
	  "What belongs together: an expression over the fields of both. Default: the thread, _tid.", false, NULL },
	{ "end-key", 0, NULL, OPT_STRING, AT(end_key), "EXPR",
	  "The same for --end alone, where its fields have other names.", false, NULL },
};

static const struct opt_group groups[] = {
	{ "Pairs", pair_rows, sizeof(pair_rows) / sizeof(*pair_rows), 0 },
	{ "Durations", pair_opts_rows, PAIR_SOURCE_NOPTS, 0 },
	{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 },
};

const struct source_ops latency_source = {
	.name = "latency",
	.summary = "from one tracepoint to another of the same key, when it ends",
	.makes = true,
	.groups = groups,
	.ngroups = sizeof(groups) / sizeof(*groups),
	.config_size = sizeof(struct latency_source_opts),
	.events = events,
};
