/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that others have written, recordings above all, are not parsed with root's rights. Once
 * they are open, before the first byte is looked at, the process becomes, for good (identity.h),
 *
 *   - under sudo, the user who ran it: outputs are written as that user;
 *   - as root itself, where one of the files is not root's alone, nobody else: outputs that the
 *     command line names are written by a keeper.
 *
 * What root alone may read for their sake (programs' symbols, the addresses of the kernel) comes
 * from the keeper, too: see grants.h.
 */
#ifndef KEEPER_READING_H
#define KEEPER_READING_H

#include "base/fault.h"
#include "base/opener.h"
#include "base/options.h"
#include "keeper/identity.h"

struct keeper;

/* All zero: it reads with the rights that there are. */
struct reading {
	struct identity who;
	struct keeper *keeper;
};

struct reading_files {
	const int *inputs;               /* descriptors; -1: none */
	size_t ninputs;
	struct opt_strings outputs;
};

/* To be called while there is one thread. 0, or -1 with f: then nothing may be read. */
int reading_begin(struct reading *r, const struct reading_files *files, struct fault *f);
/* Of what belongs to the machine. */
const struct opener *reading_opener(const struct reading *r);
void reading_end(struct reading *r);
#endif
