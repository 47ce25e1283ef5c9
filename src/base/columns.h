/* SPDX-License-Identifier: Apache-2.0 */
/* How wide text is on a terminal. */
#ifndef BASE_COLUMNS_H
#define BASE_COLUMNS_H

#include <stddef.h>

/* Columns of UTF-8 text without control characters (see escape.h): 2 for those of East
 * Asia and emoji, 0 for marks that combine with what stands before them. No locale is
 * asked: a byte that is no UTF-8 counts 1. */
size_t columns_of(const char *text);
/* Bytes of text, whole characters, that fit into so many columns. */
size_t columns_fit(const char *text, size_t columns);
#endif
