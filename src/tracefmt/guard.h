/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libtraceevent takes on trust when it writes an event as text: that dynamic fields
 * lie within the raw data, and that what a field counts (__print_hex(buf, REC->len)) is
 * there. The kernel keeps to that; a recording need not.
 */
#ifndef TRACEFMT_GUARD_H
#define TRACEFMT_GUARD_H

#include "tracefmt/tracefmt.h"

#include <event-parse.h>

enum {
	GUARD_MAX_RAW = UINT16_MAX,
	/* From where raw data begins: an offset, a count of words, each up to its length. */
	GUARD_REACH = GUARD_MAX_RAW + 8 * GUARD_MAX_RAW + 8,
};

/* Whether the text has the lines of a format up to its "print fmt", and fields are declared as
 * the kernel declares them: what is not, or is cut, libtraceevent follows through null pointers. */
bool guard_format(const char *text, size_t len);
/* The first dynamic field that reaches beyond the raw data, or NULL. */
const struct trace_field *guard_dynamic(const struct tracefmt *fmt, const void *raw,
					uint32_t raw_size);
/* Whether "print fmt" reads nothing beyond GUARD_REACH with this raw data. */
bool guard_print_fmt(struct tep_event *ev, const void *raw, uint32_t raw_size);

#endif
