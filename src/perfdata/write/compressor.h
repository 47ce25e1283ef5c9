/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs records into compressed records, as perf record -z does: one zstd stream for the file,
 * flushed after each piece, so that a file that ends early can be read up to there.
 */
#ifndef PERFDATA_WRITE_COMPRESSOR_H
#define PERFDATA_WRITE_COMPRESSOR_H

#include "perfdata/write/format.h"

/* The largest piece. Readers allocate that much for an unpacked record. */
enum { COMPRESSOR_INPUT = 1 << 20 };

struct compressor;

/* NULL without libzstd or memory. */
struct compressor *compressor_new(void);
void compressor_free(struct compressor *z);
/* Adds the data of the feature that readers need. */
void compressor_describe(struct bytes *b);
/* Compresses n bytes (at most COMPRESSOR_INPUT) into records that are valid until the next call; *n is
 * their size. NULL if zstd fails. */
const char *compressor_run(struct compressor *z, const char *data, size_t size, size_t *n);
/* The next piece starts a new file. */
void compressor_restart(struct compressor *z);
#endif
