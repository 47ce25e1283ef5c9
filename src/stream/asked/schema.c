/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/asked/schema.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Parts of the sample itself. `member`: offset of the part in struct layout; `behind`: bytes into
 * the part. */
struct part {
	const char *name;
	size_t member;
	uint16_t behind, size;
	enum expr_field_kind kind;
};

static const struct part parts[] = {
	{ "_pid", offsetof(struct layout, tid), 0, 4, EXPR_FIELD_SINT },
	{ "_tid", offsetof(struct layout, tid), 4, 4, EXPR_FIELD_SINT },
	{ "_time", offsetof(struct layout, time), 0, 8, EXPR_FIELD_UINT },
	{ "_period", offsetof(struct layout, period), 0, 8, EXPR_FIELD_UINT },
};

/* Names that the kernel's filters know besides the fields of an event. */
static const struct expr_field generic[] = {
	{ "CPU", EXPR_FIELD_UINT, SCHEMA_CPU, true, 0, 4 },
	{ "cpu", EXPR_FIELD_UINT, SCHEMA_CPU, true, 0, 4 },
	{ "comm", EXPR_FIELD_CALLED, 0, true, SCHEMA_COMM, 0 },
	{ "COMM", EXPR_FIELD_CALLED, 0, true, SCHEMA_COMM, 0 },
};

/* Fields of events that are no tracepoints. */
static const struct part fields_of_sample[] = {
	{ "identifier", offsetof(struct layout, identifier), 0, 8, EXPR_FIELD_UINT },
	{ "ip", offsetof(struct layout, ip), 0, 8, EXPR_FIELD_UINT },
	{ "pid", offsetof(struct layout, tid), 0, 4, EXPR_FIELD_UINT },
	{ "tid", offsetof(struct layout, tid), 4, 4, EXPR_FIELD_UINT },
	{ "time", offsetof(struct layout, time), 0, 8, EXPR_FIELD_UINT },
	{ "addr", offsetof(struct layout, addr), 0, 8, EXPR_FIELD_UINT },
	{ "id", offsetof(struct layout, id), 0, 8, EXPR_FIELD_UINT },
	{ "stream_id", offsetof(struct layout, stream_id), 0, 8, EXPR_FIELD_UINT },
	{ "cpu", offsetof(struct layout, cpu), 0, 4, EXPR_FIELD_UINT },
	{ "period", offsetof(struct layout, period), 0, 8, EXPR_FIELD_UINT },
};

enum { NFIELDS = sizeof(fields_of_sample) / sizeof(*fields_of_sample) };
enum { NPARTS = sizeof(parts) / sizeof(*parts), NGENERIC = sizeof(generic) / sizeof(*generic) };

/* "const char *", with or without spaces. */
static bool is_char_pointer(const char *type)
{
	char word[16];
	size_t n = 0;

	if (!strncmp(type, "const ", 6))
		type += 6;
	for (; *type && n < sizeof(word) - 1; type++)
		if (*type != ' ')
			word[n++] = *type;
	word[n] = '\0';
	return !strcmp(word, "char*");
}

static enum expr_field_kind kind_of(const struct trace_field *field)
{
	static const enum expr_field_kind kinds[] = {
		[FIELD_UINT] = EXPR_FIELD_UINT, [FIELD_SINT] = EXPR_FIELD_SINT,
		[FIELD_STR] = EXPR_FIELD_CHARS, [FIELD_BYTES] = EXPR_FIELD_BYTES,
		[FIELD_DYN_STR] = EXPR_FIELD_DATA_LOC, [FIELD_DYN_BYTES] = EXPR_FIELD_BYTES,
		[FIELD_REL_STR] = EXPR_FIELD_REL_LOC, [FIELD_REL_BYTES] = EXPR_FIELD_BYTES,
	};

	if (field->kind <= FIELD_SINT && is_char_pointer(field->type))
		return EXPR_FIELD_POINTER;
	return kinds[field->kind];
}

static size_t add_trace_fields(struct expr_field *out, const struct tracefmt *fmt, size_t from,
			       size_t to)
{
	for (size_t i = from; i < to; i++)
		*out++ = (struct expr_field){
			.name = fmt->fields[i].name, .kind = kind_of(&fmt->fields[i]),
			.area = SCHEMA_RAW, .offset = fmt->fields[i].offset,
			.size = fmt->fields[i].size, .next = fmt->fields[i].next,
		};
	return to - from;
}

static size_t add_parts(struct expr_field *out, const struct layout *layout,
			const struct part *rows, size_t nrows)
{
	size_t n = 0;

	for (size_t i = 0; i < nrows; i++) {
		uint8_t at = *((const uint8_t *)layout + rows[i].member);

		if (!at)
			continue;
		out[n++] = (struct expr_field){
			.name = rows[i].name, .kind = rows[i].kind, .area = SCHEMA_RECORD,
			.offset = (uint16_t)(at + rows[i].behind), .size = rows[i].size,
		};
	}
	return n;
}

static int call_comm(struct expr_run *run, const struct expr_value *args, size_t nargs, struct expr_value *result)
{
	const struct schema_sample *s = run->ctx;

	result->text = s->event->naming->comm(s->event->naming->stream, s->event, s->rec, s->raw);
	result->len = (uint32_t)strlen(result->text);
	return EXPR_FINE;
}

const struct expr_func schema_comm = { "_comm", "", EXPR_TEXT, NULL, call_comm };

int schema_of_event(struct expr_schema *schema, const struct stream_event *event)
{
	const struct tracefmt *fmt = event->fmt;
	size_t n = 0, room = (fmt ? fmt->nfields : 0) + 3 + NPARTS + NFIELDS + NGENERIC;
	struct expr_field *fields = calloc(room, sizeof(*fields));

	*schema = (struct expr_schema){ 0 };
	if (!fields)
		return -ENOMEM;
	/* its own fields first: messages list them in this order */
	if (fmt)
		n += add_trace_fields(fields + n, fmt, fmt->ncommon, fmt->nfields);
	else
		n += add_parts(fields + n, &event->layout, fields_of_sample, NFIELDS);
	fields[n++] = (struct expr_field){ "_cpu", EXPR_FIELD_UINT, SCHEMA_CPU, false, 0, 4 };
	n += add_parts(fields + n, &event->layout, parts, NPARTS);
	if (!event->layout.period && (fmt || event->each > 1))
		fields[n++] = (struct expr_field){ "_period", EXPR_FIELD_UINT, SCHEMA_EACH, false, 0, 8 };
	if (!event->layout.period && !fmt && event->each > 1)
		fields[n++] = (struct expr_field){ "period", EXPR_FIELD_UINT, SCHEMA_EACH, false, 0, 8 };
	fields[n++] = (struct expr_field){ "_comm", EXPR_FIELD_CALLED, 0, false, SCHEMA_COMM, 0 };
	if (fmt)
		n += add_trace_fields(fields + n, fmt, 0, fmt->ncommon);
	memcpy(fields + n, generic, sizeof(generic));
	*schema = (struct expr_schema){ fields, n + NGENERIC, &schema_comm, 1 };
	return 0;
}

void schema_free(struct expr_schema *schema)
{
	free((struct expr_field *)schema->fields);
	*schema = (struct expr_schema){ 0 };
}

uint64_t schema_reads(const struct expr *expr, const struct stream_event *event)
{
	return (expr_places(expr, SCHEMA_RAW) ? PERF_SAMPLE_RAW : 0) |
	       layout_parts_at(&event->layout, expr_places(expr, SCHEMA_RECORD));
}
