/* SPDX-License-Identifier: Apache-2.0 */
#include "report/eventjson.h"

#include "stream/rings/ids.h"

#include <stdlib.h>
#include <string.h>

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

json_object *event_json(struct names *names, const struct sample_view *s, const char *comm)
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
