/* SPDX-License-Identifier: Apache-2.0 */
/* How many calls of which tasks, by name: "stat_prog 10, go 4". */
#ifndef ANALYSIS_SYSCALLS_COMMCOUNTS_H
#define ANALYSIS_SYSCALLS_COMMCOUNTS_H

#include <stddef.h>
#include <stdint.h>

enum { COMMCOUNTS_TEXT = 320 };   /* bytes that hold every text */

/* Initialized by zeros. */
struct commcounts {
	struct commcount *all;
	uint64_t total;
};

/* comm: NULL, if it is not known. */
void commcounts_add(struct commcounts *c, const char *comm);
/* The three names with the most calls, fit for a terminal; of the rest the sum. Returns buf. */
char *commcounts_text(struct commcounts *c, char *buf, size_t size);
/* [{"NAME": "stat_prog", "calls": 10}, ...]: all names, that with the most calls first. NULL: out of memory. */
struct json_object *commcounts_json(struct commcounts *c, const char *name);
void commcounts_free(struct commcounts *c);
#endif
