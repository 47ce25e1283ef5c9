/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/syscalls/callfilter.h"

#include "engine/callnames.h"
#include "stream/asked/filter.h"

#include <string.h>

enum { RAW_BYTES = 256 };

static void put(const struct trace_field *field, char raw[RAW_BYTES], const void *value, size_t size)
{
	if (field->offset + (size_t)field->size <= RAW_BYTES)
		memcpy(raw + field->offset, value, size < field->size ? size : field->size);
}

/* The data of the event that the call would have caused. */
static void put_event(const struct stream_event *enter, const struct waitargs *c, char raw[RAW_BYTES])
{
	const int64_t number = call_number(c->call);
	const int32_t tid = c->tid;

	memset(raw, 0, RAW_BYTES);
	for (size_t i = 0; i < enter->fmt->nfields; i++) {
		const struct trace_field *field = &enter->fmt->fields[i];

		if (!strcmp(field->name, "common_pid"))
			put(field, raw, &tid, sizeof(tid));
		else if (!strcmp(field->name, "id"))
			put(field, raw, &number, sizeof(number));
		else if (!strcmp(field->name, "args"))
			put(field, raw, c->args, sizeof(c->args));
	}
}

/* Other parts of a sample than its data are empty here: what reads them has no value. */
static bool is_true(const struct expr *filter, const struct stream_event *enter, const struct waitargs *c)
{
	struct expr_run run = { .ctx = NULL };
	struct expr_value value;
	char raw[RAW_BYTES];

	put_event(enter, c, raw);
	run.area[SCHEMA_RAW].bytes = raw;
	run.area[SCHEMA_RAW].size = sizeof(raw);
	return !expr_eval(filter, &run, &value) && value.u;
}

bool callfilter_passes(const struct stream_event *enter, const struct waitargs *c)
{
	struct expr_schema schema;
	struct filter filter = { 0 };
	struct expr_error err;
	bool passes;

	if (!enter->asked.filter)
		return true;
	if (!enter->fmt || schema_of_event(&schema, enter))
		return false;
	passes = filter_split(&filter, enter->asked.filter, &schema, true, &err) == FILTER_SPLIT && filter.here &&
		 !expr_calls(filter.here, &schema_comm) && is_true(filter.here, enter, c);
	filter_free(&filter);
	schema_free(&schema);
	return passes;
}
