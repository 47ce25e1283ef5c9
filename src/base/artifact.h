/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that appears only when it is complete: it is written under a temporary name in the same
 * folder and renamed at the end. If writing fails, the old file stays. Under sudo the file is
 * written with the rights of the user who ran sudo, and belongs to that user.
 *
 * /dev/stdout, /dev/stderr, /dev/fd/N, "-" (stdout) and files that are not regular (a pipe,
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
	int fd, error;           /* destination of out; errno of the first failed write */
};

/* 0, or -1 with f. The struct must not move until it is closed or abandoned. */
int artifact_open(struct artifact *a, const char *option, const char *path, struct fault *f);
/* Completes the file. -1 with f: nothing has changed. */
int artifact_close(struct artifact *a, struct fault *f);
/* The run was interrupted: abandons a file; output written directly stays incomplete. -1 with f,
 * whose exit code is EXIT_INTERRUPTED. */
int artifact_interrupt(struct artifact *a, struct fault *f);
/* Discards the file. Does nothing after a close or on a zeroed struct. */
void artifact_abandon(struct artifact *a);
/* Whether the file could be written, to report an error before the work is done. 0, or -1 with f. */
int artifact_check(const char *option, const char *path, struct fault *f);
#endif
