/* SPDX-License-Identifier: Apache-2.0 */
/* The characters of str objects. */
#ifndef PYSTACK_TEXT_H
#define PYSTACK_TEXT_H

#include "pystack/offsets.h"

/* The first TEXT_MOST characters of the str object at addr, as UTF-8 with a final '\0'; longer ones end in "...". malloc'ed.
 * NULL: there is no readable str, or out of memory. */
enum { TEXT_MOST = 1024 };
char *text_at(const struct memory *m, const struct offsets *l, uint64_t addr);
#endif
