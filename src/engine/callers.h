/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that are left out of stacks: those of a function that nobody asks about, such as what runs a notebook's cells. */
#ifndef ENGINE_CALLERS_H
#define ENGINE_CALLERS_H

#include "base/options.h"
#include "engine/callstacks.h"

/* The number of frames below the innermost one of these functions (NULL: of none): without it and its callers; 1
 * if it is itself the innermost. n if there is no such frame; else *found is set. "Cart::add" and "add" are shop::Cart::add, too,
 * and clock_gettime is clock_gettime@@GLIBC_2.17. */
size_t callers_cut(const struct frame *const *frames, size_t n, const struct opt_strings *functions, bool *found);
#endif
