/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that were renamed, in two measurements of folded stacks of waits. A name in such stacks may contain the program's:
 * that of a task, "srv", the one a task waits for, "[because of srv]", and that of a lock, "futex cache (/build/srv)".
 */
#ifndef ANALYSIS_PROFILES_PROGRAMS_H
#define ANALYSIS_PROFILES_PROGRAMS_H

#include "analysis/profiles/shares.h"
#include "report/folded.h"

struct programs;

struct programs *programs_new(void);   /* NULL: out of memory */
void programs_free(struct programs *p);
/* A stack of waits, which begins with the task, or with what it waits for. Without memory, programs stay apart. */
void programs_take(struct programs *p, enum share_side side, const struct folded *f, const struct folded_stack *stack);
/* "futex cache (srv)" for "futex cache (/build/srv)", to be freed; NULL: it has no file, or there is no memory. */
char *programs_without_folder(const char *name);
/* Before shares_compare(): joins names that differ only in the name of a program that was renamed. Returns the number of pairs of
 * such programs, whose names are valid as long as p. */
size_t programs_match(struct programs *p, struct shares *s, struct shares_move pairs[SHARES_MOVES]);
#endif
