/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that is made as a whole: written under another name beside it and renamed at the
 * end, so that nobody ever sees half of it, and an older one stays if writing fails. Under
 * sudo it is made with the rights of the caller and belongs to the caller.
 *
 * /dev/stdout, /dev/stderr, /dev/fd/N, "-" (stdout) and what is no regular file (a pipe,
 * /dev/null) are written to directly.
 */
#ifndef BASE_ARTIFACT_H
#define BASE_ARTIFACT_H

#include "base/fault.h"

#include <stdio.h>

struct artifact {
	FILE *out;               /* NULL: not open */
	const char *option;      /* for messages: "--flame-graph" */
	const char *path;        /* borrowed, as option */
	char *temporary;         /* NULL: written directly */
	int fd, error;           /* what out writes to; errno of the first write that failed */
};

/* 0, or -1 with f. The struct stays where it is until it is closed or abandoned. */
int artifact_open(struct artifact *a, const char *option, const char *path, struct fault *f);
/* The file is there, or -1 with f and all is as before. */
int artifact_close(struct artifact *a, struct fault *f);
/* What was to be whole won't be: a file is abandoned, what is written directly has what came before.
 * -1 with f, whose exit code is EXIT_INTERRUPTED. */
int artifact_interrupt(struct artifact *a, struct fault *f);
/* As if never opened; also after a close and on a zeroed one. */
void artifact_abandon(struct artifact *a);
/* Whether it could be made, for a complaint before the work is done. 0, or -1 with f. */
int artifact_check(const char *option, const char *path, struct fault *f);
#endif
