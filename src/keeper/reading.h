/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files from other users, such as recordings, are not parsed with root's rights. When the files are
 * open, before the first byte is read, the process changes to another user for good (identity.h):
 *
 *  - under sudo, to the user who ran sudo, who also writes the outputs;
 *  - for root itself, if a file belongs to another user or others may write to it, to a user
 *    without privilege. A keeper writes the outputs named on the command line.
 *
 * A keeper also reads for the recording what only root may read: symbols of programs, addresses of
 * the kernel (grants.h).
 */
#ifndef KEEPER_READING_H
#define KEEPER_READING_H

#include "base/fault.h"
#include "base/opener.h"
#include "base/options.h"
#include "keeper/identity.h"

struct keeper;

/* All zero: the process keeps its rights. */
struct reading {
	struct identity who;
	struct keeper *keeper;
};

struct reading_files {
	const int *inputs;               /* descriptors; -1: none */
	size_t ninputs;
	struct opt_strings outputs;
};

/* Opens an input, before reading_begin(). A FIFO is opened without waiting for a writer, so that one program can write
 * to several, one after the other. The descriptor, or -1 with f. */
int reading_open(const char *path, struct fault *f);
/* Waits until a FIFO has data: before a writer has opened it, read(2) would return 0, as at its end. -1: does nothing. */
void reading_wait(int fd);
/* Also restricts the modes of files that are written from then on. Call it while there is one thread. 0, or -1 with f: then read nothing. */
int reading_begin(struct reading *r, const struct reading_files *files, struct fault *f);
/* For files of this machine, such as programs and kallsyms: through the keeper, if there is one. */
const struct opener *reading_opener(const struct reading *r);
void reading_end(struct reading *r);
#endif
