/* SPDX-License-Identifier: Apache-2.0 */
/* The text of events: by the program of their "print fmt", or else field by field. */
#ifndef TRACEFMT_PRINTER_H
#define TRACEFMT_PRINTER_H

#include "tracefmt/tracefmt.h"

struct printer;

struct printer *printer_new(void);
void printer_free(struct printer *p);
void printer_symbols(struct printer *p, const struct tracefmt_symbols *symbols);
void printer_add_texts(struct printer *p, const char *lines, size_t len);
/* Valid until the next call; *len bytes and a NUL. */
const char *printer_text(struct printer *p, const struct tracefmt *fmt, const void *raw,
			 uint32_t raw_size, size_t *len);

/* A "print fmt", compiled when it is first used. */
struct event_text;

/* From the whole text of a format. NULL: out of memory. */
struct event_text *event_text_new(const char *text, size_t len);
void event_text_free(struct event_text *t);

#endif
