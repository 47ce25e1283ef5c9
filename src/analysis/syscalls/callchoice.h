/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that the user has chosen by name: "connect,unlink*,rename*". */
#ifndef ANALYSIS_SYSCALLS_CALLCHOICE_H
#define ANALYSIS_SYSCALLS_CALLCHOICE_H

#include "base/fault.h"

#include <stdbool.h>
#include <stdint.h>

/* Initialized by zeros. */
struct callchoice {
	const char *names;       /* NULL: all */
	uint8_t known[1024];     /* by the call's number; 0: not looked up */
};

/* For the option: each name has to be that of a call. 0, or -1 with f. */
int callchoice_parse(const char *text, void *names, struct fault *f);
bool callchoice_has(struct callchoice *c, int64_t number);
#endif
