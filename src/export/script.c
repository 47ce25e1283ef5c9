/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof script: the events of a recording as text, JSON lines or CSV. */
#include "export/script.h"

#include "base/artifact.h"
#include "base/escape.h"
#include "base/outfile.h"
#include "engine/progress.h"
#include "export/commands.h"
#include "stat/counts.h"
#include "stream/replay/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TITLE = 2048 };

struct script {
	struct analysis_opts common;
	const char *fields;              /* -F */
	const char *output;              /* -o, or NULL */
	bool csv, csv_safe, ns;
	struct script_choice choice;
	struct artifact artifact;
	struct script_event *events;     /* of the stream's events, by index, leaders included */
	size_t nevents, nleaders;
	struct script_columns columns;
	struct outbuf *out;
	struct script_line *line;
	script_put_fn *write;
	struct progress progress;        /* counts what was written */
};

/* ---- output ------------------------------------------------------------------------ */

/* Stops if the output cannot be written, or nobody reads it any more. */
static void flush(struct script *s, struct analysis *a)
{
	outbuf_flush(s->out);
	if (!s->out->error)
		return;
	if (!s->artifact.out)
		a->output_error = s->out->error;
	stream_stop(a->stream);
}

/* A pipe has no more data at the moment. */
static void idle(struct analysis *a)
{
	struct script *s = a->config;

	flush(s, a);
	if (!s->progress.off)
		progress_show(&s->progress, a);
	if (s->artifact.out)
		fflush(s->artifact.out);
}

/* ---- samples ----------------------------------------------------------------------- */

static void put(struct script *s, struct analysis *a, const struct analysis_sample *sample,
		const struct script_event *event, uint64_t period)
{
	struct script_line *l = s->line;

	l->s = sample;
	l->event = event;
	l->period = period;
	l->decoded = l->named = false;
	if (__builtin_expect(s->csv && !s->progress.samples, 0))
		script_csv_head(&s->columns, s->out);
	s->write(l);
	progress_step(&s->progress, a);
	if (s->out->len >= OUTBUF_FLUSH)
		flush(s, a);
}

/* As perf does: an event for each group member, whose period is the increment of its counter. */
static void put_counts(struct script *s, struct analysis *a, const struct analysis_sample *sample,
		       const struct stream_counts *counts)
{
	for (size_t i = 0; i < counts->n; i++) {
		const struct script_event *event = counts->v[i].event ? counts->v[i].event->consumer : NULL;

		/* leaders that are not shown were added for their members */
		if (event && counts->v[i].delta && event < s->events + s->nevents)
			put(s, a, sample, event, counts->v[i].delta);
	}
}

static void sample(struct analysis *a, const struct analysis_sample *sample)
{
	struct script *s = a->config;
	const struct script_event *event = sample->event->consumer;

	if (__builtin_expect(sample->event->counts != NULL, 0))
		put_counts(s, a, sample, sample->event->counts);
	else
		put(s, a, sample, event, sample->event->layout.period ? event_period(sample->event, sample->view.rec) : event->period);
}

/* ---- counts of perf stat ------------------------------------------------------------ */

static struct count_row count_of(const char *name, const struct perfdata_event *e)
{
	struct pev_estimate est;
	const int rc = pev_count_estimate(&e->counted, &est);

	return (struct count_row){
		.event = name, .unit = e->unit, .scale = e->scale != 0 ? e->scale : 1, .state = rc ? COUNT_NEVER_RAN : COUNT_GOOD,
		.value = est.value, .share = est.share, .counters = 1, .counted = (double)e->counted.value,
		.enabled = e->counted.time_enabled, .running = e->counted.time_running,
	};
}

/* As perf-prof stat -i prints them. */
static void interval(struct analysis *a, uint64_t now)
{
	struct script *s = a->config;
	FILE *out = s->output ? s->artifact.out : stdout;

	for (size_t i = 0; i < s->nevents; i++) {
		struct count_row row = count_of(s->events[i].event->name, replay_event(a->stream, s->events[i].event));
		const struct count_table t = { .rows = &row, .n = 1, .is_interval = true, .time = (double)now / 1e9 };

		if (s->csv)
			counts_csv(&t, (struct csv_form){ ',', s->csv_safe }, !s->progress.samples, out);
		else if (!s->common.json)
			counts_text(&t, !s->progress.samples, out);
		else if (counts_json(&t, out) == -ENOMEM)
			a->output_error = ENOMEM;
		progress_step(&s->progress, a);
	}
}

/* ---- events ------------------------------------------------------------------------ */

static void begin_event(struct script *s, struct analysis *a, struct stream_event *ev, struct script_event *e)
{
	const struct perf_event_attr *attr = &replay_event(a->stream, ev)->attr.attr;
	uint64_t names = SCRIPT_BIT(SYM) | SCRIPT_BIT(SYMOFF) | SCRIPT_BIT(DSO) | SCRIPT_BIT(SRCLINE);

	e->event = ev;
	e->parts = attr->sample_type;
	e->period = attr->sample_period;
	e->has_realtime = stream_has_realtime(a->stream);
	replay_format(a->stream, ev, &e->format);
	script_show(e, &s->choice, s->common.json || s->csv);
	ev->consumer = e;
	ev->names_ip = e->shown & names;
	ev->callchain = e->has_chain;   /* nothing is looked up for fields that are not shown */
}

static int title(struct script_event *e, size_t width, struct fault *f)
{
	char name[MAX_TITLE];

	escape_terminal(e->event->name, strlen(e->event->name), name, sizeof(name));
	/* padded, so that SCRIPT_SHORT bytes can be copied */
	if (asprintf(&e->title, "%*s: %*s", (int)width, name, SCRIPT_SHORT, "") < 0) {
		e->title = NULL;
		return fault_set(f, EXIT_FAILED, "out of memory");
	}
	e->title_len = strlen(e->title) - SCRIPT_SHORT;
	return 0;
}

static int titles(struct script *s, struct fault *f)
{
	size_t width = 0;

	for (size_t i = 0; i < s->nevents; i++) {
		size_t len = strlen(s->events[i].event->name);

		width = len > width ? len : width;
	}
	for (size_t i = 0; i < s->nevents; i++)
		if (title(&s->events[i], width, f))
			return -1;
	return 0;
}

/* A field that was asked for and that no event has is an error. Some events may lack it. */
static int check_choice(const struct script *s, const struct analysis *a, struct fault *f)
{
	uint64_t asked = s->choice.set | s->choice.plus, shown = 0;

	for (size_t i = 0; i < s->nevents; i++)
		shown |= s->events[i].shown;
	if (asked & SCRIPT_BIT(IP))
		asked &= ~SCRIPT_BIT(CALLCHAIN);   /* it came with ip */
	for (int i = 0; i < SCRIPT_NFIELDS; i++)
		if (asked & ~shown & UINT64_C(1) << i)
			return fault_usage(f, "--fields: no event of %s was recorded with %s", a->opts->stream.input,
					   script_fields[i].name);
	return 0;
}

static int begin_events(struct script *s, struct analysis *a, struct fault *f)
{
	struct stream_event *events = stream_events(a->stream, &s->nevents);
	struct stream_event *leaders = stream_leaders(a->stream, &s->nleaders);

	for (size_t i = 0; i < s->nevents; i++)
		if (events[i].maker)
			return fault_usage(f, "script: perf-prof makes %s from recorded events, "
					   "and script prints those as they are: use trace -I %s", events[i].name, a->opts->stream.input);
	s->events = calloc(s->nevents + s->nleaders, sizeof(*s->events));
	if (!s->events)
		return fault_set(f, EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < s->nevents; i++)
		begin_event(s, a, &events[i], &s->events[i]);
	for (size_t i = 0; i < s->nleaders; i++)
		begin_event(s, a, &leaders[i], &s->events[s->nevents + i]);
	if (check_choice(s, a, f) || titles(s, f))
		return -1;
	if (s->csv)
		return script_columns(&s->columns, s->events, s->nevents, f);
	for (size_t i = 0; s->common.json && i < s->nevents + s->nleaders; i++)
		if (script_json_keys(&s->events[i], f))
			return -1;
	return 0;
}

/* ---- the run ----------------------------------------------------------------------- */

static int begin_output(struct script *s, struct analysis *a, struct fault *f)
{
	if (s->output && artifact_open(&s->artifact, "--output", s->output, f))
		return -1;
	s->out = outbuf_new(s->output ? s->artifact.out : stdout);
	s->line = calloc(1, sizeof(*s->line));
	if (!s->out || !s->line)
		return fault_set(f, EXIT_FAILED, "out of memory");
	s->out->csv_safe = s->csv_safe;
	s->line->a = a;
	s->line->out = s->out;
	s->line->ns = s->ns;
	s->line->inlines = a->opts->inlines >= 0;
	s->line->columns = &s->columns;
	s->line->style = s->csv ? &script_csv_style : &script_json_style;
	s->write = s->csv ? script_csv : s->common.json ? script_json : script_text;
	progress_begin(&s->progress, a);
	s->progress.off |= !s->artifact.out && isatty(STDOUT_FILENO);
	return 0;
}

static int begin(struct analysis *a, struct fault *f)
{
	struct script *s = a->config;

	return begin_events(s, a, f) || begin_output(s, a, f) ? -1 : 0;
}

static int end(struct analysis *a, struct fault *f)
{
	struct script *s = a->config;

	if (s->csv && !s->progress.samples)
		script_csv_head(&s->columns, s->out);
	flush(s, a);
	progress_end(&s->progress);
	if (!stream_was_interrupted(a->stream))
		return s->artifact.out ? artifact_close(&s->artifact, f) : 0;
	if (s->artifact.out)
		return artifact_interrupt(&s->artifact, f);
	return fault_set(f, EXIT_INTERRUPTED, "interrupted: standard output is incomplete");
}

/* If the recording is damaged, keeps the output from the part that could be read. */
static void save(struct script *s)
{
	struct fault ignored = { 0 };

	if (!s->artifact.out || !s->out || !s->progress.samples)
		return;
	outbuf_flush(s->out);
	if (!s->out->error && artifact_close(&s->artifact, &ignored))
		fault_print(&ignored);
}

static void release(struct analysis *a)
{
	struct script *s = a->config;

	save(s);
	if (s->out && !s->output)
		outbuf_flush(s->out);
	progress_end(&s->progress);
	artifact_abandon(&s->artifact);
	for (size_t i = 0; i < s->nevents + s->nleaders && s->events; i++) {
		free(s->events[i].title);
		free(s->events[i].cells);
		free(s->events[i].keys);
		free(s->events[i].key_text);
	}
	free(s->events);
	script_columns_free(&s->columns);
	outbuf_free(s->out);
	free(s->line);
}

/* Leaves no file behind. */
static void abandon(struct analysis *a)
{
	const struct script *s = a->config;

	if (s->artifact.temporary)
		outfile_unlink(s->artifact.temporary);
}

static const struct analysis_ops ops = {
	.name = "script", .begin = begin, .sample = sample, .idle = idle, .end = end, .release = release,
	.abandon = abandon, .interval = interval,
};

/* ---- the command ------------------------------------------------------------------- */

static int check_output(const struct script *s, struct fault *f)
{
	if (stream_is_input(&s->common.stream, s->output))
		return fault_usage(f, "script: --output %s is the recording itself", s->output);
	return s->output ? artifact_check("--output", s->output, f) : 0;
}

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct script *s = config;
	struct opt_parser rest;

	if (s->fields && !strcmp(s->fields, "help")) {
		script_list_fields(stdout);
		return 0;
	}
	s->csv |= s->csv_safe;
	if (s->csv && s->common.json)
		return fault_usage(f, "script: --csv and --json: give one of them");
	if (script_choose(&s->choice, s->fields, f) || analysis_take_input("script", &s->common.stream, args, &rest, f) ||
	    check_output(s, f))
		return -1;
	s->common.stream.takes_counts = s->common.stream.takes_rounds = true;
	return analysis_run(&ops, config, &rest, f);
}

int script_write(const struct analysis_opts *opts, const struct source_ops *const *sources, enum script_rows rows,
		 const char *output, struct fault *f)
{
	const struct opt_parser none = { .after_dashes = -1, .outputs = { &output, 1 } };
	struct script s = {
		.common = *opts, .csv = rows != SCRIPT_ROWS_JSON, .csv_safe = rows == SCRIPT_ROWS_CSV_SAFE,
		.output = output,
	};

	s.common.json = !s.csv;
	s.common.stream.takes_counts = true;
	s.common.stream.sources = sources;
	if (script_choose(&s.choice, NULL, f) || check_output(&s, f))
		return -1;
	return analysis_run(&ops, &s, &none, f);
}

#define AT(member) offsetof(struct script, member)

static const struct opt script_opts[] = {
	{ "fields", 'F', NULL, OPT_STRING, AT(fields), "NAME[,NAME...]",
	  "Print these fields, if an event has them; +NAME adds to the default fields, -NAME removes "
	  "from them. -F help lists them.", false, NULL },
	{ "ns", 0, NULL, OPT_FLAG, AT(ns), NULL, "Print times in nanoseconds. Default: "
		"microseconds.", false, NULL },
	{ "exit-N", 'N', NULL, OPT_U64, offsetof(struct stream_opts, exit_n), "N",
	  "Stop after N events that pass the filters.", false, NULL },
	{ "order", 0, NULL, OPT_FLAG, offsetof(struct stream_opts, order), NULL,
	  "Accept and ignore: recordings are always printed in order of time over all CPUs.", false, NULL },
};

static const struct opt format_opts[] = {
	{ "json", 0, NULL, OPT_FLAG, offsetof(struct analysis_opts, json), NULL,
	  "Print JSON, one object per line: one for each event.", false, NULL },
	{ "csv", 0, NULL, OPT_FLAG, AT(csv), NULL,
	  "Print CSV (RFC 4180): a header line, then a row for each event; the columns are those of "
		"all events together.",
	  false, NULL },
	{ "csv-safe", 0, NULL, OPT_FLAG, AT(csv_safe), NULL,
	  "Print CSV for a spreadsheet: put an apostrophe before text that begins with =, +, - or @, so that it "
		"is not taken for a formula. Numbers do not change.", false, NULL },
};

static const struct opt output_opts[] = {
	{ "output", 'o', NULL, OPT_OUTFILE, AT(output), "FILE",
	  "Write to FILE, which is replaced only when the output is complete.", false, NULL },
};

#define ROWS(opts) (sizeof(opts) / sizeof(*(opts)))

static void defaults(void *config)
{
	analysis_defaults(config);
	((struct analysis_opts *)config)->stream.keeps_ids = true;
}

const struct command script_command = {
	.name = "script",
	.usual = "input fields event time pids json csv output",
	.summary = "print the events of a recording as text, JSON or CSV",
	.usage = "[options] [FILE]",
	.description = COMMAND_TEXT(
		"Which events does a recording have? Prints each of them (from perf-prof record or perf record) "
		"in order of time: thread, CPU, time, name and text of the event. If the event has a call chain, a line for "
		"each caller and an empty line follow.",
		"Each field is printed as perf script prints it, so tools that read the output of perf script read this, too. "
		"Control characters in names are escaped.",
		"--json and --csv print everything that was recorded with an event. Values are numbers where "
		"possible: times are in ns, addresses are decimal. The fields of a tracepoint are an object named "
		"\"fields\" in JSON. In CSV each is a column; if -F has a field of the same name, the column is called "
		"fields.NAME. The call chain is \"stack\": in JSON an array of objects, innermost first; in CSV "
		"functions, outermost first, separated by ;.",
		"Fields of tracepoints are as the kernel wrote them. In a recording made in a PID namespace, task ids in these "
		"fields (prev_pid, pid) are those of the initial namespace; pid and tid of the event are those of the "
		"namespace.",
		"A recording of perf stat record has counts: one of each event, or of each interval, as perf-prof stat -i prints them.",
		"FILE is perf.data by default; - is standard input. Ctrl-C ends the run with exit code 130 and "
		"leaves the file of --output unchanged."),
	OPT_GROUP_ROWS(
		{ "Fields and events", script_opts, ROWS(script_opts), 0 },
		{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, 0 },
		{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
		{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
		{ "Symbols", analysis_callchain_opts + STREAM_CALLCHAIN_NOPTS, ANALYSIS_NAMES_NOPTS, 0 },
		{ "Output format", format_opts, ROWS(format_opts), 0 },
		{ "Output", output_opts, ROWS(output_opts), 0 },
		{ "Messages", stream_output_opts + STREAM_OUTPUT_NOPTS - 2, 2, 0 }),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof script", "print ./perf.data" },
		{ "perf-prof script -I job.data -e sched:sched_switch -F time,cpu,trace --ns",
		  "print which task ran when, on each CPU" },
		{ "perf-prof script -F +misc,-cpu --time 1234.5,1236", "print 1.5 seconds, with the field misc and without cpu" },
		{ "perf-prof script --csv -o events.csv", "write a table for pandas.read_csv(\"events.csv\")" },
		{ "perf-prof script --json | jq -c 'select(.fields.prev_prio < 100)'", "filter events with jq" }),
	.mode = OPT_MODE_PLAIN,
	ANALYSIS_CONFIG(struct script, defaults),
	.run = run,
};
