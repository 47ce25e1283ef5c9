/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the name of a picture's file says: its kind, by the suffix. A name without one gets that
 * of the usual kind; what can only be a mistake is refused: a folder, the next word of the command
 * line (-- ./job), a kind that can't be made (.png).
 */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>

struct picture {
	const char *option;              /* for messages: "--flame-graph" */
	const char *const *suffixes;     /* of the kinds there are, the usual one first; then NULL */
};

struct picture_file {
	char *path;                      /* to be freed */
	size_t kind;                     /* which of the suffixes */
	bool renamed;                    /* it isn't the name that was given */
};

/* 0, or -1 with f. A stream's name (/dev/stdout, "-") stays as it is. */
int picture_name(const struct picture *p, const char *path, struct picture_file *file, struct fault *f);
/* Where the name isn't the one that was given: a hint that says so (base/note.h). */
void picture_tell(const struct picture *p, const char *path, const struct picture_file *file, int verbose);
#endif
