/* SPDX-License-Identifier: Apache-2.0 */
/* An event as a line of text: time, task, CPU, name, fields. */
#ifndef REPORT_EVENTLINE_H
#define REPORT_EVENTLINE_H

#include "report/sampletext.h"

struct eventline;

/* The names outlive it. NULL: out of memory. */
struct eventline *eventline_new(struct names *names);
void eventline_free(struct eventline *l);
/* "2026-01-15 10:30:45.123456  comm  tid flags [cpu] sec.usec: sys:name: fields" with a newline,
 * then lines of registers if the sample has them; escaped for a terminal; *len bytes without a
 * NUL. Valid until the next call; NULL: out of memory. */
const char *eventline_text(struct eventline *l, const struct sample_view *s, const char *comm,
			   bool timestamp, size_t *len);
#endif
