/* SPDX-License-Identifier: Apache-2.0 */
/* Events as libtraceevent prints them: what our own text is held against, in tests and benchmarks. */
#ifndef LIBRARY_PRINT_H
#define LIBRARY_PRINT_H

#include "tracefmt/tracefmt.h"

#include <event-parse.h>

struct library;

/* NULL without memory. */
struct library *library_new(void);
void library_free(struct library *l);
/* The event as libtraceevent has it, from this kernel's format; NULL: it doesn't understand how the
 * event prints, or could divide by 0. */
const struct tep_event *library_event(struct library *l, const char *tracefs, const struct tracefmt *fmt);
/* The text of raw data of such an event, valid until the next call. That counts and widths in it are small is the
 * caller's business: libtraceevent reads what they say. */
const char *library_text(struct library *l, const void *raw, uint32_t raw_size, size_t *len);
#endif
