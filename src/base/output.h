/* SPDX-License-Identifier: Apache-2.0 */
/* -o FILE: redirects the output streams to a file (outfile.h), which can be reopened for log rotation. */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/fault.h"

#include <stdbool.h>
#include <stdio.h>

struct output {
	const char *path;      /* NULL: not redirected */
	bool results_alone;    /* for programs (JSON, CSV): messages stay on stderr */
	int saved_stderr;      /* for messages when writing the file fails; -1: none */
};

/* Creates or empties the file, and redirects both streams to it, or stdout alone. 0, or -1 with f. */
int output_start(struct output *out, struct fault *f);
/* Reopens it without emptying it. 0 or -errno. */
int output_reopen(const struct output *out);
/* Restores stderr, for a last message. */
void output_end(struct output *out);
/* Flushes a stream to a descriptor. 0, or the errno of what could not be written: of a write before, within a print, EPIPE
 * or EIO, since glibc has dropped its data and its errno may be gone. */
int output_flush(FILE *out);
#endif
