/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a call chain as a frame of a folded stack: its name, and its kind, from which a picture has its colour. */
#ifndef ENGINE_FRAMEFOLD_H
#define ENGINE_FRAMEFOLD_H

#include "engine/callstacks.h"
#include "report/folded.h"

/* As folded_frame(). */
uint32_t framefold(struct folded *f, const struct frame *frame);
/* The build of a function without a name, as folded_set_build() has it; "": it has a name, or the build is not known. */
const char *framefold_build(const struct frame *frame, char build[FOLDED_BUILD_SIZE]);
/* The functions of a stack, outermost first: "main;work;pthread_mutex_lock", to be freed. NULL: no stack, or out of memory. */
char *framefold_text(const struct callstack *stack);
#endif
