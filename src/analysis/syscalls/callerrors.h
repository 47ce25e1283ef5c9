/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of failed system calls: a row for each task, call, error and (--errors) path; with --paths, of all calls that have a
 * path; and the stacks that made the calls.
 */
#ifndef ANALYSIS_SYSCALLS_CALLERRORS_H
#define ANALYSIS_SYSCALLS_CALLERRORS_H

#include "rows/question.h"
#include "table/words.h"

#include <stddef.h>
#include <stdint.h>

/* How many calls of which tasks, by name: "stat_prog 10, go 4". */

enum { COMMCOUNTS_TEXT = 320 };   /* bytes that hold every text */

/* Initialized by zeros. */
struct commcounts {
	struct groups all;           /* of struct commcount */
	uint64_t total;
};

/* comm: NULL, if it is not known. */
void commcounts_add(struct commcounts *c, const char *comm);

/* Initialized by zeros. */
struct callerrors {
	bool paths;                  /* rows have paths, the most frequent is first, and text has the first 100 */
	bool all;                    /* calls that did not fail are in it, too */
	struct commcounts unseen;    /* calls whose path no probe saw */
	struct commcounts unseen_calls;   /* the same by call, instead of by program */
	struct commcounts nowhere;   /* calls that --match leaves out, with a path relative to a folder that is not known */
	bool told;                   /* that paths are not known */
	bool has_flags;              /* it is known for what calls open files */
	bool opens;                  /* and some do */
	bool two;                    /* some calls have two paths, or may have them */
	struct distributions rows;   /* durations */
	struct words words;          /* paths, and names of tasks for stacks */
	struct groups stacks;        /* of struct callerror_stack */
	uint64_t counted, refused;   /* failures with stacks, and those that there was no memory for */
};

struct callerror {
	const char *path;            /* "": it has none */
	size_t second;               /* where the second path begins in it, behind ", "; 0: it has none */
	uint32_t flags;              /* openflags_code(); 0: it opens nothing, or it is not known for what */
	struct callstack *stack;     /* NULL: it has none */
};

/* A call that failed with h->error (all: 0, if it did not). */
void callerrors_add(struct callerrors *e, struct question *q, const struct happening *h, const struct callerror *one);
/* A call whose path no probe saw. */
void callerrors_add_unseen(struct callerrors *e, const struct happening *h);
/* Prints the table since `from` in the format of the run; the next one begins anew. why: why paths are not known; "": they are. */
void callerrors_print(struct callerrors *e, struct question *q, uint64_t from, const char *why);
void callerrors_free(struct callerrors *e);
#endif
