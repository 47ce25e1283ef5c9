/* SPDX-License-Identifier: Apache-2.0 */
/* `perf-prof python -e EVENT help`: prints a template of a script. */
#include "pyhost/template.h"

#include "events/parts.h"

#include <stdbool.h>
#include <string.h>

static const char head[] =
"# =============================================================================\n"
"# Python Script Template for perf-prof python\n"
"# =============================================================================\n"
"#\n"
"# Save this template to a .py file and customize as needed.\n"
"# Functions marked [OPTIONAL] can be safely deleted if not needed.\n"
"# Exceptions raised in functions will be printed but won't stop processing\n"
"# (but for __init__: a script whose set-up failed does not run).\n"
"#\n"
"# PerfEvent object fields:\n"
"#\n"
"#   Tracepoint events (-e sys:name):\n"
"#   _pid, _tid    : Process/thread ID (int)\n"
"#   _time         : Event timestamp in nanoseconds (int)\n"
"#   _cpu          : CPU number (int)\n"
"#   _period       : Sample period (int)\n"
"#   common_type, common_flags, common_preempt_count, common_pid : trace_entry fields\n"
"#   _realtime     : Wall clock time in ns since Unix epoch (int, lazy computed)\n"
"#                   Note: Has drift, only for display, not for latency calc\n"
"#   _callchain    : Call stack list (when -g or stack attribute is set, lazy computed)\n"
"#   _event        : Event name with alias if set (str, lazy computed)\n"
"#   <field>       : Event-specific fields (int/str/bytes, lazy computed)\n"
"#\n"
"#   Profiler events (-e profiler; a profiler is profile, page-faults, cycles, ...):\n"
"#   _pid, _tid    : Process/thread ID (int)\n"
"#   _time         : Event timestamp in nanoseconds (int)\n"
"#   _cpu          : CPU number (int)\n"
"#   _realtime     : Wall clock time in ns since Unix epoch (int, lazy computed)\n"
"#   _event        : Event name with alias if set (str, lazy computed)\n"
"#   <field>       : Profiler-specific fields based on sample_type (lazy computed)\n"
"#\n"
"# PerfEvent access methods:\n"
"#   event.field or event['field']  - Access field value\n"
"#   event.get(field, default=None) - Get field with default fallback\n"
"#   'field' in event               - Check if field exists\n"
"#   len(event)                     - Number of fields\n"
"#   event.keys(), event.values(), event.items()  - Dict-like access\n"
"#   for field, value in event      - Iterate over fields\n"
"#   event.print(timestamp=True, callchain=True)  - Print in perf-prof format\n"
"#   event.to_dict()                - Convert to regular Python dict\n"
"#   str(event), repr(event)        - String representations\n"
"#   hash(event)                    - Hash of entire perf event\n"
"#\n"
"# =============================================================================\n"
"\n"
"# Import other modules as needed (examples)\n"
"# import json\n"
"# import time\n"
"# from collections import defaultdict, Counter\n"
"\n"
"# Global variables for statistics\n"
"event_count = 0\n"
"\n"
"# [OPTIONAL] Delete if no initialization needed\n"
"def __init__():\n"
"    \"\"\"Called once before event processing starts.\"\"\"\n"
"    pass\n"
"\n"
"# [OPTIONAL] Delete if no cleanup/summary needed\n"
"def __exit__():\n"
"    \"\"\"Called once before program exit.\"\"\"\n"
"    pass\n"
"\n"
"# [OPTIONAL] Delete if -i interval not used\n"
"def __interval__():\n"
"    \"\"\"Called at each -i interval.\"\"\"\n"
"    pass\n"
"\n"
"# [OPTIONAL] Delete if SIGUSR2 statistics not needed\n"
"def __print_stat__(indent):\n"
"    \"\"\"Called on SIGUSR2.\n"
"\n"
"    indent: indentation of the output, in spaces (int)\n"
"    \"\"\"\n"
"    pass\n"
"\n"
"# [OPTIONAL] Delete if lost events need no handling\n"
"def __lost__(lost_start, lost_end):\n"
"    \"\"\"Called when events were lost.\n"
"\n"
"    lost_start: time of the last sample before the loss (int, ns; 0 without --order)\n"
"    lost_end: time of the first sample after it (int, ns; 0 without --order)\n"
"    A third parameter, where there is one, gets a dict of count, cpu and cause. The cause\n"
"    \"throttled\" has the span from lost_start to lost_end, the event, and count 0: not known.\n"
"    \"\"\"\n"
"    pass\n";

static const char tail[] =
"\n"
"# [OPTIONAL] Delete if using event-specific handlers for all events\n"
"def __sample__(event):\n"
"    \"\"\"\n"
"    Default handler for events without specific handlers.\n"
"    event is a PerfEvent object. The _event field has format 'sys:name' or 'sys:alias'.\n"
"    \"\"\"\n"
"    global event_count\n"
"    event_count += 1\n"
"\n"
"    event_name = event._event\n"
"    cpu = event._cpu\n"
"\n"
"    # Example: print event\n"
"    # event.print()\n";

static const char *python_type(const struct trace_field *f)
{
	switch (f->kind) {
	case FIELD_UINT:
	case FIELD_SINT:
		return "int";
	case FIELD_STR:
	case FIELD_DYN_STR:
	case FIELD_REL_STR:
		return "str";
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

static void print_handler(const struct stream_event *event, FILE *out)
{
	fprintf(out, "\n# Event-specific handler (higher priority than __sample__)\n"
		"def %s(event):\n    \"\"\"\n    Handler for %s\n"
		"    event is a PerfEvent object with lazy field evaluation.\n\n"
		"    Event-specific fields:\n", event->word, event->name);
	each_field(event, describe, out);
	fputs("    \"\"\"\n    global event_count\n    event_count += 1\n\n"
	      "    # Access common fields\n    pid = event._pid\n    time_ns = event._time\n\n"
	      "    # Access event-specific fields\n", out);
	each_field(event, show_access, out);
	fputs("\n    # Example: print event\n    # event.print()\n", out);
}

void template_print(const struct stream_event *events, size_t n, FILE *out)
{
	fputs(head, out);
	/* several PMUs can have an event of the same name */
	for (size_t i = 0; i < n; i++)
		if (!i || strcmp(events[i - 1].word, events[i].word))
			print_handler(&events[i], out);
	fputs(tail, out);
}
