/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "print fmt" of an event, compiled to a flat program that writes the event's text from its raw
 * bytes, as the kernel would. Numbers follow C's rules; libtraceevent would treat all of them as
 * unsigned words.
 *
 * Formats with unknown parts (kernel functions, statements) are not compiled: such an event is
 * printed as a list of its fields.
 */
#ifndef TRACEFMT_PRINTFMT_H
#define TRACEFMT_PRINTFMT_H

#include "tracefmt/tracefmt.h"

struct printfmt;

/* Compiles the text after "print fmt: ". NULL with the reason in *why. Refers to fmt. */
struct printfmt *printfmt_compile(const struct tracefmt *fmt, const char *text, size_t len,
				  const char **why);
void printfmt_free(struct printfmt *p);
/* Writes the event's text into buf, without a NUL. Returns the text's whole length; it is cut off
 * at size. raw_size must be at least fmt->min_size, and all dynamic fields must lie within it.
 * symbols may be NULL: then functions are printed as addresses. */
size_t printfmt_write(const struct printfmt *p, const void *raw, uint32_t raw_size,
		      const struct tracefmt_symbols *symbols, char *buf, size_t size);

#endif
