/* SPDX-License-Identifier: Apache-2.0 */
/* Names that come from the kernel or another process may hold control characters:
 * they are made visible before they reach a terminal. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>

/* Copies text with control characters (C0, DEL, C1 as UTF-8, invalid UTF-8, controls of direction, line and
 * paragraph separators) as \xNN, always terminated, cut where buf ends. Returns the length written. */
size_t escape_terminal(const char *text, size_t len, char *buf, size_t size);
/* The whole of it, malloc'ed; NULL without memory. */
char *escape_whole(const char *text);
#endif
