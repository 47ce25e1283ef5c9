/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that the keeper writes for a run that may not write them: those named on the command line
 * and their temporary files (outfile.h), no others.
 */
#ifndef KEEPER_OUTPUTS_H
#define KEEPER_OUTPUTS_H

#include "base/options.h"
#include "base/outfile.h"

/* Packs an order into bytes, of which the last is a NUL. Returns how many, or -errno. */
ssize_t outputs_pack(const struct outfile_order *order, char *bytes, size_t size);
/* Carries out the packed order, as outfile_do(); *op is its kind. -EPERM: the order names another file. */
int outputs_do(const struct opt_strings *named, const char *bytes, size_t size, enum outfile_op *op);
#endif
