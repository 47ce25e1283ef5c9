/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "print fmt" of an event, compiled once: a flat program that writes the event's text
 * straight from its raw bytes, as the kernel would. Numbers follow C's rules, where
 * libtraceevent takes every one for an unsigned word.
 *
 * What isn't understood (functions of the kernel, statements) isn't compiled: such an
 * event prints as its fields.
 */
#ifndef TRACEFMT_PRINTFMT_H
#define TRACEFMT_PRINTFMT_H

#include "tracefmt/tracefmt.h"

struct printfmt;

/* From the text behind "print fmt: ". NULL with the reason in *why. It refers to fmt. */
struct printfmt *printfmt_compile(const struct tracefmt *fmt, const char *text, size_t len,
				  const char **why);
void printfmt_free(struct printfmt *p);
/* Writes the event's text into buf, no NUL behind it. Returns how long it is; what is
 * longer than size was cut. raw_size is at least fmt->min_size, and no dynamic field
 * reaches beyond it. symbols may be NULL: then functions are addresses. */
size_t printfmt_write(const struct printfmt *p, const void *raw, uint32_t raw_size,
		      const struct tracefmt_symbols *symbols, char *buf, size_t size);

#endif
