/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracepoints that Perfetto draws. Its schema has a message with the name and fields of each, and
 * protobuf-c describes the schema at run time, so it serves as the table. Fields that the kernel's
 * tracepoint does not have, or has with another type, are left out.
 */
#include "export/perfetto_private.h"

#include "base/escape.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 16, TEXT = 512 };

struct pair {
	const struct trace_field *from;
	const ProtobufCFieldDescriptor *to;
	bool names_task;
	char text[TEXT];
};

struct perfetto_ftrace {
	const ProtobufCFieldDescriptor *field;   /* of FtraceEvent */
	ProtobufCMessage *message;
	size_t n;
	struct pair pairs[MAX_FIELDS];
};

static bool is_number(const struct trace_field *field)
{
	return field->kind == FIELD_UINT || field->kind == FIELD_SINT;
}

bool perfetto_names_task(const struct tracefmt *fmt, const struct trace_field *field)
{
	size_t len = strlen(field->name);

	return field->kind == FIELD_SINT && (!strcmp(fmt->sys, "sched") || !strcmp(fmt->sys, "task")) &&
	       (!strcmp(field->name, "pid") || (len > 4 && !strcmp(field->name + len - 4, "_pid")));
}

int64_t perfetto_task(const struct trace_field *field, const struct analysis_sample *s)
{
	return pidmap_shown(stream_task(s->event, (pid_t)trace_field_sint(field, s->view.raw)));
}

static void pair(struct perfetto_ftrace *p, const struct tracefmt *fmt, const struct trace_field *from,
		 const ProtobufCMessageDescriptor *d)
{
	const ProtobufCFieldDescriptor *to = protobuf_c_message_descriptor_get_field_by_name(d, from->name);

	if (to && p->n < MAX_FIELDS && (to->type == PROTOBUF_C_TYPE_STRING ? trace_field_is_text(from) : is_number(from)))
		p->pairs[p->n++] = (struct pair){ from, to, perfetto_names_task(fmt, from), "" };
}

/* Systems whose tracepoints have the same names in the schema. */
static bool is_known_system(const char *sys)
{
	static const char *const known[] = { "sched", "irq", "power", "task", "raw_syscalls" };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(sys, known[i]))
			return true;
	return false;
}

struct perfetto_ftrace *perfetto_ftrace_new(const struct tracefmt *fmt, bool *lost)
{
	const ProtobufCFieldDescriptor *field = fmt && is_known_system(fmt->sys) ?
		protobuf_c_message_descriptor_get_field_by_name(&perfetto__protos__ftrace_event__descriptor,
								fmt->name) : NULL;
	const ProtobufCMessageDescriptor *d = field && field->type == PROTOBUF_C_TYPE_MESSAGE
					      ? field->descriptor : NULL;
	struct perfetto_ftrace *p;

	if (!d)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p)
		p->message = calloc(1, d->sizeof_message);
	if (!p || !p->message) {
		*lost = true;
		perfetto_ftrace_free(p);
		return NULL;
	}
	protobuf_c_message_init(d, p->message);
	p->field = field;
	for (size_t i = fmt->ncommon; i < fmt->nfields; i++)
		pair(p, fmt, &fmt->fields[i], d);
	return p;
}

void perfetto_ftrace_free(struct perfetto_ftrace *p)
{
	if (p)
		free(p->message);
	free(p);
}

static uint64_t number(const struct pair *pair, const struct analysis_sample *s)
{
	if (pair->names_task)
		return (uint64_t)perfetto_task(pair->from, s);
	return pair->from->kind == FIELD_SINT ? (uint64_t)trace_field_sint(pair->from, s->view.raw)
					      : trace_field_uint(pair->from, s->view.raw);
}

static void set_text(struct perfetto_ftrace *p, struct pair *pair, const struct analysis_sample *s)
{
	char *text = pair->text;
	const char *data;
	uint32_t len;

	text[0] = '\0';
	if (!trace_field_data(pair->from, s->view.raw, s->view.raw_size, &data, &len))
		escape_terminal(data, len, text, TEXT);
	memcpy((char *)p->message + pair->to->offset, &text, sizeof(text));
}

static void set(struct perfetto_ftrace *p, struct pair *pair, const struct analysis_sample *s)
{
	char *at = (char *)p->message + pair->to->offset;
	uint64_t wide;
	uint32_t narrow;

	if (pair->to->type == PROTOBUF_C_TYPE_STRING) {
		set_text(p, pair, s);
		return;
	}
	wide = number(pair, s);
	narrow = (uint32_t)wide;
	if (pair->to->type == PROTOBUF_C_TYPE_INT64 || pair->to->type == PROTOBUF_C_TYPE_UINT64)
		memcpy(at, &wide, sizeof(wide));
	else
		memcpy(at, &narrow, sizeof(narrow));
	*(protobuf_c_boolean *)((char *)p->message + pair->to->quantifier_offset) = true;
}

void perfetto_ftrace_put(struct perfetto_ftrace *p, const struct analysis_sample *s, struct protofile *file)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
	Perfetto__Protos__FtraceEventBundle bundle = PERFETTO__PROTOS__FTRACE_EVENT_BUNDLE__INIT;
	Perfetto__Protos__FtraceEvent event = PERFETTO__PROTOS__FTRACE_EVENT__INIT, *events[] = { &event };

	for (size_t i = 0; i < p->n; i++)
		set(p, &p->pairs[i], s);
	event.has_timestamp = event.has_pid = true;
	event.timestamp = s->time;
	event.pid = (uint32_t)pidmap_shown(s->tid);
	event.event_case = (Perfetto__Protos__FtraceEvent__EventCase)p->field->id;
	memcpy((char *)&event + p->field->offset, &p->message, sizeof(p->message));
	bundle.has_cpu = true;
	bundle.cpu = s->cpu;
	bundle.n_event = 1;
	bundle.event = events;
	packet.data_case = PERFETTO__PROTOS__TRACE_PACKET__DATA_FTRACE_EVENTS;
	packet.ftrace_events = &bundle;
	perfetto_put(file, &packet);
}
