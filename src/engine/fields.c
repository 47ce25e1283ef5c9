/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fields.h"

#include "engine/analysis.h"
#include "events/parts.h"

#include <stdio.h>
#include <string.h>

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

int fields_print(struct stream_opts *opts, const struct opt_parser *args, struct fault *f)
{
	struct reading reading = { 0 };
	int rc = analysis_open_input(opts, &reading, args, f) || print_all(opts, f) ? -1 : 0;

	reading_end(&reading);
	return rc;
}
