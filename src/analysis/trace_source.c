/* SPDX-License-Identifier: Apache-2.0 */
/* trace as a source: a tracepoint's events, as the text that trace prints for them. */
#include "analysis/commands.h"
#include "engine/analysis.h"
#include "engine/tapped.h"

#include <stdio.h>

struct trace_source {
	struct stream_opts stream;
	const char *event;           /* --of: "sys:name" */
	struct tapped of;
	struct tracefmt_db *formats;
};

struct made_line {
	struct made_head head;
	int32_t pid, tid;
	char event[64];
	char text[512];
};

static const struct made_field fields[] = {
	MADE_FIELD(struct made_line, pid, "pid_t pid", true),
	MADE_FIELD(struct made_line, tid, "pid_t tid", true),
	MADE_FIELD(struct made_line, event, "char event[64]", false),
	MADE_FIELD(struct made_line, text, "char text[512]", false),
};

static int begin(void *state, struct maker *m, struct fault *f)
{
	((struct trace_source *)state)->formats = maker_formats(m);
	return 0;
}

static void sample(void *state, struct maker *m, const struct stream_event *event,
		   const struct perf_event_header *rec, const void *raw, uint32_t raw_size, uint32_t cpu)
{
	struct trace_source *src = state;
	const struct analysis_sample s = analysis_sample_of(event, rec, raw, raw_size, cpu);
	struct made_line *e = maker_fields(m);

	e->pid = s.pid;
	e->tid = pidmap_shown(s.tid);
	snprintf(e->event, sizeof(e->event), "%s", src->event);
	snprintf(e->text, sizeof(e->text), "%s", tracefmt_print(src->formats, event->fmt, raw, raw_size, NULL));
	maker_emit(m, s.time, s.pid, e->tid);
}

static void release(void *state)
{
	tapped_free(&((struct trace_source *)state)->of);
}

static const struct maker_ops ops = { .begin = begin, .sample = sample, .free = release };

static int events(struct source *source, void *config, struct fault *f)
{
	struct trace_source *src = config;
	struct source_made made = {
		.fields = fields, .nfields = sizeof(fields) / sizeof(*fields),
		.print = "\"%s: %s\", REC->event, REC->text",
		.size = sizeof(struct made_line), .ops = &ops, .state = src,
	};
	struct maker *m;

	m = source_make(source, &made, f);
	return !m || tapped_set(&src->of, "trace", "--of", src->event, "trace/--of sched:sched_wakeup/", f) ||
	       source_watch(m, src->of.sys, src->of.name, false, f) ? -1 : 0;
}

static const struct opt line_opts[] = {
	{ "of", 0, NULL, OPT_STRING, offsetof(struct trace_source, event), "EVENT", "The tracepoint to print.",
	  false, NULL },
};

static const struct opt_group groups[] = {
	{ "Events", line_opts, sizeof(line_opts) / sizeof(*line_opts), 0 },
	{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 },
};

const struct source_ops trace_source = {
	.name = "trace",
	.summary = "a tracepoint's events as the text that trace prints of them",
	.makes = true,
	OPT_GROUPS(groups),
	.config_size = sizeof(struct trace_source),
	.events = events,
};
