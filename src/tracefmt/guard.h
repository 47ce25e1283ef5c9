/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks before an event is printed: that its format is one that the kernel could have written,
 * since libtraceevent does not check it, and that its dynamic fields lie within the raw data.
 */
#ifndef TRACEFMT_GUARD_H
#define TRACEFMT_GUARD_H

#include "tracefmt/tracefmt.h"

/* Whether the text has the lines of a format before its "print fmt", with fields declared as the
 * kernel does. Otherwise, or if the text is truncated, libtraceevent would dereference null pointers. */
bool guard_format(const char *text, size_t len);
/* The same format with lines that are not well-formed replaced by fields of bytes, or left out. NULL: out of memory. */
char *guard_mended(const char *text, size_t len);
/* The first dynamic field that reaches beyond the raw data, or NULL. */
const struct trace_field *guard_dynamic(const struct tracefmt *fmt, const void *raw,
					uint32_t raw_size);
#endif
