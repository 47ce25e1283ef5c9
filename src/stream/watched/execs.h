/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children of watched tasks whose events the kernel has removed at exec (tasks/unwatched.h), found in the records of tasks.
 * Of such a process there is a COMM record of the exec, then an EXIT record, although it goes on, and no record of a mapping
 * in between, although every program maps its code. The records come from several rings: they are compared by their times.
 */
#ifndef STREAM_WATCHED_EXECS_H
#define STREAM_WATCHED_EXECS_H

#include <perfevent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct execs;

/* NULL: out of memory; the other functions then do nothing. */
struct execs *execs_new(void);
void execs_free(struct execs *e);
void execs_see(struct execs *e, const struct pev_record *rec);
/* Number of such processes without those that skip() excludes. *pid, name: of the first of them. 0 if records were lost. */
size_t execs_removed(const struct execs *e, bool (*skip)(const void *ctx, pid_t pid), const void *ctx, pid_t *pid,
		     const char **name);
#endif
