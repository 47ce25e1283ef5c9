/* SPDX-License-Identifier: Apache-2.0 */
/* Names from the kernel or another process may have control characters, which are escaped before they are printed on
 * a terminal. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>

/* Copies text, with \xNN for control characters (C0, DEL, C1 as UTF-8), invalid UTF-8, direction controls, line and
 * paragraph separators. Always terminated, truncated to buf. Returns the length written. */
size_t escape_terminal(const char *text, size_t len, char *buf, size_t size);
/* The whole text escaped, malloc'ed; NULL: out of memory. */
char *escape_whole(const char *text);
#endif
