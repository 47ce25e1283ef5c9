/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace for Perfetto, written as samples come; only the things that packets refer to are kept.
 * Tracepoints of the scheduler and of interrupts become ftrace events, from which Perfetto draws
 * CPUs and thread states. Other events are instants with fields on the track of their thread.
 * Samples of the profile are perf samples. Times are recorded times, on the trace's own clock.
 */
#include "export/convert.h"

#include "base/escape.h"
#include "export/perfetto_private.h"
#include "stream/replay/replay.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CPUS = 8192, MAX_FIELDS = 64, TEXT = 256, NAME = 512 };

struct perfetto {
	struct protofile file;
	struct perfetto_stacks stacks;
	struct words comms, names, fields;   /* names of tasks; of events and fields, by number - 1 */
	struct numbers tracks;       /* by names_task() of pid and tid; UINT64_MAX for a process. A row is the last name: a number in `comms` */
	struct stream_event *events;
	size_t nevents;
	uint64_t *counted;           /* running count of the profile's event, by CPU; the last one is for unknown CPUs */
	bool lost;
};

/* ---- packets ---------------------------------------------------------------------------- */

static Perfetto__Protos__TracePacket packet_at(uint64_t time)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

	packet.has_timestamp = true;
	packet.timestamp = time;
	return packet;
}

/* ---- the first packets ------------------------------------------------------------------- */

/* The first packet: defaults for all others. */
static void put_defaults(struct perfetto *p, const struct convert *c)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__TracePacketDefaults defaults = PERFETTO__PROTOS__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__Protos__PerfSampleDefaults samples = PERFETTO__PROTOS__PERF_SAMPLE_DEFAULTS__INIT;
	Perfetto__Protos__PerfEvents__Timebase base = PERFETTO__PROTOS__PERF_EVENTS__TIMEBASE__INIT;
	uint64_t interval = convert_interval(c);
	char name[NAME];

	packet.has_sequence_flags = true;
	packet.sequence_flags = PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
	if (c->profile) {
		base.name = (char *)convert_text(c->all ? "events" : c->profile->sampling->what, name, sizeof(name));
		base.interval_case = interval ? PERFETTO__PROTOS__PERF_EVENTS__TIMEBASE__INTERVAL_FREQUENCY
					      : PERFETTO__PROTOS__PERF_EVENTS__TIMEBASE__INTERVAL_PERIOD;
		base.frequency = interval ? (1000000000 + interval / 2) / interval : 1;
		samples.timebase = &base;
		defaults.perf_sample_defaults = &samples;
		packet.trace_packet_defaults = &defaults;
	}
	perfetto_put(&p->file, &packet);
}

/* The kernel's version says what task states mean, the machine what system calls do. */
static void put_machine(struct perfetto *p, const struct perfdata_info *info)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__SystemInfo system = PERFETTO__PROTOS__SYSTEM_INFO__INIT;
	Perfetto__Protos__Utsname uts = PERFETTO__PROTOS__UTSNAME__INIT;
	char release[NAME], machine[NAME];

	uts.sysname = "Linux";
	uts.version = "";
	uts.release = (char *)convert_text(info->osrelease ? info->osrelease : "", release, sizeof(release));
	uts.machine = (char *)convert_text(info->arch ? info->arch : "", machine, sizeof(machine));
	system.utsname = &uts;
	system.has_num_cpus = info->cpus_online;
	system.num_cpus = info->cpus_online;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_SYSTEM_INFO;
	packet.system_info = &system;
	perfetto_put(&p->file, &packet);
}

/* Writes one moment on both clocks. */
static void put_clocks(struct perfetto *p, const struct perfdata_info *info)
{
	Perfetto__Protos__TracePacket packet = packet_at(info->clock_ns);
	Perfetto__Protos__ClockSnapshot snapshot = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	Perfetto__Protos__ClockSnapshot__Clock clock[2], *clocks[] = { &clock[0], &clock[1] };

	if (!info->has_clock)
		return;
	for (int i = 0; i < 2; i++) {
		clock[i] = (Perfetto__Protos__ClockSnapshot__Clock)PERFETTO__PROTOS__CLOCK_SNAPSHOT__CLOCK__INIT;
		clock[i].has_clock_id = clock[i].has_timestamp = true;
		clock[i].clock_id = i ? PERFETTO__PROTOS__CLOCK_SNAPSHOT__CLOCK__BUILTIN_CLOCKS__REALTIME
				      : PERFETTO__PROTOS__CLOCK_SNAPSHOT__CLOCK__BUILTIN_CLOCKS__BOOTTIME;
		clock[i].timestamp = i ? info->realtime_ns : info->clock_ns;
	}
	snapshot.n_clocks = 2;
	snapshot.clocks = clocks;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_CLOCK_SNAPSHOT;
	packet.clock_snapshot = &snapshot;
	perfetto_put(&p->file, &packet);
}

static int begin(struct convert *c, struct analysis *a, struct fault *f)
{
	struct perfetto *p = c->state = calloc(1, sizeof(*p));
	const struct perfdata_info *info = replay_info(stream_replay(a->stream));

	if (p)
		p->counted = calloc(MAX_CPUS + 1, sizeof(*p->counted));
	if (!p || !p->counted || protofile_begin(&p->file, c->file.out, false))
		return fault_set(f, EXIT_FAILED, "out of memory");
	p->tracks = (struct numbers){ .words = 2, .row = sizeof(uint32_t) };
	perfetto_stacks_begin(&p->stacks, &p->file);
	p->events = stream_events(a->stream, &p->nevents);
	for (size_t i = 0; i < p->nevents; i++)
		p->events[i].consumer = perfetto_ftrace_new(p->events[i].fmt, &p->lost);
	put_defaults(p, c);
	put_clocks(p, info);
	put_machine(p, info);
	return 0;
}

/* ---- threads ------------------------------------------------------------------------------ */

/* Names a thread, when it is new or its name changed. */
static void put_names(struct perfetto *p, const struct analysis_sample *s, const char *comm)
{
	Perfetto__Protos__TracePacket packet = packet_at(s->time);
	Perfetto__Protos__ProcessTree tree = PERFETTO__PROTOS__PROCESS_TREE__INIT;
	Perfetto__Protos__ProcessTree__Process process = PERFETTO__PROTOS__PROCESS_TREE__PROCESS__INIT;
	Perfetto__Protos__ProcessTree__Process *processes[] = { &process };
	Perfetto__Protos__ProcessTree__Thread thread = PERFETTO__PROTOS__PROCESS_TREE__THREAD__INIT;
	Perfetto__Protos__ProcessTree__Thread *threads[] = { &thread };
	char *words[] = { (char *)comm };

	process.has_pid = process.has_cmdline_is_comm = true;
	process.pid = s->pid;
	process.cmdline_is_comm = true;
	process.n_cmdline = 1;
	process.cmdline = words;
	thread.has_tid = thread.has_tgid = true;
	thread.tid = pidmap_shown(s->tid);
	thread.tgid = s->pid;
	thread.name = words[0];
	if (s->pid == s->tid) {
		tree.n_processes = 1;
		tree.processes = processes;
	}
	tree.n_threads = 1;
	tree.threads = threads;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_PROCESS_TREE;
	packet.process_tree = &tree;
	perfetto_put(&p->file, &packet);
}

/* A track with another uuid than the one before tells the importer that its process or thread is another one with the same id. */
static void put_track(struct perfetto *p, uint64_t uuid, const struct analysis_sample *s, bool is_process)
{
	Perfetto__Protos__TracePacket packet = packet_at(s->time);
	Perfetto__Protos__TrackDescriptor track = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	Perfetto__Protos__ProcessDescriptor process = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
	Perfetto__Protos__ThreadDescriptor thread = PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;

	process.has_pid = thread.has_pid = thread.has_tid = true;
	process.pid = thread.pid = s->pid;
	thread.tid = pidmap_shown(s->tid);
	track.has_uuid = true;
	track.uuid = uuid;
	track.process = is_process ? &process : NULL;
	track.thread = is_process ? NULL : &thread;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_DESCRIPTOR;
	packet.track_descriptor = &track;
	perfetto_put(&p->file, &packet);
}

/* The number of the track of a process or thread, which is written when it is new. */
static uint64_t track_of(struct perfetto *p, const uint64_t key[2], const struct analysis_sample *s, bool *fresh)
{
	uint64_t uuid = (uint64_t)numbers_of(&p->tracks, key, fresh) + 1;

	if (*fresh)
		put_track(p, uuid, s, key[1] == UINT64_MAX);
	return uuid;
}

/* The number of the thread's track; 0 without memory. */
static uint64_t thread_of(struct perfetto *p, struct analysis *a, const struct analysis_sample *s)
{
	const uint64_t process[] = { names_task(&a->names, s->pid), UINT64_MAX };
	const uint64_t thread[] = { process[0], names_task(&a->names, s->tid) };
	uint32_t comm = wordlist_of(&p->comms, analysis_comm(a, s->tid)), *last;
	bool fresh;
	uint64_t uuid;

	if (s->pid > 0)
		track_of(p, process, s, &fresh);
	uuid = track_of(p, thread, s, &fresh);
	if (p->tracks.lost)
		return 0;
	last = (uint32_t *)p->tracks.rows + (uuid - 1);
	if ((fresh || *last != comm) && s->tid > 0 && s->pid > 0)
		put_names(p, s, wordlist_at(&p->comms, comm));
	*last = comm;
	return uuid;
}

/* ---- events on the track of a thread -------------------------------------------------------- */

/* The number of a name of events (`names`) or of their fields, which is written when it is new. */
static uint64_t name_of(struct perfetto *p, struct words *names, const char *text)
{
	uint32_t before = names->n, i = wordlist_of(names, text);
	Perfetto__Protos__EventName event = PERFETTO__PROTOS__EVENT_NAME__INIT, *events[] = { &event };
	Perfetto__Protos__DebugAnnotationName field = PERFETTO__PROTOS__DEBUG_ANNOTATION_NAME__INIT, *fields[] = { &field };
	Perfetto__Protos__InternedData data = PERFETTO__PROTOS__INTERNED_DATA__INIT;

	if (names->n == before)
		return i + 1;
	event.has_iid = field.has_iid = true;
	event.iid = field.iid = i + 1;
	event.name = field.name = (char *)wordlist_at(names, i);
	data.n_event_names = names == &p->names;
	data.event_names = events;
	data.n_debug_annotation_names = names == &p->fields;
	data.debug_annotation_names = fields;
	perfetto_put_interned(&p->file, &data);
	return i + 1;
}

struct note {
	Perfetto__Protos__DebugAnnotation value;
	char text[TEXT];
};

/* False for byte arrays, which the format does not have. */
static bool annotate(struct perfetto *p, struct note *n, const struct trace_field *field, const struct analysis_sample *s)
{
	const char *data;
	uint32_t len;

	n->value = (Perfetto__Protos__DebugAnnotation)PERFETTO__PROTOS__DEBUG_ANNOTATION__INIT;
	if (field->kind == FIELD_UINT) {
		n->value.value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_UINT_VALUE;
		n->value.uint_value = trace_field_uint(field, s->view.raw);
	} else if (field->kind == FIELD_SINT) {
		n->value.value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_INT_VALUE;
		n->value.int_value = perfetto_names_task(s->event->fmt, field) ? perfetto_task(field, s)
				     : trace_field_sint(field, s->view.raw);
	} else if (trace_field_is_text(field)) {
		if (trace_field_data(field, s->view.raw, s->view.raw_size, &data, &len))
			return false;
		escape_terminal(data, len, n->text, sizeof(n->text));
		n->value.value_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__VALUE_STRING_VALUE;
		n->value.string_value = n->text;
	} else {
		return false;
	}
	n->value.name_field_case = PERFETTO__PROTOS__DEBUG_ANNOTATION__NAME_FIELD_NAME_IID;
	n->value.name_iid = name_of(p, &p->fields, field->name);
	return true;
}

static size_t annotate_all(struct perfetto *p, struct note *notes, const struct analysis_sample *s)
{
	const struct tracefmt *fmt = s->event->fmt;
	size_t n = 0;

	for (size_t i = fmt ? fmt->ncommon : 0; fmt && i < fmt->nfields && n < MAX_FIELDS; i++)
		n += annotate(p, &notes[n], &fmt->fields[i], s);
	return n;
}

static void put_instant(struct perfetto *p, uint64_t track, const struct analysis_sample *s, uint64_t stack)
{
	struct note notes[MAX_FIELDS];
	Perfetto__Protos__DebugAnnotation *values[MAX_FIELDS];
	Perfetto__Protos__TracePacket packet = packet_at(s->time);
	Perfetto__Protos__TrackEvent event = PERFETTO__PROTOS__TRACK_EVENT__INIT;

	event.has_type = event.has_track_uuid = true;
	event.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT;
	event.track_uuid = track;
	event.name_field_case = PERFETTO__PROTOS__TRACK_EVENT__NAME_FIELD_NAME_IID;
	event.name_iid = name_of(p, &p->names, s->event->name);
	event.n_debug_annotations = annotate_all(p, notes, s);
	for (size_t i = 0; i < event.n_debug_annotations; i++)
		values[i] = &notes[i].value;
	event.debug_annotations = values;
	if (stack) {
		event.callstack_field_case = PERFETTO__PROTOS__TRACK_EVENT__CALLSTACK_FIELD_CALLSTACK_IID;
		event.callstack_iid = stack;
	}
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_TRACK_EVENT;
	packet.track_event = &event;
	perfetto_put(&p->file, &packet);
}

/* ---- samples -------------------------------------------------------------------------------- */

static Perfetto__Protos__Profiling__CpuMode mode_of(const struct analysis_sample *s)
{
	return (Perfetto__Protos__Profiling__CpuMode)(s->view.rec->misc & PERF_RECORD_MISC_CPUMODE_MASK);
}

static void put_sample(struct perfetto *p, const struct convert *c, const struct analysis_sample *s, uint64_t stack)
{
	Perfetto__Protos__TracePacket packet = packet_at(s->time);
	Perfetto__Protos__PerfSample sample = PERFETTO__PROTOS__PERF_SAMPLE__INIT;
	uint64_t *counted;

	sample.has_pid = sample.has_tid = sample.has_cpu_mode = sample.has_timebase_count = true;
	sample.has_cpu = s->cpu != UINT32_MAX;   /* not every recording has it */
	sample.cpu = s->cpu;
	sample.pid = (uint32_t)s->pid;
	sample.tid = (uint32_t)pidmap_shown(s->tid);
	sample.cpu_mode = mode_of(s) <= PERFETTO__PROTOS__PROFILING__CPU_MODE__MODE_GUEST_USER ? mode_of(s) : 0;
	sample.has_callstack_iid = stack;
	sample.callstack_iid = stack;
	counted = &p->counted[s->cpu < MAX_CPUS ? s->cpu : MAX_CPUS];
	*counted += c->all ? 1 : analysis_weight(s);
	sample.timebase_count = *counted;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_PERF_SAMPLE;
	packet.perf_sample = &sample;
	perfetto_put(&p->file, &packet);
}

static void sample(struct convert *c, struct analysis *a, const struct analysis_sample *s)
{
	struct perfetto *p = c->state;
	uint64_t track = thread_of(p, a, s);
	bool profiles = convert_profiles(c, s->event);
	uint64_t stack = 0;

	c->no_memory |= p->lost || !track;
	if (!track)
		return;
	if (profiles || !s->event->consumer)
		stack = perfetto_stack(&p->stacks, a, analysis_where(a, s));
	if (profiles && (!c->all || s->event->layout.callchain))
		put_sample(p, c, s, stack);
	if (s->event->consumer && s->cpu != UINT32_MAX)
		perfetto_ftrace_put(s->event->consumer, s, &p->file);
	else if (c->all || !profiles)
		put_instant(p, track, s, stack);
}

static void lost(struct convert *c, struct analysis *a, const struct stream_loss *loss)
{
	struct perfetto *p = c->state;
	Perfetto__Protos__TracePacket packet = packet_at(loss->end ? loss->end : c->last);
	Perfetto__Protos__PerfSample sample = PERFETTO__PROTOS__PERF_SAMPLE__INIT;

	sample.has_cpu = sample.has_kernel_records_lost = true;
	sample.cpu = loss->cpu < 0 ? 0 : (uint32_t)loss->cpu;
	sample.kernel_records_lost = loss->count;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_PERF_SAMPLE;
	packet.perf_sample = &sample;
	if (c->profile)
		perfetto_put(&p->file, &packet);
}

static int end(struct convert *c, struct analysis *a, struct fault *f)
{
	struct perfetto *p = c->state;
	struct perfetto_stacks *s = &p->stacks;

	if (protofile_end(&p->file) || p->lost || s->lost || p->comms.full || p->names.full || p->fields.full ||
	    p->tracks.lost || s->functions.full || s->paths.full || s->sources.full || s->builds.full ||
	    s->mappings.lost || s->frames.lost || s->stacks.lost)
		return fault_set(f, EXIT_FAILED, "--output %s: out of memory", c->out);
	return 0;
}

static void release(struct convert *c)
{
	struct perfetto *p = c->state;

	if (!p)
		return;
	for (size_t i = 0; i < p->nevents; i++)
		perfetto_ftrace_free(p->events[i].consumer);
	perfetto_stacks_free(&p->stacks);
	protofile_free(&p->file);
	words_free(&p->comms);
	words_free(&p->names);
	words_free(&p->fields);
	numbers_free(&p->tracks);
	free(p->counted);
	free(p);
}

const struct convert_format convert_perfetto = {
	.name = "perfetto", .suffixes = (const char *const[]){ ".pftrace", ".perfetto-trace", NULL }, .binary = true,
	.names_tasks = true, .begin = begin, .sample = sample, .lost = lost, .end = end, .release = release,
};
