/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a call chain as a line of text: "    55cb265bf4ce one_half+0x16 (/home/me/job) job.c:155". */
#ifndef ENGINE_FRAMELINE_H
#define ENGINE_FRAMELINE_H

#include "engine/callstacks.h"

#include <stdio.h>

/* columns: names and paths get shorter to fit; 0: no limit. */
void frameline_print(const struct frame *frame, size_t columns, FILE *out);
#endif
