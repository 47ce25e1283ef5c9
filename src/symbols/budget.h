/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time limits for reading files with names. Files of ours are those of root, of the user who runs perf-prof, and of
 * the user who ran sudo. A file of anybody else has a limit of its own; so have all files of its owner, and all such
 * files together. These limits grow with the run, so that a long run may read many files. Once the run is asked to
 * stop, no such file is read for longer than half a second. A file of ours has a minute; after the stop, all of them
 * have ten seconds.
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
	} owners[BUDGET_OWNERS];     /* the last one is shared by all other users */
	unsigned int nowners;
	uint64_t began;              /* when the first file was read */
	uint64_t strangers;          /* ns spent on all files that are not ours */
	uid_t caller;                /* the user who ran sudo; 0: none */
	uid_t owner;                 /* owner of the current file */
	_Atomic bool ended;          /* nobody waits for results any more */
	uint64_t *file, since;       /* time spent on the current file before; since when it is read; NULL: no file */
};

/* Call it in the thread that starts others: it reads the environment. */
void budget_init(struct budget *b, uint64_t (*stopped)(void *ctx), void *ctx);
/* Starts reading a file of that owner, which has taken *ns so far. False: no time is left. */
bool budget_begin(struct budget *b, uid_t owner, uint64_t *ns);
/* Whether the time for the current file is up; for parser_bound(). */
bool budget_is_over(void *budget);
/* Ends reading the current file. */
void budget_end(struct budget *b);
#endif
