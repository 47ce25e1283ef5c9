/* SPDX-License-Identifier: Apache-2.0 */
/* Results of `perf-prof check`: found in a process of the user, printed here. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Goes through a pipe from a forked child: pointers in it must be to constants. */
struct checked {
	const char *name, *group, *what;
	int32_t code;                /* errno; 0: it works */
	bool partial;                /* works in user space only */
	char said[256], remedy[512];
};

struct check_who {
	char user[64];
	uint32_t uid;
	uint64_t capabilities;       /* effective */
	int32_t paranoid;            /* INT32_MIN: cannot be read */
	char kernel[65];
};

struct checkup {
	struct check_who who;
	struct checked *rows;
	size_t n;
};

void checkup_text(const struct checkup *c, FILE *out);
/* 0, -ENOMEM or -EIO. */
int checkup_json(const struct checkup *c, FILE *out);
#endif
