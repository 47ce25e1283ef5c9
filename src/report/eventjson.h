/* SPDX-License-Identifier: Apache-2.0 */
/* An event as a JSON object. */
#ifndef REPORT_EVENTJSON_H
#define REPORT_EVENTJSON_H

#include "report/json.h"
#include "report/sampletext.h"

/* {"event", "time", "realtime", "comm", "pid", "tid", "cpu", "fields": {...}}: times in ns; fields
 * of the tracepoint, or the numbers in the sample. Bytes are hexadecimal. NULL: out of memory. */
json_object *event_json(struct names *names, const struct sample_view *s, const char *comm);
#endif
