/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file name of a picture: its suffix selects the kind. A name without a suffix gets the usual
 * one. Names that can only be mistakes are refused: a folder, the next word of the command line
 * (-- ./job), an unknown suffix (.png, .foo).
 */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include "base/fault.h"

#include <stdbool.h>
#include <stddef.h>

struct picture {
	const char *option;              /* for messages: "--flame-graph" */
	const char *const *suffixes;     /* supported, the usual one first; ends with NULL */
};

struct picture_file {
	char *path;                      /* to be freed */
	size_t kind;                     /* index in suffixes */
	bool renamed;                    /* a suffix was added */
};

/* 0, or -1 with f. Names of streams (/dev/stdout, "-") are unchanged. */
int picture_name(const struct picture *p, const char *path, struct picture_file *file, struct fault *f);
/* If a suffix was added, prints a hint with the new name (base/note.h). */
void picture_tell(const struct picture *p, const char *path, const struct picture_file *file, int verbose);
#endif
