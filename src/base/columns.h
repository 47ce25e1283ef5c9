/* SPDX-License-Identifier: Apache-2.0 */
/* Width of text on a terminal. */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H

#include <stddef.h>

/* Columns of UTF-8 text without control characters (see escape.h): 2 for East Asian wide characters
 * and emoji, 0 for combining marks. Independent of the locale; an invalid byte counts 1. */
size_t columns_of(const char *text);
/* The columns of the text's first len bytes, which are whole characters. */
size_t columns_of_part(const char *text, size_t len);
/* Bytes of the longest prefix of whole characters that fits into `columns`. */
size_t columns_fit(const char *text, size_t columns);
#endif
