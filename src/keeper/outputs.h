/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that the keeper writes for a run that may not: those that the command line names, whole or
 * under their temporary names (outfile.h), and no others.
 */
#ifndef KEEPER_OUTPUTS_H
#define KEEPER_OUTPUTS_H

#include "base/options.h"
#include "base/outfile.h"

/* An order as bytes, which end with a NUL: how many, or -errno. */
ssize_t outputs_pack(const struct outfile_order *order, char *bytes, size_t size);
/* Does what the bytes say, as outfile_do(); -EPERM: it is about another file. */
int outputs_do(const struct opt_strings *named, const char *bytes, size_t size, enum outfile_op *op);
#endif
