/* SPDX-License-Identifier: Apache-2.0 */
/* Names of asyncio tasks as frames of stacks: "task NAME", each name with a number of its own. */
#ifndef ANALYSIS_PROFILES_TASKNAMES_H
#define ANALYSIS_PROFILES_TASKNAMES_H

#include "engine/callstacks.h"
#include "table/groups.h"

/* A program that names each of its tasks anew may have any number: further ones are "task [others]". */
enum { TASKNAMES_MOST = 1 << 14 };

/* The frame; its name is valid until tasknames_free(). all: zeroed at first. */
struct script_frame tasknames_frame(struct groups *all, const char *task);
void tasknames_free(struct groups *all);
#endif
