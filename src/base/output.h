/* SPDX-License-Identifier: Apache-2.0 */
/* -o FILE: both output streams go to a file (outfile.h), which can be opened anew (log rotation). */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/fault.h"

struct output {
	const char *path;      /* NULL: the streams are left alone */
	int saved_stderr;      /* where to complain when the file itself fails; -1 without */
};

/* Opens the file for both streams, emptied. 0, or -1 with f. */
int output_start(struct output *out, struct fault *f);
/* Opens it anew, not emptied. 0 or -errno. */
int output_reopen(const struct output *out);
/* Gives stderr back, for a last complaint. */
void output_end(struct output *out);
#endif
