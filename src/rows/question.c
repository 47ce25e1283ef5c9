/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/question.h"

#include "base/note.h"
#include "base/units.h"
#include "rows/sinks.h"

#include <string.h>

enum { HISTORY_BYTES = 16 << 20 };
/* Nobody asks for so few ns: who writes --than 10 means another unit. From here on, a bare number is ns. */
enum { BARE = 1000 };

int question_parse_than(const char *text, void *field, struct fault *f)
{
	uint64_t *than = field;
	const bool bare = text[strspn(text, "0123456789")] == 0;

	if (!units_duration(text, than) && bare && *than && *than < BARE)
		return fault_usage(f, "--than %s: %s ns? expected a time with a unit, such as %sms or %sns", text, text, text, text);
	if (units_duration(text, than) || !*than)
		return fault_usage(f, "--than %s: expected a time above 0, such as 10ms, 500us or 1s; a bare "
				   "number is ns", text);
	return 0;
}

const struct opt question_source_opts[] = QUESTION_DURATIONS_OPTS("duration, as an event is in any case");

const struct opt question_format_opts[] = {
	ANALYSIS_JSON_OPT, ANALYSIS_TEXT_OPT, ANALYSIS_FULL_OPT, ANALYSIS_WIDTH_OPT,
	{ "csv", 0, NULL, OPT_FLAG, offsetof(struct question, csv), NULL,
	  "Print CSV (RFC 4180): a header line, then the rows of the table, times in ns.", false, NULL },
	{ "csv-safe", 0, NULL, OPT_FLAG, offsetof(struct question, csv_safe), NULL,
	  "Print CSV for a spreadsheet: put an apostrophe before text that begins with =, +, - or @, so that it is "
	  "not taken for a formula. Numbers do not change.", false, NULL },
	{ "rows", 0, NULL, OPT_U64, offsetof(struct question, common.rows), "N", "Show the first N rows; 0: all. Default: all; JSON and "
	  "CSV have all.", false, NULL },
};

const struct opt_group question_source_groups[] = { QUESTION_SOURCE_GROUPS };

/* ---- common to commands and sources ----------------------------------------------------- */

int question_watch(struct question *q, const char *sys, const char *name, bool everywhere, struct fault *f)
{
	return q->maker ? source_watch(q->maker, sys, name, everywhere, f) : analysis_add_event(q->a, f, "%s:%s", sys, name);
}

struct stream_event *question_event(struct question *q, const char *sys, const char *name)
{
	return q->maker ? maker_event(q->maker, sys, name) : analysis_event(q->a, sys, name);
}

int question_need(struct question *q, const char *sys, const char *name, const struct stream_event **event, struct fault *f)
{
	*event = question_event(q, sys, name);
	if (*event)
		return analysis_has_everybody(q->a ? q->a->stream : maker_stream(q->maker), q->ops->name, *event, f);
	return q->a ? analysis_lacks(q->a, sys, name, f) :
	       fault_usage(f, "%s: needs %s:%s, which the recording lacks", q->ops->name, sys, name);
}

static int watch_all(struct question *q, struct fault *f)
{
	const struct question_ops *ops = q->ops;
	int rc = ops->watch ? ops->watch(q, f) : 0;

	for (size_t i = 0; i < ops->nevents && !rc; i++) {
		const struct question_event *e = &ops->events[i];
		const char *chosen = ops->filter && !q->maker ? ops->filter(q, i) : NULL, *filter = chosen ? chosen : e->filter;

		rc = filter && !q->maker ? analysis_add_event(q->a, f, "%s:%s/%s/", e->sys, e->name, filter)
					 : question_watch(q, e->sys, e->name, ops->everywhere, f);
	}
	return rc;
}

static int find_fields(struct question *q, size_t i, struct fault *f)
{
	const struct question_event *e = &q->ops->events[i];

	if (question_need(q, e->sys, e->name, &q->events[i], f))
		return -1;
	for (size_t j = 0; j < QUESTION_FIELDS && e->fields[j]; j++) {
		q->fields[i][j] = analysis_field(q->events[i], e->fields[j], false, f);
		if (!q->fields[i][j])
			return -1;
	}
	q->texts[i] = e->text ? analysis_field(q->events[i], e->text, true, f) : NULL;
	return e->text && !q->texts[i] ? -1 : 0;
}

static int begin_all(struct question *q, struct fault *f)
{
	for (size_t i = 0; i < q->ops->nevents; i++)
		if (find_fields(q, i, f))
			return -1;
	return q->ops->begin ? q->ops->begin(q, f) : 0;
}

const char *question_comm(struct question *q, const struct analysis_sample *s, pid_t tid, const struct trace_field *field)
{
	const char *text;
	uint32_t len;

	if (q->a)
		return analysis_comm(q->a, tid);
	memset(q->comm, 0, sizeof(q->comm));
	if (!trace_field_data(field, s->view.raw, s->view.raw_size, &text, &len))
		memcpy(q->comm, text, len < sizeof(q->comm) ? len : sizeof(q->comm) - 1);
	return q->comm;
}

const char *question_shown_comm(struct question *q, pid_t tid)
{
	return q->named && q->a && (q->per_instance || q->than) ? analysis_comm(q->a, tid) : NULL;
}

struct tracefmt_db *question_formats(struct question *q)
{
	return q->maker ? maker_formats(q->maker) : stream_formats(q->a->stream);
}

static void group(struct question *q)
{
	enum group_by usual = q->ops->usual ? q->ops->usual : q->has_targets ? BY_TASK : BY_COMM;

	q->grouping.by = q->by ? q->by : q->per_instance ? BY_TASK : usual;
	q->grouping.automatic = !q->by && !q->per_instance && usual == BY_TASK && !q->common.json && !q->csv;
	q->grouping.processes.recorded = q->targets->input;
}

void question_emit(struct question *q, const struct happening *h)
{
	if (!q->maker)
		rows_add(q, h);
	else if (h->end.duration >= q->than)
		made_emit(q, h);
}

static void release_run(void *state)
{
	struct question *q = state;

	if (q->ops->release)
		q->ops->release(q);
	pairs_free(&q->pairs);
	distributions_clear(&q->rows);
	grouping_free(&q->grouping);
	history_free(q->history);
	heatmap_free(q->heatmap);
}

/* ---- as a command ----------------------------------------------------------------------- */

static struct question *question_of(struct analysis *a)
{
	struct question *q = a->config;

	q->a = a;
	return q;
}

static int events(struct analysis *a, struct fault *f)
{
	struct question *q = question_of(a);

	q->has_targets = q->targets->pids.n || q->targets->tids.n;
	return watch_all(q, f);
}

static int add_events(struct analysis *a, struct fault *f)
{
	struct question *q = question_of(a);

	return q->ops->add ? q->ops->add(q, f) : 0;
}

/* --than prints samples with all their parts. */
static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	struct question *q = question_of(a);

	return q->than ? STREAM_READS_ALL : q->ops->reads ? q->ops->reads(q, event) : PERF_SAMPLE_RAW;
}

static int begin(struct analysis *a, struct fault *f)
{
	struct question *q = question_of(a);

	q->has_targets |= q->targets->pids.n || q->targets->tids.n;
	if (q->ops->tasks)
		group(q);
	if (question_lacks_than(q))
		note(a->opts->stream.verbose, "-g needs --than TIME to print stacks");
	if (begin_all(q, f) || heatmap_check(&q->heatmap_opts, a->opts->stream.verbose, f))
		return -1;
	q->heatmap = q->heatmap_opts.path ? heatmap_new() : NULL;
	q->history = q->than && q->ops->title ? history_new(HISTORY_BYTES) : NULL;
	if ((q->heatmap_opts.path && !q->heatmap) || (q->than && q->ops->title && !q->history))
		return fault_set(f, EXIT_FAILED, "out of memory");
	return 0;
}

static void see(struct question *q, const struct analysis_sample *s)
{
	if (!q->begun)
		q->begun = s->time;
	if (!q->from)
		q->from = s->time;
	if (s->time > q->last)
		q->last = s->time;
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct question *q = a->config;

	see(q, s);
	grouping_see(&q->grouping, s);
	if (q->history && (!q->ops->keeps || q->ops->keeps(q, s)))
		history_add(q->history, s, NULL);
	q->ops->sample(q, s);
}

static void task(struct analysis *a, const struct pev_record *rec)
{
	struct question *q = a->config;

	if (q->grouping.by == BY_PID)
		processes_take(&q->grouping.processes, rec);
	if (q->ops->task)
		q->ops->task(q, rec);
}

static void lost(struct analysis *a, const struct stream_loss *loss)
{
	struct question *q = a->config;

	if (q->ops->lost)
		q->ops->lost(q, loss);
}

/* Durations that before_table() adds end before the table does: its end is taken after that. */
static void interval(struct analysis *a, uint64_t now)
{
	struct question *q = a->config;
	uint64_t from = q->from;

	if (q->ops->before_table)
		q->ops->before_table(q);
	rows_print(q);
	if (q->ops->after_table)
		q->ops->after_table(q, from);
}

static bool is_over(struct analysis *a)
{
	struct question *q = a->config;

	return q->ops->is_over && q->ops->is_over(q);
}

static int end(struct analysis *a, struct fault *f)
{
	struct question *q = a->config;

	q->ending = true;
	interval(a, q->last);
	if (q->ops->end)
		q->ops->end(q);
	return rows_draw(q, f) || (q->ops->draw && q->ops->draw(q, f)) ? -1 : 0;
}

static void release(struct analysis *a)
{
	release_run(a->config);
}

static void started(struct analysis *a)
{
	struct question *q = question_of(a);

	if (q->ops->started)
		q->ops->started(q);
}

int question_run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct question *q = config;
	const struct question_ops *ops = args->subject;
	const struct analysis_ops analysis = {
		.name = ops->name, .events = events, .add = add_events, .reads = reads, .begin = begin, .started = started, .sample = sample,
		.task = task, .lost = lost, .interval = interval, .is_over = is_over, .end = end, .release = release,
		.chains_of_users = true, .attrs = STREAM_ATTR_STACK | ops->attrs,
	};

	q->ops = ops;
	q->targets = &q->common.stream;
	q->csv |= q->csv_safe;
	if (q->csv && (q->common.json || q->than))
		return fault_usage(f, "%s: --csv and %s: give one of them", ops->name, q->common.json ? "--json" : "--than");
	q->common.stream.output.results_alone = q->csv;
	q->common.stream.order = true;   /* the two events of a pair can be in different rings */
	return analysis_run(&analysis, config, args, f);
}

/* ---- as a source ------------------------------------------------------------------------ */

static int source_begin(void *state, struct maker *m, struct fault *f)
{
	struct question *q = state;

	return begin_all(q, f);
}

static void source_sample(void *state, struct maker *m, const struct stream_event *event,
			  const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu)
{
	struct question *q = state;
	const struct analysis_sample s = analysis_sample_of(event, rec, raw, raw_size, cpu);

	see(q, &s);
	if (q->ops->names && s.pid > 0 && s.tid > 0)
		processes_set(&q->grouping.processes, s.tid, s.pid);
	q->ops->sample(q, &s);
}

static void source_task(void *state, const struct pev_record *rec)
{
	struct question *q = state;

	if (q->ops->names)
		processes_take(&q->grouping.processes, rec);
	if (q->ops->task)
		q->ops->task(q, rec);
}

static void source_end(void *state, struct maker *m)
{
	(void)m;
	made_end(state);
}

int question_source_events(struct source *source, void *config, struct fault *f)
{
	static const struct maker_ops ops = {
		.begin = source_begin, .sample = source_sample, .task = source_task, .end = source_end, .free = release_run,
	};
	struct question *q = config;

	q->ops = source_subject(source);
	q->targets = source_targets(source);
	q->grouping.processes.recorded = q->targets->input;
	return made_begin(q, source, &ops, f) || watch_all(q, f) ? -1 : 0;
}
