/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/schema.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Parts of the sample itself; `member` is the one of struct layout that says where. What
 * is no tracepoint has them as its own fields, too. */
static const struct {
	const char *name;
	size_t member;
	uint16_t behind, size;
	enum expr_field_kind kind;
	bool own;
} parts[] = {
	{ "_pid", offsetof(struct layout, tid), 0, 4, EXPR_FIELD_SINT, false },
	{ "_tid", offsetof(struct layout, tid), 4, 4, EXPR_FIELD_SINT, false },
	{ "_time", offsetof(struct layout, time), 0, 8, EXPR_FIELD_UINT, false },
	{ "_period", offsetof(struct layout, period), 0, 8, EXPR_FIELD_UINT, false },
	{ "identifier", offsetof(struct layout, identifier), 0, 8, EXPR_FIELD_UINT, true },
	{ "ip", offsetof(struct layout, ip), 0, 8, EXPR_FIELD_UINT, true },
	{ "pid", offsetof(struct layout, tid), 0, 4, EXPR_FIELD_UINT, true },
	{ "tid", offsetof(struct layout, tid), 4, 4, EXPR_FIELD_UINT, true },
	{ "time", offsetof(struct layout, time), 0, 8, EXPR_FIELD_UINT, true },
	{ "addr", offsetof(struct layout, addr), 0, 8, EXPR_FIELD_UINT, true },
	{ "id", offsetof(struct layout, id), 0, 8, EXPR_FIELD_UINT, true },
	{ "stream_id", offsetof(struct layout, stream_id), 0, 8, EXPR_FIELD_UINT, true },
	{ "period", offsetof(struct layout, period), 0, 8, EXPR_FIELD_UINT, true },
};

/* What the kernel's filters have beside an event's own fields. */
static const struct expr_field generic[] = {
	{ "CPU", EXPR_FIELD_UINT, SCHEMA_CPU, true, 0, 4 },
	{ "cpu", EXPR_FIELD_UINT, SCHEMA_CPU, true, 0, 4 },
	{ "comm", EXPR_FIELD_ELSEWHERE, 0, true, 0, 0 },
	{ "COMM", EXPR_FIELD_ELSEWHERE, 0, true, 0, 0 },
};

enum { NPARTS = sizeof(parts) / sizeof(*parts), NGENERIC = sizeof(generic) / sizeof(*generic) };

/* "const char *", whatever the blanks. */
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
			.size = fmt->fields[i].size,
		};
	return to - from;
}

static size_t add_parts(struct expr_field *out, const struct layout *layout, bool own)
{
	size_t n = 0;

	out[n++] = (struct expr_field){ "_cpu", EXPR_FIELD_UINT, SCHEMA_CPU, false, 0, 4 };
	for (size_t i = 0; i < NPARTS; i++) {
		uint8_t at = *((const uint8_t *)layout + parts[i].member);

		if (!at || (parts[i].own && !own))
			continue;
		out[n++] = (struct expr_field){
			.name = parts[i].name, .kind = parts[i].kind, .area = SCHEMA_RECORD,
			.offset = (uint16_t)(at + parts[i].behind), .size = parts[i].size,
		};
	}
	return n;
}

int schema_of_event(struct expr_schema *schema, const struct stream_event *event)
{
	const struct tracefmt *fmt = event->fmt;
	size_t n = 0, room = (fmt ? fmt->nfields : 0) + 1 + NPARTS + NGENERIC;
	struct expr_field *fields = calloc(room, sizeof(*fields));

	*schema = (struct expr_schema){ 0 };
	if (!fields)
		return -ENOMEM;
	/* its own first: messages list them in this order */
	if (fmt)
		n += add_trace_fields(fields + n, fmt, fmt->ncommon, fmt->nfields);
	n += add_parts(fields + n, &event->layout, !fmt);
	if (fmt)
		n += add_trace_fields(fields + n, fmt, 0, fmt->ncommon);
	/* of these, what is no tracepoint has the CPU only: the kernel filters nothing there */
	memcpy(fields + n, generic, sizeof(generic));
	schema->fields = fields;
	schema->nfields = n + (fmt ? NGENERIC : NGENERIC - 2);
	return 0;
}

void schema_free(struct expr_schema *schema)
{
	free((struct expr_field *)schema->fields);
	*schema = (struct expr_schema){ 0 };
}
