/* SPDX-License-Identifier: Apache-2.0 */
/* An event as a JSON object. */
#ifndef REPORT_EVENTJSON_H
#define REPORT_EVENTJSON_H

#include "report/json.h"
#include "report/sampletext.h"

/* {"event", "time", "realtime", "comm", "pid", "tid", "cpu", "fields": {...}}: times in ns; the
 * fields of its tracepoint, or the numbers of its sample. Bytes are hexadecimal. NULL without
 * memory. */
json_object *event_json(struct names *names, const struct sample_view *s, const char *comm);
#endif
