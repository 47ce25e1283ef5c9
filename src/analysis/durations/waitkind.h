/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kind of thing a thread waited for: a mutex, a condition variable, a pipe, ... The function of the C library that called
 * futex(2) tells, if the wait has a stack. Without one, the arguments of futex tell some kinds; the others stay unknown.
 */
#ifndef ANALYSIS_DURATIONS_WAITKIND_H
#define ANALYSIS_DURATIONS_WAITKIND_H

#include "engine/callstacks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of kinds, of a bit each; 0: not known. Several: an address was used for different things. */
typedef uint32_t waitkinds_set;
enum { WAITKIND_SIZE = 128 };

/* The innermost function of the C library, or of another one with its own locks, that waits. */
waitkinds_set waitkind_of_stack(const struct callstack *s);
/* A wait for a futex. */
struct waitkind_futex {
	uint64_t op, value;          /* arguments of futex(2) */
	bool varies;                 /* there were waits for it with other values */
	bool is_joined;              /* the value is a thread of the process */
	uint64_t into, size;         /* of the variable with the futex: the offset, and all bytes; 0: not known */
};
waitkinds_set waitkind_of_futex(const struct waitkind_futex *f);
/* The kind of a wait in another call. name: of its file, pipe or socket, or "". */
waitkinds_set waitkind_of_call(const char *call, const char *name);
/* "mutex", "condvar, mutex"; NULL: not known. Returns buf or a string that stays valid. */
const char *waitkind_text(waitkinds_set kinds, char *buf, size_t size);

/* The kinds of texts, by their numbers of words.h. Initialized by zeros. */
struct waitkinds {
	struct waitkinds_of {
		waitkinds_set stacks, calls;
	} *v;
	size_t n;
};

void waitkinds_add(struct waitkinds *k, uint64_t word, const struct waitkinds_of *of);
/* What stacks say; if they say nothing, what calls say. */
waitkinds_set waitkinds_get(const struct waitkinds *k, uint64_t word);
void waitkinds_free(struct waitkinds *k);
#endif
