/* SPDX-License-Identifier: Apache-2.0 */
/* Line tables of code objects. */
#ifndef PYSTACK_LINES_H
#define PYSTACK_LINES_H

#include "pystack/offsets.h"

/* The line of the instruction at that offset (in bytes; negative: before the first one) of a code object whose first
 * line is `first`. 0: it has none, or the table is damaged. */
int lines_find(enum line_form form, const uint8_t *table, size_t size, int first, int64_t offset);
#endif
