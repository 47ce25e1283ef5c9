/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/analysis.h"

#include "base/cpulist.h"
#include "base/descriptors.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/note.h"
#include "base/output.h"
#include "base/room.h"
#include "base/units.h"
#include "engine/frameline.h"
#include "engine/samplestack.h"
#include "report/json.h"
#include "report/table.h"
#include "stream/asked/rate.h"
#include "stream/replay/replay.h"
#include "stream/summary.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define AT(member) offsetof(struct analysis_opts, member)

const struct opt analysis_json_opts[] = {
	ANALYSIS_JSON_OPT, ANALYSIS_TEXT_OPT, ANALYSIS_FULL_OPT, ANALYSIS_WIDTH_OPT,
};

/* Symbol tables take at most half of --cache, and stacks the rest: with all else, perf-prof has about 64 MiB. A recording has as many programs as it likes, and to read
 * their tables again and again takes longer than all else. */
enum { DEFAULT_CACHE = 32 << 20, RECORDING_CACHE = 1 << 30, LEAST_CACHE = 1 << 20, SYMBOLS_SHARE = 2 };

const struct opt analysis_callchain_opts[] = {
	{ "call-graph", 'g', NULL, OPT_CHOICE, AT(stream), "auto|fp|dwarf[,SIZE]",
	  "-g samples call chains, the kernel's and the user's part. For the user's part, fp uses frame pointers; dwarf uses "
	  "unwind tables, with registers and SIZE bytes of stack (default: 8192) in each sample; auto (default) "
	  "uses fp if the watched programs have frame pointers, else dwarf.", false, stream_parse_call_graph },
	{ "user-callchain", 0, NULL, OPT_TRI, AT(stream.user_callchain), NULL,
	  "Sample the user part of call chains (default with -g; --no-user-callchain turns it off).", true, NULL },
	{ "kernel-callchain", 0, NULL, OPT_TRI, AT(stream.kernel_callchain), NULL,
	  "Sample the kernel part of call chains (default with -g; --no-kernel-callchain turns it "
	  "off).", true, NULL },
	{ "inline", 0, NULL, OPT_TRI, AT(inlines), NULL,
	  "Show inlined functions and source lines, if the program or its debug file has them (default; "
	  "--no-inline turns it off).", true, NULL },
	{ "debuginfod", 0, NULL, OPT_STRING, AT(debuginfod), "URLS",
	  "Fetch missing debug files from these servers (written as in DEBUGINFOD_URLS). Default: no "
	  "downloads.", false, NULL },
	{ "cache", 0, NULL, OPT_SIZE, AT(cache), "SIZE",
	  "Keep at most SIZE of symbols and stacks from one interval (-i) to the next; the least recently used are "
	  "dropped, and read again when needed. Default: 32M; for a recording, 1G.", .least = LEAST_CACHE,
	  .expected = "a size with a unit, from 1M, such as 64M" },
};

const struct opt analysis_all_opts[] = {
	{ "all-cpus", 'a', NULL, OPT_FLAG, AT(everybody), NULL,
	  "Watch the whole machine, even with a command. This is the default without a command.", false, NULL },
};

void analysis_defaults(void *config)
{
	struct analysis_opts *o = config;

	stream_opts_defaults(&o->stream);
}

void analysis_release(void *config)
{
	struct analysis_opts *o = config;

	stream_opts_free(&o->stream);
	opt_strings_free(&o->comms);
	opt_strings_free(&o->dsos);
	opt_strings_free(&o->annotate);
	free(o->below.v);
	free(o->without.v);
}

/* ---- events ------------------------------------------------------------------------ */

int analysis_add_event(struct analysis *a, struct fault *f, const char *fmt, ...)
{
	struct opt_strings *events = &a->opts->stream.events;
	char *text = NULL;
	va_list ap;
	int n;

	if (!ROOM_FOR_ONE(a->added, a->nadded))
		return fault_set(f, EXIT_FAILED, "out of memory");
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return fault_set(f, EXIT_FAILED, "out of memory");
	a->added[a->nadded++] = text;
	return opt_strings_add(events, text, f);
}

struct stream_event *analysis_event(struct analysis *a, const char *sys, const char *tracepoint)
{
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].sys && !strcmp(events[i].sys, sys) &&
		    !strcmp(events[i].tracepoint, tracepoint))
			return &events[i];
	return NULL;
}

int analysis_lacks(const struct analysis *a, const char *sys, const char *tracepoint, struct fault *f)
{
	const struct stream_opts *o = &a->opts->stream;
	const bool is_cut = o->input && replay_is_unfinished(stream_replay(a->stream));
	const char *quote;
	char list[1024];
	size_t n = 0;

	if (!o->input || o->events.n)
		return fault_usage(f, "%s: needs %s:%s, which -e does not list: add it, or leave "
				   "-e out",
				   a->ops->name, sys, tracepoint);
	for (size_t i = 0; i < a->nadded && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? "," : "", a->added[i]);
	quote = strpbrk(list, "&|<>(*") ? "'" : "";   /* for a shell */
	/* without -a, the tasks that wake the targets or run in their place are not recorded */
	return fault_usage(f, "%s: needs %s:%s, which %s lacks%s; record with %s%s-e %s%s%s", a->ops->name, sys, tracepoint,
			   o->input, is_cut ? ": its recorder was killed, and the names of its tracepoints are missing" : "", strstr(list, "sched:") ? "-a " : "", o->call_graph ? "-g " : "", quote, list, quote);
}

int analysis_has_everybody(const struct stream *s, const char *name, const struct stream_event *event, struct fault *f)
{
	const char *whom = strcmp(event->sys, "sched") ? NULL : replay_is_of_command(s, event) ? "a command" :
			   replay_is_of_tasks(s, event) ? "some tasks (-p or -t)" : NULL;

	return !whom ? 0 : fault_set(f, EXIT_FAILED, "%s: %s:%s was recorded only for %s: the scheduler's events of other tasks, "
				     "which wake these tasks and run in their place, are missing; record with -a", name, event->sys,
				     event->tracepoint, whom);
}

const struct trace_field *analysis_field(const struct stream_event *event, const char *name,
					 bool text, struct fault *f)
{
	for (size_t i = 0; event->fmt && i < event->fmt->nfields; i++) {
		const struct trace_field *field = &event->fmt->fields[i];
		bool is_number = field->kind == FIELD_UINT || field->kind == FIELD_SINT;

		if (!strcmp(field->name, name) && is_number != text)
			return field;
	}
	fault_set(f, EXIT_FAILED, "%s has no %s \"%s\" on this kernel; `perf-prof trace -e %s help` lists "
		  "its fields", event->name, text ? "text" : "number", name, event->name);
	return NULL;
}

static int name_events(struct analysis *a, struct fault *f)
{
	struct stream_opts *o = &a->opts->stream;

	if (a->ops->chains_of_users && o->call_graph && !o->user_callchain)
		o->user_callchain = 1;
	if (a->ops->chains_of_users && !o->chains.said && !o->input)
		o->chains.stack_bytes = CHAINS_AUTO;
	o->without_events = a->ops->ready != NULL;
	if (o->events.n || o->without_events || (o->input && !a->ops->events))
		return o->events.n && a->ops->add ? a->ops->add(a, f) : 0;
	if (!a->ops->events)
		return fault_usage(f, "%s: no event: expected -e EVENT[,EVENT...]; `perf-prof list` shows the events%s%s", a->ops->name,
				   a->ops->instead ? "; " : "", a->ops->instead ? a->ops->instead : "");
	o->events_by_command = true;
	if (a->ops->events(a, f))
		return -1;
	if (o->input)
		o->events.n = 0;   /* all events of the recording; begin() looks some up */
	return 0;
}

/* The recording if none is named. */
static const char default_input[] = "perf.data";

int analysis_take_input(const char *command, struct stream_opts *o, const struct opt_parser *args, struct opt_parser *rest,
			struct fault *f)
{
	if (args->noperands > 1 || (args->noperands && o->input))
		return fault_usage(f, "%s: expected one recording, but \"%s\" is another; -o FILE names an output", command,
				   args->operands[args->noperands - 1]);
	if (args->noperands)
		o->input = args->operands[0];
	if (!o->input)
		o->input = default_input;
	*rest = *args;
	rest->noperands = 0;
	return 0;
}

int analysis_open_input(struct stream_opts *o, struct reading *reading, const struct opt_parser *args, struct fault *f)
{
	const bool by_default = o->input == default_input;

	if (!o->input)
		return 0;
	if (stream_open_input(o, f))
		return !by_default || f->error != ENOENT ? -1 :
		       fault_set(f, EXIT_FAILED, "cannot read %s: %s; `perf-prof record -- COMMAND` records it, and -I FILE reads another "
				 "recording", default_input, strerror(ENOENT));
	if (o->opener != &opener_direct)
		return 0;   /* the command has opened its recordings itself */
	if (reading_begin(reading, &(struct reading_files){ &o->input_fd, 1, args->outputs }, f))
		return -1;
	o->opener = reading_opener(reading);
	return 0;
}

static int open_input(struct analysis *a, const struct opt_parser *args, struct fault *f)
{
	struct stream_opts *o = &a->opts->stream;

	if (o->time.from + o->time.to && !o->input)
		return fault_usage(f, "--time is for recordings: add --input FILE");
	if (o->input && a->command)
		return fault_usage(f, "--input FILE reads a recording and runs no command: leave "
				   "one of them out");
	return analysis_open_input(o, &a->reading, args, f);
}

/* ---- parts of a sample ------------------------------------------------------------- */

const char *analysis_cgroup(struct analysis *a, const struct analysis_sample *s)
{
	uint64_t id = 0;

	layout_cgroup(&s->event->layout, s->view.rec, &id);
	return names_cgroup(&a->names, id);
}

const char *analysis_comm(struct analysis *a, pid_t tid)
{
	return names_comm(&a->names, tid);
}

struct callstack *analysis_stack(struct analysis *a, const struct analysis_sample *s)
{
	return sample_chain(&a->names, a->stacks, s->event, s->view.rec);
}

struct callstack *analysis_where(struct analysis *a, const struct analysis_sample *s)
{
	uint64_t one[2] = { chain_marker(chain_place_of(s->view.rec->misc)) };

	if (s->event->layout.callchain)
		return sample_stack(&a->names, a->stacks, s->event, s->view.rec);
	if (!s->event->layout.ip)
		return NULL;
	one[1] = layout_u64(s->view.rec, s->event->layout.ip);
	return callstacks_get(a->stacks, one, 2, s->pid, s->time);
}

/* The event's own count in its samples; NULL: they have none. */
static const struct stream_count *own_count(const struct stream_event *event)
{
	const struct stream_counts *c = event->counts;

	for (size_t i = 0; c && i < c->n; i++)
		if (c->v[i].event == event)
			return &c->v[i];
	return NULL;
}

uint64_t analysis_weight(const struct analysis_sample *s)
{
	const struct perf_event_attr *attr = s->event->sampling ? &s->event->sampling->attr.attr : NULL;
	const struct stream_count *count = attr ? own_count(s->event) : NULL;

	if (!attr)
		return 1;
	if (count)
		return count->delta;
	return event_period(s->event, s->view.rec);
}

uint64_t analysis_weight_part(const struct stream_event *event)
{
	const struct perf_event_attr *attr = event->sampling ? &event->sampling->attr.attr : NULL;

	return attr && (attr->freq || attr->sample_period != 1) ? PERF_SAMPLE_PERIOD : 0;
}

char *analysis_sampled(const struct stream_event *event, const char *what, char *buf, size_t size)
{
	const struct stream_sampling *s = event->sampling;
	const struct perf_event_attr *attr = s ? &s->attr.attr : NULL;

	if (!s)
		snprintf(buf, size, "%s", event->name);
	else if (attr->freq)
		snprintf(buf, size, "%s, %llu Hz", what, (unsigned long long)attr->sample_freq);
	else if (attr->sample_period > 1)
		snprintf(buf, size, "%s every %llu", what, (unsigned long long)attr->sample_period);
	else
		snprintf(buf, size, "%s", what);
	return buf;
}

bool analysis_is_clock(const struct stream_event *event)
{
	const struct perf_event_attr *attr = event->sampling ? &event->sampling->attr.attr : NULL;

	return attr && rate_is_clock(attr);
}

struct terminal analysis_terminal(const struct analysis_opts *o)
{
	struct terminal terminal = terminal_of(stdout);

	if (o->full || o->width)
		terminal.columns = o->full ? 0 : (unsigned int)o->width;
	return terminal;
}

void analysis_print(struct analysis *a, const struct analysis_sample *s)
{
	analysis_print_as(a, s, analysis_comm(a, s->tid));
}

/* A watched command often writes to the same pipe: its lines must not come in the middle of ours, so what is printed
 * goes out before stdio's buffer (main.c) is full. */
/* An output error, or a pipe that its reader has closed, ends the run. */
static void flush(struct analysis *a)
{
	a->output_error = output_flush(stdout);
	if (a->output_error)
		stream_stop(a->stream);
}

void analysis_printed(struct analysis *a)
{
	enum { MUCH = 2 << 10 };        /* with an event, below PIPE_BUF: other writers do not come in between */

	if (__fpending(stdout) >= MUCH && !a->output_error)
		flush(a);
}

void analysis_print_as(struct analysis *a, const struct analysis_sample *s, const char *comm)
{
	size_t len;
	const char *text = eventline_text(a->line, &s->view, comm, true, &len);

	if (text)
		fwrite(text, 1, len, stdout);
	analysis_print_stack(a, analysis_stack(a, s));
	analysis_printed(a);
}

void analysis_print_stack(struct analysis *a, struct callstack *stack)
{
	const size_t columns = stack ? analysis_terminal(a->opts).columns : 0;

	if (stack)
		callstacks_expand(a->stacks, stack);
	for (uint32_t i = 0; stack && i < stack->n; i++)
		frameline_print(stack->frames[i], columns, stdout);
}

char *analysis_time_text(struct analysis *a, uint64_t time, char *buf, size_t size)
{
	int64_t ns = (int64_t)(time + (uint64_t)stream_realtime_offset(a->stream));
	time_t second = (time_t)(ns / 1000000000);
	struct tm tm;
	size_t n;

	if (!stream_has_realtime(a->stream)) {
		snprintf(buf, size, "%llu.%06u", (unsigned long long)(time / 1000000000),
			 (unsigned int)(time % 1000000000 / 1000));
		return buf;
	}
	localtime_r(&second, &tm);
	n = strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(buf + n, size - n, ".%06d", (int)(ns % 1000000000 / 1000));
	return buf;
}

uint64_t analysis_hash(const char *text)
{
	return hash_text(text) | UINT64_C(1) << 63;
}

uint64_t analysis_now(struct analysis *a)
{
	const struct replay *replay = stream_replay(a->stream);

	if (stream_reached(a->stream))
		return stream_reached(a->stream);
	if (!replay)
		return stream_now(a->stream);
	/* without a last sample: when the recording began */
	return replay_info(replay)->last_ns ? replay_info(replay)->last_ns : replay_info(replay)->clock_ns;
}

uint64_t analysis_end(struct analysis *a, uint64_t last)
{
	return a->opts->stream.interval_ms || !last ? analysis_now(a) : last;
}

int analysis_may_draw(const struct analysis *a, const char *path, struct fault *f)
{
	const struct replay *replay = stream_replay(a->stream);
	uint64_t at, size;

	/* Ctrl-C also ends the writer of a pipe: then the recording is complete */
	if (!path || !replay || !replay_place(replay, &at, &size) || !stream_was_interrupted(a->stream))
		return 0;
	return fault_set(f, EXIT_INTERRUPTED, "interrupted: the picture %s was not written", path);
}

int analysis_draw(const struct analysis *a, struct flame_config *flame, const struct flame_title *title, struct fault *f)
{
	if (!flame->folded)
		return 0;
	return analysis_may_draw(a, flame->path, f) ? -1 : flame_write(flame, flame->folded, title, f);
}

void analysis_name_interval(struct analysis *a, struct folded *folded, uint64_t now)
{
	char when[64];

	if (a->opts->stream.interval_ms)
		folded_interval(folded, analysis_time_text(a, now, when, sizeof(when)));
}

/* ---- stream_ops -------------------------------------------------------------------- */

static void on_sample(void *ctx, const struct stream_event *event,
		      const struct perf_event_header *rec, const void *raw, uint32_t raw_size,
		      uint32_t cpu)
{
	struct analysis *a = ctx;
	const struct analysis_sample s = analysis_sample_of(event, rec, raw, raw_size, cpu);

	a->ops->sample(a, &s);
}

static void put_throttled(json_object *list, const struct stream_throttled *t)
{
	json_object *one = json_object_new_object();

	json_object_object_add(one, "event", json_object_new_string(t->event->name));
	json_object_object_add(one, "cpu", json_object_new_int(t->cpu));
	json_object_object_add(one, "times", json_object_new_uint64(t->times));
	json_object_object_add(one, "time", json_object_new_uint64(t->ns));
	json_object_object_add(one, "observed", json_object_new_uint64(t->observed));
	json_object_object_add(one, "at_most", json_object_new_boolean(t->at_most));
	json_object_array_add(list, one);
}

void analysis_put_losses(struct analysis *a, struct table *t)
{
	struct stream_throttled throttled;
	struct stream_totals totals;
	json_object *list;

	stream_totals(a->stream, &totals);
	table_extra(t, "lost", json_object_new_uint64(totals.lost));
	if (!totals.throttled)
		return;
	list = json_object_new_array();
	for (size_t i = 0; stream_throttled(a->stream, i, &throttled); i++)
		put_throttled(list, &throttled);
	table_extra(t, "throttled", list);
}

int analysis_put_table_of(const struct analysis_opts *o, struct table *t, const struct table_style *style)
{
	return o->json ? table_json(t, o->with_text ? style : NULL, stdout) : table_print(t, style, stdout);
}

void analysis_put_table(const struct analysis *a, struct table *t, const struct table_style *style)
{
	if (analysis_put_table_of(a->opts, t, style) == -ENOMEM)
		fprintf(stderr, "perf-prof: %s: out of memory for the table\n", t->name);
}

static void on_lost(void *ctx, const struct stream_loss *loss)
{
	struct analysis *a = ctx;

	if (a->ops->lost)
		a->ops->lost(a, loss);
}

static void on_idle(void *ctx)
{
	struct analysis *a = ctx;
	struct pollfd p = { .fd = STDOUT_FILENO };

	if (a->output_error)
		return;
	if (a->ops->is_over && a->ops->is_over(a))
		stream_finish(a->stream);
	if (a->ops->idle)
		a->ops->idle(a);
	flush(a);
	if (!a->output_error && poll(&p, 1, 0) == 1 && p.revents & POLLERR) {
		a->output_error = EPIPE;
		stream_stop(a->stream);
	}
}

static void on_interval(void *ctx)
{
	struct analysis *a = ctx;

	if (a->ops->interval)
		a->ops->interval(a, analysis_now(a));
	on_idle(a);
}

static void on_task(void *ctx, const struct pev_record *rec)
{
	struct analysis *a = ctx;

	names_take(&a->names, rec);
	if (a->ops->task)
		a->ops->task(a, rec);
}

static void on_print_stat(void *ctx)
{
	struct analysis *a = ctx;
	struct stream_totals t;

	if (a->ops->takes_signal && a->ops->takes_signal(a))
		return;
	stream_totals(a->stream, &t);
	fprintf(stderr, "%s: events %llu lost %llu malformed %llu ring KiB %llu\n", a->ops->name, (unsigned long long)t.delivered,
		(unsigned long long)t.lost, (unsigned long long)t.malformed, (unsigned long long)t.ring_bytes >> 10);
	if (a->ops->print_stat)
		a->ops->print_stat(a);
	on_idle(a);
}

static int on_started(void *ctx, struct fault *f)
{
	struct analysis *a = ctx;

	if (a->ops->started)
		a->ops->started(a);
	return job_start(&a->job, f);
}

static void on_ready(void *ctx)
{
	struct analysis *a = ctx;

	a->ops->ready(a);
}

static void on_abandon(void *ctx)
{
	struct analysis *a = ctx;

	if (a->ops->abandon)
		a->ops->abandon(a);
}

static const struct stream_ops stream_callbacks = {
	.started = on_started, .sample = on_sample, .lost = on_lost, .interval = on_interval,
	.task = on_task, .print_stat = on_print_stat, .idle = on_idle, .ready = on_ready,
	.abandon = on_abandon,
};

/* ---- the run ----------------------------------------------------------------------- */

enum { OWN_FILES = 32 };

/* Warns that the command's output would be mixed with JSON. */
static void tell_of_mixture(const struct analysis *a)
{
	const struct stream_opts *o = &a->opts->stream;

	if (a->opts->json && a->command && !o->output.path && !isatty(STDOUT_FILENO))
		note(o->verbose, "the command and --json write to the same stdout; -o FILE separates "
		     "them");
}

/* All events are wanted; of live ones, the parts that the command reads. */
static int choose_parts(struct analysis *a, struct fault *f)
{
	bool narrow = a->ops->reads && !stream_replay(a->stream);
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++)
		events[i].wanted = true;
	for (size_t i = 0; i < n && narrow; i++)
		events[i].reads = a->ops->reads(a, &events[i]);
	return narrow ? stream_narrow(a->stream, f) : 0;
}

static size_t cache_of(const struct analysis_opts *o)
{
	return o->cache ? o->cache : o->stream.input ? RECORDING_CACHE : DEFAULT_CACHE;
}

static int open_all(struct analysis *a, struct fault *f)
{
	int verbose = a->opts->stream.verbose;

	if (choose_parts(a, f))
		return -1;
	if (!a->opts->stream.pids.n) {   /* switches_take_targets() may have removed it */
		a->job.is_among_all |= a->job.is_target;
		a->job.is_target = false;
	}
	job_attach(&a->job, a->stream);
	if (names_begin(&a->names, a->stream, a->opts->stream.opener, f))
		return -1;
	a->names.code = a->opts->annotate.n;
	a->names.kept = a->opts->stream.kernel;
	a->names.debuginfod = a->opts->debuginfod;
	a->names.max_symbols = cache_of(a->opts) / SYMBOLS_SHARE;
	a->stacks = callstacks_new(&a->names, a->opts->inlines >= 0,
				   cache_of(a->opts) - cache_of(a->opts) / SYMBOLS_SHARE);
	a->line = eventline_new(&a->names);
	if (a->stacks && a->opts->below.n)
		callstacks_begin_below(a->stacks, &a->opts->below);
	if (a->stacks && a->opts->merges_python)
		callstacks_merge_python(a->stacks);
	if (!a->stacks || !a->line)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (a->ops->begin && a->ops->begin(a, f))
		return -1;
	return names_open(&a->names, verbose, f) || stream_open(a->stream, f) ||
	       names_watch(&a->names, verbose, f) ? -1 : 0;
}

enum { FEW_CHAINS = 10, CHAINS_PART = 3 };

/* How the user part of chains is found. CHAINS_NONE: not at all, or some samples have only an address. */
enum chains_by { CHAINS_NONE, CHAINS_BY_FP, CHAINS_BY_DWARF };

static enum chains_by chains_by(struct analysis *a)
{
	enum chains_by by = CHAINS_NONE;
	size_t n;
	const struct stream_event *events = stream_events(a->stream, &n);

	for (size_t i = 0; i < n; i++) {
		if (!events[i].layout.callchain && events[i].layout.ip)
			return CHAINS_NONE;
		if (events[i].opened.stack_format && !events[i].asked.chain_mended)
			by = CHAINS_BY_DWARF;
		else if (events[i].layout.callchain && events[i].asked.chain_user && by == CHAINS_NONE)
			by = CHAINS_BY_FP;
	}
	return by;
}

/* Without frame pointers, a chain ends early, or goes on at a wrong address. */
static void tell_chains(struct analysis *a)
{
	const struct stream_opts *o = &a->opts->stream;
	uint64_t all, cut = callstacks_cut(a->stacks, &all);
	enum chains_by by = cut < FEW_CHAINS || cut <= all / CHAINS_PART ? CHAINS_NONE : chains_by(a);

	if (by == CHAINS_BY_FP)
		note(o->verbose, "%llu of %llu user call chains end after one frame, or where nothing is mapped: %s--call-graph "
		     "dwarf finds callers in programs without frame pointers", (unsigned long long)cut,
		     (unsigned long long)all, o->input ? "recording with " : "");
	if (by == CHAINS_BY_DWARF && !names_tells_cut(&a->names))
		note(o->verbose, "%llu of %llu user call chains end after one frame, or where nothing is mapped: code that was "
		     "generated at run time needs frame pointers (java -XX:+PreserveFramePointer), other code unwind "
		     "tables (.eh_frame)", (unsigned long long)cut, (unsigned long long)all);
}

static void tell(struct analysis *a)
{
	uint64_t refused = callstacks_refused(a->stacks);

	tell_chains(a);
	if (a->job.is_among_all && a->opts->stream.record && !stream_recording_failed(a->stream))
		note(a->opts->stream.verbose, "%s has the events of all tasks: -I %s -p %d shows what this command did",
		     a->opts->stream.record, a->opts->stream.record, (int)a->job.workload.pid);
	if (callstacks_lack_below(a->stacks))
		note(a->opts->stream.verbose < 0 ? -1 : 1, "--below %s: no stack has %s, so stacks are whole", a->opts->below.v[0],
		     a->opts->below.n > 1 ? "any of these functions" : "that function");
	names_tell(&a->names, a->opts->stream.verbose);
	if (refused)
		fprintf(stderr, "perf-prof: left out %llu stacks: there are too many different "
			"stacks\n", (unsigned long long)refused);
	summary_tell(a->stream);
	if (!a->said_why_empty)
		summary_tell_empty(a->stream);
}

static int watch(struct analysis *a, struct fault *f)
{
	struct fault second = { 0 };
	bool nothing;
	int rc;

	a->opts->stream.output.results_alone |= a->opts->json;
	if (stream_start_output(&a->opts->stream, f) || open_all(a, f))
		return -1;
	job_end_with(&a->job, a->stream);
	rc = stream_run(a->stream, &stream_callbacks, a, f);
	names_finish(&a->names);
	callstacks_name_late(a->stacks);
	nothing = summary_check(a->stream, rc ? &second : f);
	/* shows results of a damaged recording, too, and of what could not be recorded */
	if (!nothing && a->ops->end && (!rc || stream_replay(a->stream) || stream_recording_failed(a->stream)))
		rc |= a->ops->end(a, rc ? &second : f);
	on_idle(a);
	tell(a);
	if (!rc && (nothing || stream_check_whole(a->stream, f)))
		rc = -1;
	return rc;
}

static int broken_output(struct analysis *a, struct fault *f)
{
	const char *path = a->opts->stream.output.path;

	if (!a->output_error)
		return 0;
	if (!freopen("/dev/null", "w", stdout))   /* so that the rest is not written, and not reported, again */
		fclose(stdout);
	if (a->output_error == EPIPE)
		return 0;   /* the reader has closed the pipe: a normal end */
	return fault_set(f, EXIT_FAILED, "cannot write to %s: %s; the run has ended",
			 path ? path : "stdout", strerror(a->output_error));
}

static void finish(struct analysis *a)
{
	if (a->ops->release)
		a->ops->release(a);
	callstacks_free(a->stacks);
	eventline_free(a->line);
	names_end(&a->names);
	stream_free(a->stream);
	output_end(&a->opts->stream.output);
	job_abandon(&a->job);
	reading_end(&a->reading);
	for (size_t i = 0; i < a->nadded; i++)
		free(a->added[i]);
	free(a->added);
}

static int check_targets(const struct analysis *a, struct fault *f)
{
	return stream_check_everybody(a->ops->name, a->opts->everybody, &a->opts->stream, f);
}

static int check_text(const struct analysis *a, struct fault *f)
{
	if (a->opts->with_text && !a->opts->json)
		return fault_usage(f, "%s: --with-text adds the text to JSON: it needs --json", a->ops->name);
	return 0;
}

static int check_servers(const struct analysis *a, struct fault *f)
{
#ifdef STATIC_PROGRAM
	if (a->opts->debuginfod)
		return fault_usage(f, "--debuginfod %s: this program is one file and does not load libdebuginfod; install the .deb or the "
				   "wheel of perf-prof, or leave --debuginfod out", a->opts->debuginfod);
#endif
	return 0;
}

int analysis_run(const struct analysis_ops *ops, void *config, const struct opt_parser *args, struct fault *f)
{
	return analysis_run_of(ops, config, config, args, f);
}

int analysis_run_of(const struct analysis_ops *ops, void *config, struct analysis_opts *opts, const struct opt_parser *args,
		    struct fault *f)
{
	struct analysis a = {
		.ops = ops, .config = config, .opts = opts,
		.job = JOB_NONE,
		.command = args->noperands ? args->operands : NULL,
	};
	struct fault second = { 0 };
	int rc, code = 0;

	a.opts->stream.attrs = ops->attrs;
	a.opts->stream.takes_command = true;
	descriptors_reserve(OWN_FILES);
	rc = check_text(&a, f) || check_servers(&a, f) || stream_check_operand(&a.opts->stream, args, f) || check_targets(&a, f) ||
	     open_input(&a, args, f) || job_prepare(&a.job, a.command, a.opts->everybody, &a.opts->stream, f) || name_events(&a, f);
	if (!rc)
		tell_of_mixture(&a);
	if (!rc)
		a.stream = stream_new(&a.opts->stream, f);
	if (!rc && a.stream && !stream_check_chains(a.stream, f)) {
		rc = watch(&a, f);
		if (!broken_output(&a, rc ? &second : f) && !rc)
			code = job_collect(&a.job, a.stream);
	}
	finish(&a);
	job_tell(&a.job);
	return f->exit_code ? -1 : code;
}
