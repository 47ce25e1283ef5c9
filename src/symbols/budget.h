/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long files may be read for names. Files of ours are those of root, of the user who runs perf-prof, and of the user
 * who ran sudo. A file of anybody else has a bound of its own; so have all files of its owner, and all such files
 * together. These bounds grow with the run, so that a long one may read many files. Once the run is asked to stop, no
 * such file is read for longer than half a second. A file of ours has a minute; after the stop, all of them have ten seconds.
 */
#ifndef SYMBOLS_BUDGET_H
#define SYMBOLS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { BUDGET_OWNERS = 64 };

struct budget {
	/* When the run was asked to stop (CLOCK_MONOTONIC, ns); 0: it was not. May be NULL. */
	uint64_t (*stopped)(void *ctx);
	void *ctx;
	struct budget_owner {
		uid_t uid;
		uint64_t ns;
	} owners[BUDGET_OWNERS];     /* the last one is of all that have no place */
	unsigned int nowners;
	uint64_t began;              /* with the first file */
	uint64_t strangers;          /* ns that all their files took */
	uid_t caller;                /* who ran sudo; 0: nobody did */
	uid_t owner;                 /* whose file is being read */
	_Atomic bool ended;          /* nobody waits for anything any more */
	uint64_t *file, since;       /* what that one took before; since when it is read; NULL: none is */
};

/* By the thread that starts others: it reads the environment. */
void budget_init(struct budget *b, uint64_t (*stopped)(void *ctx), void *ctx);
/* A file of that owner, which has taken *ns so far, is read from now on. False: its time is up. */
bool budget_begin(struct budget *b, uid_t owner, uint64_t *ns);
/* Whether the time of the file that is being read is up; for parser_bound(). */
bool budget_is_over(void *budget);
/* It is read no more. */
void budget_end(struct budget *b);
#endif
