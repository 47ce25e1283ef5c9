/* SPDX-License-Identifier: Apache-2.0 */
#include "export/convert.h"

#include "base/escape.h"
#include "base/nearest.h"
#include "base/note.h"
#include "base/outfile.h"
#include "export/commands.h"
#include "stream/replay/replay.h"

#include <string.h>
#include <unistd.h>

/* ---- profile ---------------------------------------------------------------------------- */

/* The samples that make up the profile, and text for all formats. */

bool convert_profiles(const struct convert *c, const struct stream_event *event)
{
	if (c->all)
		return analysis_has_place(event);
	return c->profile && event->opened.family == c->profile->opened.family;
}

void convert_tell_event(const struct convert *c, struct analysis *a)
{
	size_t n, sampled = 0, others = 0;
	const struct stream_event *events = stream_events(a->stream, &n);
	char name[256];

	for (size_t i = 0; i < n; i++) {
		sampled += events[i].sampling != NULL;
		others += events[i].sampling && !convert_profiles(c, &events[i]);
	}
	if (c->profile && !c->all && others)
		note(a->opts->stream.verbose, "--to %s converts %s, the first of %zu events; -e EVENT chooses another",
		     c->format->name, analysis_family(a, c->profile, name, sizeof(name)), sampled);
}

uint64_t convert_interval(const struct convert *c)
{
	const struct perf_event_attr *attr = c->profile && c->profile->sampling && !c->all
					     ? &c->profile->sampling->attr.attr : NULL;

	if (!attr || !attr->sample_period)
		return 0;
	if (attr->freq)
		return 1000000000 / attr->sample_freq;
	return analysis_is_clock(c->profile) ? attr->sample_period : 0;
}

const char *convert_text(const char *text, char *buf, size_t size)
{
	escape_terminal(text, strlen(text), buf, size);
	return buf;
}

const char *convert_fields(struct analysis *a, const struct analysis_sample *s)
{
	return s->event->fmt ? tracefmt_print(stream_formats(a->stream), s->event->fmt, s->view.raw,
					      s->view.raw_size, NULL) : NULL;
}

static const struct convert_format *const formats[] = {
	&convert_folded, &convert_speedscope, &convert_pprof, &convert_firefox,
	&convert_perfetto,
	&convert_csv, &convert_jsonl, &convert_parquet,
};

enum { FORMATS = sizeof(formats) / sizeof(*formats), LOOK_SAMPLES = 1 << 12 };

/* ---- the run --------------------------------------------------------------------------- */

static int begin(struct analysis *a, struct fault *f)
{
	struct convert *c = a->config;

	c->profile = analysis_profiled(a, &c->all);
	if (artifact_open(&c->file, "--output", c->out, f))
		return -1;
	progress_begin(&c->progress, a);
	return c->format->begin(c, a, f);
}

/* Stops reading if the output cannot be written. */
static void look(struct convert *c, struct analysis *a)
{
	if (ferror(c->file.out) || c->no_memory)
		stream_stop(a->stream);
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct convert *c = a->config;

	progress_step(&c->progress, a);
	if (c->no_idle && !s->tid && !s->pid)
		return;
	if (!c->samples || s->time < c->first)
		c->first = s->time;
	if (s->time > c->last)
		c->last = s->time;
	c->format->sample(c, a, s);
	if (convert_profiles(c, s->event))
		c->profiled++;
	else if (!c->other && analysis_has_place(s->event) && (s->event->sampling || !c->format->marks))
		c->other = s->event;
	if (!(++c->samples % LOOK_SAMPLES))
		look(c, a);
}

static void lost(struct analysis *a, const struct stream_loss *loss)
{
	struct convert *c = a->config;

	if (c->format->lost && loss->count)
		c->format->lost(c, a, loss);
}

/* An empty output is an error if other events have samples. */
static int check_profiled(const struct convert *c, struct analysis *a, struct fault *f)
{
	char name[256];

	if (!c->format->one || c->profiled || !c->other)
		return 0;
	return fault_set(f, EXIT_FAILED, "%s: there are no samples of %s, only of other events, such as -e %s",
			 a->opts->stream.input,
			 analysis_family(a, c->profile, name, sizeof(name)), analysis_counted(c->other));
}

static int end(struct analysis *a, struct fault *f)
{
	struct convert *c = a->config;

	progress_end(&c->progress);
	if (c->file.temporary && stream_was_interrupted(a->stream))
		return artifact_interrupt(&c->file, f);
	if (check_profiled(c, a, f))
		return -1;
	if (!c->samples && !stream_was_interrupted(a->stream))
		return fault_set(f, EXIT_FAILED, "%s: all samples are of idle CPUs, which --no-idle leaves out", a->opts->stream.input);
	if (!ferror(c->file.out) && !c->no_memory && c->format->end(c, a, f))
		return -1;
	if (c->no_memory)
		return fault_set(f, EXIT_FAILED, "--output %s: out of memory; a part of the recording needs less: "
				 "--time, -e, -p", c->out);
	return stream_was_interrupted(a->stream) ? artifact_interrupt(&c->file, f) : artifact_close(&c->file, f);
}

static void release(struct analysis *a)
{
	struct convert *c = a->config;

	progress_end(&c->progress);
	if (c->format->release)
		c->format->release(c);
	artifact_abandon(&c->file);
}

/* The process exits at once. */
static void abandon(struct analysis *a)
{
	struct convert *c = a->config;

	if (c->file.temporary)
		outfile_unlink(c->file.temporary);
}

static const struct analysis_ops ops = {
	.name = "convert", .begin = begin, .sample = sample, .lost = lost, .end = end, .release = release,
	.abandon = abandon,
};

/* ---- the command ----------------------------------------------------------------------- */

static const char *list_formats(char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < FORMATS && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", formats[i]->name);
	return buf;
}

static int parse_format(const char *text, void *field, struct fault *f)
{
	struct nearest near;
	char names[256];

	nearest_begin(&near, text);
	for (size_t i = 0; i < FORMATS; i++) {
		if (!strcmp(formats[i]->name, text)) {
			*(const struct convert_format **)field = formats[i];
			return 0;
		}
		nearest_offer(&near, formats[i]->name);
	}
	if (nearest_get(&near))
		return fault_usage(f, "--to %s: there is no such format; did you mean %s?", text, nearest_get(&near));
	return fault_usage(f, "--to %s: there is no such format; expected one of %s", text, list_formats(names, sizeof(names)));
}

static bool ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len > n && !strcmp(text + len - n, end);
}

static const struct convert_format *format_of(const char *path)
{
	for (size_t i = 0; path && i < FORMATS; i++)
		for (const char *const *suffix = formats[i]->suffixes; *suffix; suffix++)
			if (ends_in(path, *suffix))
				return formats[i];
	return NULL;
}

static int check(struct convert *c, struct fault *f)
{
	char names[256];

	if (!c->format)
		c->format = format_of(c->out);
	if (!c->format && c->out && ends_in(c->out, ".parquet"))
		return fault_usage(f, "convert: -o %s: expected --to parquet, with -o FOLDER, --host NAME and --date DAY: Parquet is written as "
				   "a folder of files", c->out);
	if (!c->format && c->out && strrchr(c->out, '.') && !strchr(strrchr(c->out, '.'), '/'))
		return fault_usage(f, "convert: -o %s: no format has the suffix \"%.100s\": expected --to FORMAT; `perf-prof convert -h` "
				   "lists the formats and their suffixes", c->out, strrchr(c->out, '.'));
	if (!c->format)
		return fault_usage(f, "convert: no format: expected --to FORMAT, one of %s", list_formats(names, sizeof(names)));
	if (c->format->missing)
		return fault_usage(f, "--to %s: this perf-prof was built without %s (see perf-prof version "
				   "--build-options)", c->format->name, c->format->missing);
	if (c->format->run && c->no_idle)
		return fault_usage(f, "--to %s takes all events, so --no-idle has no effect; use a "
				   "filter: -e 'EVENT/_pid!=0/'", c->format->name);
	if (c->csv_safe && c->format != &convert_csv)
		return fault_usage(f, "--csv-safe is for --to csv: this is --to %s", c->format->name);
	if ((c->host || c->date || c->venv) && c->format != &convert_parquet)
		return fault_usage(f, "--host, --date and --venv are for --to parquet: this is --to %s", c->format->name);
	if (!c->out)
		c->out = "-";
	if (c->format->binary && !strcmp(c->out, "-") && isatty(STDOUT_FILENO))
		return fault_usage(f, "--to %s: this format is binary and stdout is a terminal: "
				   "name a file with -o FILE",
				   c->format->name);
	return 0;
}

/* FILE can follow -I or stand alone. */
static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct convert *c = config;
	struct opt_parser rest;

	if (analysis_take_input("convert", &c->common.stream, args, &rest, f))
		return -1;
	if (check(c, f))
		return f->exit_code;
	if (stream_is_input(&c->common.stream, c->out))
		return fault_usage(f, "convert: --output %s is the recording itself", c->out), f->exit_code;
	c->args = args;
	if (c->format->run)
		return c->format->run(c, f);
	c->common.stream.keeps_ids = !c->format->names_tasks;
	return analysis_run(&ops, config, &rest, f);
}

#define AT(member) offsetof(struct convert, member)

static const struct opt convert_opts[] = {
	{ "to", 0, NULL, OPT_CALL, AT(format), "FORMAT",
	  "Write folded, speedscope, pprof, firefox, perfetto, csv, jsonl or parquet. Default: the format of the "
		"suffix of OUT.",
	  false, parse_format },
	{ "output", 'o', NULL, OPT_OUTFILE, AT(out), "OUT",
	  "Write to OUT. Default: - (standard output).", false, NULL },
	{ "no-idle", 0, NULL, OPT_FLAG, AT(no_idle), NULL,
	  "Leave out samples of idle CPUs (task 0).", false, NULL },
	{ "csv-safe", 0, NULL, OPT_FLAG, AT(csv_safe), NULL,
	  "Write CSV for a spreadsheet: put an apostrophe before text that begins with =, +, - or @, so that it is "
	  "not taken for a formula. Numbers do not change.", false, NULL },
	{ "host", 0, NULL, OPT_STRING, AT(host), "NAME", "For parquet: the machine of the recording.", false, NULL },
	{ "date", 0, NULL, OPT_STRING, AT(date), "DAY", "For parquet: the day of the recording, such as 2026-01-31.", false, NULL },
	{ "venv", 0, NULL, OPT_STRING, AT(venv), "DIR",
	  "For parquet: use pyarrow of this virtual environment. Default: $VIRTUAL_ENV, which root ignores; a perf-prof that pip "
	  "installed uses its own environment.", false, NULL },
};

static void defaults(void *config)
{
	analysis_defaults(config);
	((struct convert *)config)->common.stream.needs_samples = true;
}

const struct command convert_command = {
	.name = "convert",
	.usual = "to output input event time pids",
	.summary = "convert a recording for pprof, Firefox Profiler, Perfetto, speedscope, ...",
	.usage = "--to FORMAT [options] [-I] [FILE] -o OUT",
	.description = COMMAND_TEXT(
		"Converts a recording from perf-prof record or perf record into the format of another program. "
		"The output contains the names of functions, so it can be opened on any machine. FILE is perf.data by "
		"default; - is standard input.",
		"folded: text, a line for each stack with its weight, for flame graphs. speedscope: the same "
		"for speedscope. Both contain one event: the one of -e, or the first that is not a tracepoint, "
		"weighted by its period (ns for a clock); on hybrid CPUs, of all core types together. If there "
		"are only tracepoints, each event counts 1. Stacks begin with the name of the task.",
		"pprof: a gzipped profile for pprof and tools that read its files. It contains all events, each "
		"with the number of samples and the sum of their periods (select one with -sample_index), "
		"functions, inlined calls, lines and build ids; pid, tid and comm of each sample are labels. "
		"Addresses are offsets in their file.",
		"firefox: the processed profile format of the Firefox Profiler, JSON. Samples of the event that "
		"folded would contain are on the timelines of the threads; other events are markers.",
		"perfetto: a trace for ui.perfetto.dev and trace_processor: scheduling (sched_switch, "
		"sched_waking, ...), interrupts and system calls as it draws them, samples with their "
		"stacks, and all other events with their fields as instants on the line of their thread.",
		"csv and jsonl: events as rows, as perf-prof script --csv and --json write them.",
		"parquet: OUT is the folder of a dataset, to which files are added: host=HOST/date=DAY/event=EVENT/*.parquet, with a column "
		"for each field and rows for lost events; call stacks, if there are any, are in OUT-stacks and OUT-frames. It needs pyarrow (pip install pyarrow), and runs with your rights: not with sudo.",
		"OUT is replaced only when the output is complete; if the recording, or the chosen part of it, has no sample, that is an "
		"error. Ctrl-C ends the run with exit code 130 and leaves an older file unchanged; what was already written to standard "
		"output stays. Events that the recording lost are reported."),
	OPT_GROUP_ROWS(
		{ "Conversion", convert_opts, sizeof(convert_opts) / sizeof(*convert_opts), 0 },
		{ "Recordings", stream_input_opts, STREAM_INPUT_NOPTS, 0 },
		{ "Targets", stream_target_opts, STREAM_TARGET_NOPTS, 0 },
		{ "Events", stream_event_opts, STREAM_EVENT_NOPTS, 0 },
		{ "Symbols", analysis_callchain_opts + STREAM_CALLCHAIN_NOPTS, ANALYSIS_NAMES_NOPTS, 0 },
		{ "Output", stream_output_opts + STREAM_OUTPUT_NOPTS - 2, 2, 0 }),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof convert --to pprof -o job.pb.gz", "convert ./perf.data for `go tool pprof -http=: job.pb.gz`" },
		{ "perf-prof convert --to firefox -I job.data -o job.json", "write a profile to open in profiler.firefox.com" },
		{ "perf-prof convert job.data -o job.pftrace", "write a trace to open in ui.perfetto.dev" },
		{ "perf-prof convert --to folded --time 100,101 job.data | grep compress",
		  "print the stacks of one second that contain a function" }),
	.mode = OPT_MODE_PLAIN,
	.config_size = sizeof(struct convert),
	.defaults = defaults,
	.sources_at = offsetof(struct convert, sources),
	.release = analysis_release,
	.run = run,
};
