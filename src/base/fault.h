/* SPDX-License-Identifier: Apache-2.0 */
/* A failure to report: the text to print and the exit code. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stddef.h>

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,     /* failed while running */
	EXIT_USAGE = 2,      /* wrong usage */
	EXIT_INTERRUPTED = 130,   /* before there was a result; or by a second SIGINT */
};

struct fault {
	int exit_code;       /* 0 = nothing is wrong */
	int error;           /* errno of what failed; 0: it has none, or it does not matter */
	char text[2048];     /* what, why, what to do; no final newline */
};

/* Fills f (which may be NULL) and returns -1, so that callers can `return fault_…`. */
int fault_set(struct fault *f, int exit_code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Wrong usage: exit code 2. */
#define fault_usage(f, ...) fault_set(f, EXIT_USAGE, __VA_ARGS__)
/* "cannot read PATH: why" for an errno or an -errno; fills f and returns -1 like the others. */
int fault_unreadable(struct fault *f, const char *path, int error);
/* "perf-prof: TEXT" to stderr. */
void fault_print(const struct fault *f);
#endif
