/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof trace: prints events as they come; and the source trace. */
#include "analysis/commands.h"
#include "analysis/profiles/hotspots.h"
#include "base/note.h"
#include "engine/analysis.h"
#include "engine/overwrite.h"
#include "engine/tapped.h"
#include "events/parts.h"
#include "report/json.h"
#include "report/sampletext.h"
#include "stream/rings/ids.h"

#include <stdlib.h>
#include <string.h>

/* An event as a JSON object. */

enum { MAX_BYTES = 4096 };

static json_object *hex(const char *data, uint32_t len)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * MAX_BYTES];

	len = len < MAX_BYTES ? len : MAX_BYTES;
	for (uint32_t i = 0; i < len; i++) {
		text[2 * i] = digits[(unsigned char)data[i] >> 4];
		text[2 * i + 1] = digits[data[i] & 15];
	}
	return json_object_new_string_len(text, (int)(2 * len));
}

/* A field outside of the raw data is null. */
static json_object *field_value(const struct trace_field *f, const struct sample_view *s)
{
	const char *data;
	uint32_t len;

	switch (f->kind) {
	case FIELD_UINT:
		return json_object_new_uint64(trace_field_uint(f, s->raw));
	case FIELD_SINT:
		return json_object_new_int64(trace_field_sint(f, s->raw));
	case FIELD_STR:
	case FIELD_DYN_STR:
	case FIELD_REL_STR:
		return trace_field_data(f, s->raw, s->raw_size, &data, &len) ? NULL : json_text(data, len);
	default:
		return trace_field_data(f, s->raw, s->raw_size, &data, &len) ? NULL : hex(data, len);
	}
}

static json_object *tracepoint_fields(const struct sample_view *s)
{
	const struct tracefmt *fmt = s->event->fmt;
	json_object *fields = json_object_new_object();

	for (size_t i = fmt->ncommon; fields && i < fmt->nfields; i++)
		json_object_object_add(fields, fmt->fields[i].name, field_value(&fmt->fields[i], s));
	return fields;
}

/* The numbers of a sample at fixed offsets. */
static json_object *sample_fields(const struct sample_view *s)
{
	const struct layout *l = &s->event->layout;
	const struct {
		const char *name;
		uint8_t at;
	} parts[] = { { "ip", l->ip }, { "addr", l->addr } };
	json_object *fields = json_object_new_object();

	for (size_t i = 0; fields && i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].at)
			json_put_unsigned(fields, parts[i].name, layout_u64(s->rec, parts[i].at));
	if (fields && (l->period || s->event->each > 1))
		json_put_unsigned(fields, "period", event_period(s->event, s->rec));
	return fields;
}

static json_object *group_counts(const struct stream_counts *counts)
{
	json_object *all = json_object_new_object();

	for (size_t i = 0; all && i < counts->n; i++)
		json_put_unsigned(all, counts->v[i].name, counts->v[i].delta);
	return all;
}

/* Ids of the task; of one outside of the PID namespace only those that are known. */
static bool put_task(json_object *root, const struct sample_view *s)
{
	int32_t pid = (int32_t)layout_u32(s->rec, s->event->layout.tid);
	pid_t tid = stream_tid(s->event, s->rec, s->raw);

	return ((!pid && pidmap_is_outer(tid)) || json_put_integer(root, "pid", pid)) &&
	       (!pidmap_has_number(tid) || json_put_integer(root, "tid", pidmap_shown(tid)));
}

/* {"event", "time", "realtime", "comm", "pid", "tid", "cpu", "fields": {...}}: times in ns; fields
 * of the tracepoint, or the numbers in the sample. Bytes are hexadecimal. NULL: out of memory. */
static json_object *event_json(struct names *names, const struct sample_view *s, const char *comm)
{
	uint64_t time = sample_time(s);
	json_object *root = json_object_new_object();
	int64_t realtime = (int64_t)(time + (uint64_t)stream_realtime_offset(names->stream));

	if (root && json_put_text(root, "event", s->event->name) &&
	    json_put_unsigned(root, "time", stream_time(names->stream, time)) &&
	    (!stream_has_realtime(names->stream) || json_put_integer(root, "realtime", realtime)) && json_put_text(root, "comm", comm) &&
	    put_task(root, s) &&
	    json_put_integer(root, "cpu", (int32_t)s->cpu) &&
	    json_put(root, "fields", s->event->fmt ? tracepoint_fields(s) : sample_fields(s)) &&
	    (!s->counts || json_put(root, "counts", group_counts(s->counts))))
		return root;
	json_object_put(root);
	return NULL;
}

struct trace {
	struct analysis_opts common;
	struct flame_config flame;
	struct overwrite_opts overwrite_opts;
	struct overwrite overwrite;
	struct hotspots hot;         /* with --flame-graph: how often each stack occurred */
};

/* ---- samples ------------------------------------------------------------------------ */

static bool put_frame(json_object *stack, const struct frame *frame)
{
	json_object *root = json_object_new_object();

	return root && json_put_unsigned(root, "addr", frame->addr) &&
	       json_put_text(root, "symbol", frame->symbol) && json_put_unsigned(root, "offset", frame->offset) &&
	       json_put_text(root, "dso", frame->dso) && json_put_bool(root, "kernel", frame->kernel) &&
	       json_put_bool(root, "inlined", frame->inlined) && json_put_text(root, "file", frame->file) &&
	       (!frame->line || json_put_unsigned(root, "line", frame->line)) && json_append(stack, root);
}

static void print_json(struct analysis *a, const struct analysis_sample *s, const char *comm)
{
	json_object *root = event_json(&a->names, &s->view, comm);
	struct callstack *stack = analysis_stack(a, s);
	json_object *frames = stack ? json_object_new_array() : NULL;
	bool good = root;

	if (stack)
		callstacks_expand(a->stacks, stack);
	for (uint32_t i = 0; good && frames && i < stack->n; i++)
		good = put_frame(frames, stack->frames[i]);
	if (good && frames)
		good = json_put(root, "stack", frames);
	json_line(root, good, stdout);
	analysis_printed(a);
}

static void sample(struct analysis *a, const struct analysis_sample *s)
{
	struct trace *t = a->config;

	if (t->overwrite.history)
		overwrite_take(&t->overwrite, a, s);
	else if (t->flame.folded)
		hotspots_add(&t->hot, analysis_comm(a, s->tid), analysis_stack(a, s), 1, false);
	else if (t->common.json)
		print_json(a, s, analysis_comm(a, s->tid));
	else
		analysis_print(a, s);
}

/* ---- the flame graph ---------------------------------------------------------------- */

static void fold(struct analysis *a, uint64_t now)
{
	struct trace *t = a->config;
	size_t n;
	const struct stream_event *events = stream_events(a->stream, &n);

	if (!t->flame.folded)
		return;
	hotspots_draw(a, &t->hot, &t->flame, now, n == 1 ? events[0].name : NULL);
	hotspots_free(&t->hot);
	callstacks_rest(a->stacks, NULL, NULL);
}

static int end(struct analysis *a, struct fault *f)
{
	static const struct flame_title title = { "perf-prof trace", "events" };
	struct trace *t = a->config;

	if (t->overwrite.history)
		overwrite_end(&t->overwrite, a);
	fold(a, analysis_now(a));
	return analysis_draw(a, &t->flame, &title, f);
}

static uint64_t reads(struct analysis *a, const struct stream_event *event)
{
	const struct trace *t = a->config;

	return t->flame.path && !t->overwrite_opts.on ? (uint64_t)PERF_SAMPLE_CALLCHAIN : STREAM_READS_ALL;
}

static bool has_field(const struct tracefmt *fmt, const char *name)
{
	for (size_t i = 0; i < fmt->nfields; i++)
		if (!strcmp(fmt->fields[i].name, name))
			return true;
	return false;
}

/* The name of a path in the event of which the kernel samples the address only; NULL: there is none. */
static const char *path_by_address(const struct tracefmt *fmt)
{
	static const char *const names[] = { "filename", "pathname", "path", "oldname", "newname" };
	char text[32];

	if (strcmp(fmt->sys, "syscalls") || strncmp(fmt->name, "sys_enter_", strlen("sys_enter_")))
		return NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(text, sizeof(text), "__%s_val", names[i]);
		if (has_field(fmt, names[i]) && !has_field(fmt, text))
			return names[i];
	}
	return NULL;
}

static void tell_of_paths(const struct analysis *a, const struct stream_event *events, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *path = events[i].fmt ? path_by_address(events[i].fmt) : NULL;

		if (path) {
			note(a->opts->stream.verbose, "%s: this kernel samples only the address of %s, Linux 6.19 and later its text. A filter "
			     "can compare the text since Linux 5.19: -e '%s:%s/%s.ustring~\"*.conf\"/'; more in docs/which-process.md",
			     events[i].name, path, events[i].fmt->sys, events[i].fmt->name, path);
			return;
		}
	}
}

/* --flame-graph needs an event with call chains. */
static int begin(struct analysis *a, struct fault *f)
{
	struct trace *t = a->config;
	size_t n;
	struct stream_event *events = stream_events(a->stream, &n);
	bool chains = false;

	if (overwrite_begin(&t->overwrite, a, &t->overwrite_opts,
			    t->common.json ? print_json : analysis_print_as, f))
		return -1;
	if (!t->flame.path)
		tell_of_paths(a, events, n);
	if (!t->flame.path)
		return 0;
	if (t->overwrite.history)
		return fault_usage(f, "trace: --overwrite shows events, --flame-graph %s their stacks instead: give "
				   "one of them", t->flame.path);
	for (size_t i = 0; i < n; i++)
		chains |= events[i].callchain;
	if (!chains)
		return fault_usage(f, "trace: --flame-graph %s: no event has a call chain; add -g", t->flame.path);
	return flame_begin(&t->flame, a->opts->stream.verbose, f);
}

static void release(struct analysis *a)
{
	struct trace *t = a->config;

	hotspots_free(&t->hot);
	flame_free(&t->flame);
	overwrite_free(&t->overwrite);
}

static bool takes_signal(struct analysis *a)
{
	struct trace *t = a->config;

	if (t->overwrite.history)
		overwrite_ask(&t->overwrite, a);
	return t->overwrite.history;
}

static bool is_over(struct analysis *a)
{
	struct trace *t = a->config;

	return t->overwrite.history && overwrite_look(&t->overwrite, a);
}

static const struct analysis_ops ops = {
	.name = "trace", .instead = "for the system calls of a program, as `perf trace` prints them: -e syscalls",
	.reads = reads, .begin = begin, .sample = sample, .interval = fold, .end = end, .release = release,
	.takes_signal = takes_signal, .is_over = is_over,
	.chains_of_users = true,
	.attrs = STREAM_ATTR_STACK | STREAM_ATTR_TRIGGER,
};

/* ---- `trace -e EVENT help`: the fields of events ---------------------------------------- */

/* As a C declaration: "char comm[16]". */
static void print_field(const struct trace_field *field)
{
	const char *bracket = strchr(field->type, '[');
	int len = bracket ? (int)(bracket - field->type) : (int)strlen(field->type);

	printf("    %.*s %s%s;  offset %u, size %u\n", len, field->type, field->name,
	       bracket ? bracket : "", field->offset, field->size);
}

static void print_tracepoint(const struct tracefmt *fmt)
{
	for (size_t i = 0; i < fmt->nfields; i++) {
		if (i == fmt->ncommon && i)
			putchar('\n');
		print_field(&fmt->fields[i]);
	}
}

static void print_sample(const struct stream_event *event)
{
	static const char *const kinds[] = {
		[PART_INT] = "int", [PART_LIST] = "list", [PART_DICT] = "dict", [PART_BYTES] = "bytes",
	};

	for (size_t i = 0; sample_part_at(i); i++)
		if (sample_part_at(i)->bits & event->layout.sample_type)
			printf("    %s %s\n", kinds[sample_part_at(i)->kind], sample_part_at(i)->name);
}

static int print_all(const struct stream_opts *opts, struct fault *f)
{
	struct stream_opts all = *opts;
	struct stream *s;
	struct stream_event *events;
	size_t n;

	all.attrs = ~(unsigned int)STREAM_ATTR_NOBODY;   /* attributes are accepted, but not used */
	s = stream_new(&all, f);
	if (!s)
		return -1;
	events = stream_events(s, &n);
	for (size_t i = 0; i < n; i++) {
		printf("%s%s\n", i ? "\n" : "", events[i].name);
		if (events[i].fmt)
			print_tracepoint(events[i].fmt);
		else
			print_sample(&events[i]);
	}
	stream_free(s);
	return 0;
}

static int print_fields(struct stream_opts *opts, const struct opt_parser *args, struct fault *f)
{
	struct reading reading = { 0 };
	int rc = analysis_open_input(opts, &reading, args, f) || print_all(opts, f) ? -1 : 0;

	reading_end(&reading);
	return rc;
}

/* ---- the command -------------------------------------------------------------------- */

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	if (args->noperands == 1 && !strcmp(args->operands[0], "help") && args->after_dashes < 0)
		return print_fields(config, args, f);
	if (overwrite_prepare(&((struct trace *)config)->overwrite_opts, config, f) ||
	    flame_open_before(&((struct trace *)config)->flame, f))
		return -1;
	return analysis_run(&ops, config, args, f);
}

const struct command trace_command = {
	.name = "trace",
	.usual = "event pids all-cpus exit-N call-graph order input overwrite record",
	.summary = "print events as they happen",
	.usage = "-e EVENT[,EVENT...] [options] [help | [--] COMMAND [ARGUMENT...]]",
	.description = COMMAND_TEXT(
		"What happens, and in which order? Prints each event as it happens: local time, task, thread, "
		"flags (interrupts off, reschedule needed, in an interrupt, preemption depth), CPU, timestamp, "
		"event and its fields; with -g, the call chain follows, kernel and user.",
		"`perf-prof trace -e EVENT help` prints the fields of each event instead, with type and size.",
		"--flame-graph draws the stacks of all events, and prints no events.",
		"With --overwrite, nothing is printed until a trigger comes: SIGUSR2, or an event with the "
		"attribute trigger (its filter, or the --than of a source, sets the condition). Then the "
		"trigger and the events before it are printed in order of time, below a line that names the "
		"trigger, the number of events, and how many older ones --last left out or newer ones had "
		"overwritten. Each event is printed only once. Functions of processes that ended more than "
		"10 s before have no names.",
		"A command after -- starts once all events are enabled; it is the target unless you name "
		"another, and perf-prof exits with its exit status."),
	OPT_GROUP_ROWS(
		ANALYSIS_EVENT_GROUPS,
		ANALYSIS_RUN_GROUPS, ANALYSIS_CHAIN_GROUP,
		{ "Flight recorder", overwrite_opts_rows, OVERWRITE_NOPTS, offsetof(struct trace, overwrite_opts) },
		{ "Pictures", flame_opts, FLAME_OPTS, offsetof(struct trace, flame) },
		ANALYSIS_OUTPUT_GROUPS),
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof trace -e sched:sched_process_exec -N 10", "print the next ten programs that start" },
		{ "perf-prof trace -e 'sched:sched_switch/prev_state==2/' -g --order",
		  "print which tasks block uninterruptibly, and where" },
		{ "perf-prof trace -e sched:sched_process_exec,sched:sched_process_exit --order -- make",
		  "print the programs that a command starts, and when they end" },
		{ "perf-prof trace -e kmem:kmalloc -g --flame-graph kmalloc.svg -- ./program",
		  "draw which code allocates kernel memory" },
		{ "perf-prof trace -e sched:sched_switch help", "print the fields of sched_switch" },
		{ "perf-prof trace -e 'sched:*,rundelay/--than 20ms/trigger/' --overwrite --last 0.1",
		  "print what the scheduler did in the 100 ms before a thread had waited 20 ms for a CPU" },
		{ "perf-prof trace -e 'syscalls:sys_enter_*' -p 1234 --overwrite --last 5 -N 1",
		  "print the system calls of the last 5 seconds at SIGUSR2" }),
	.mode = OPT_MODE_COMMAND,
	ANALYSIS_CONFIG(struct trace, analysis_defaults),
	.run = run,
};

/* ---- the source: a tracepoint's events, as the text that trace prints for them ------------ */

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

static int begin_lines(void *state, struct maker *m, struct fault *f)
{
	((struct trace_source *)state)->formats = maker_formats(m);
	return 0;
}

static void make_line(void *state, struct maker *m, const struct stream_event *event,
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

static void free_lines(void *state)
{
	tapped_free(&((struct trace_source *)state)->of);
}

static const struct maker_ops line_ops = { .begin = begin_lines, .sample = make_line, .free = free_lines };

static int events(struct source *source, void *config, struct fault *f)
{
	struct trace_source *src = config;
	struct source_made made = {
		.fields = fields, .nfields = sizeof(fields) / sizeof(*fields),
		.print = "\"%s: %s\", REC->event, REC->text",
		.size = sizeof(struct made_line), .ops = &line_ops, .state = src,
	};
	struct maker *m;

	m = source_make(source, &made, f);
	return !m || tapped_set(&src->of, "trace", "--of", src->event, "trace/--of sched:sched_wakeup/", f) ||
	       source_watch(m, src->of.sys, src->of.name, false, f) ? -1 : 0;
}

static const struct opt line_opts[] = {
	{ "of", 0, NULL, OPT_STRING, offsetof(struct trace_source, event), "EVENT", "Print the events of this tracepoint.",
	  false, NULL },
};

const struct source_ops trace_source = {
	.name = "trace",
	.summary = "a tracepoint's events as text, as trace prints them",
	.makes = true,
	OPT_GROUP_ROWS(
		{ "Events", line_opts, sizeof(line_opts) / sizeof(*line_opts), 0 },
		{ "Source", stream_source_opts, STREAM_SOURCE_NOPTS, 0 }),
	.config_size = sizeof(struct trace_source),
	.events = events,
};
