/* SPDX-License-Identifier: Apache-2.0 */
/* `perf-prof python -e EVENT help`: prints a template of a script. */
#include "pyhost/template.h"

#include "events/parts.h"
#include "template_text.h"

#include <stdbool.h>
#include <string.h>

/* What goes between the two parts of template.txt. */
static const char mark[] = "@HANDLERS@\n";

static const char *python_type(const struct trace_field *f)
{
	switch (f->kind) {
	case FIELD_UINT:
	case FIELD_SINT:
		return "int";
	case FIELD_STR:
	case FIELD_DYN_STR:
	case FIELD_REL_STR:
		return f->fetched ? "str or None" : "str";
	default:
		return "bytes";
	}
}

/* Calls each(name, type) for the event's own fields. */
static void each_field(const struct stream_event *event,
		       void (*each)(const char *name, const char *type, FILE *out), FILE *out)
{
	static const char *const kinds[] = {
		[PART_INT] = "int", [PART_LIST] = "list", [PART_DICT] = "dict", [PART_BYTES] = "bytes",
	};
	const struct tracefmt *fmt = event->fmt;
	const struct sample_part *part;

	for (size_t i = fmt ? fmt->ncommon : 0; fmt && i < fmt->nfields; i++)
		each(fmt->fields[i].name, python_type(&fmt->fields[i]), out);
	if (stream_probe_address(event))
		each("ip", "int", out);
	for (size_t i = 0; !fmt && (part = sample_part_at(i)); i++)
		if (part->bits & event->layout.sample_type)
			each(part->name, kinds[part->kind], out);
	if (stream_event_has_counts(event))
		each(fmt ? "_counts" : "counts", "dict", out);
}

static void describe(const char *name, const char *type, FILE *out)
{
	fprintf(out, "        %s : %s\n", name, type);
}

static void show_access(const char *name, const char *type, FILE *out)
{
	fprintf(out, "    # %s = event.%s\n", name, name);
}

/* A text within a string of Python. */
static void put_quoted(const char *text, FILE *out)
{
	for (; *text; text++)
		fprintf(out, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
}

static void print_handler(const struct stream_event *event, FILE *out)
{
	fprintf(out, "\n# Event-specific handler (higher priority than __sample__)\n"
		"def %s(event):\n    \"\"\"\n    Handler for ", event->word);
	put_quoted(event->name, out);
	fputs("\n    event is a PerfEvent object with lazy field evaluation.\n\n"
		"    Event-specific fields:\n", out);
	each_field(event, describe, out);
	fputs("    \"\"\"\n    global event_count\n    event_count += 1\n\n"
	      "    # Access common fields\n    pid = event._pid\n    time_ns = event._time\n\n"
	      "    # Access event-specific fields\n", out);
	each_field(event, show_access, out);
	fputs("\n    # Example: print event\n    # event.print()\n", out);
}

void template_print(const struct stream_event *events, size_t n, FILE *out)
{
	const char *handlers = strstr(template, mark);

	fwrite(template, 1, (size_t)(handlers - template), out);
	/* several PMUs can have an event of the same name */
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(events[i - 1].word, events[i].word))
			print_handler(&events[i], out);
	fputs(handlers + strlen(mark), out);
}
