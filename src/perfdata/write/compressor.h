/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into compressed records, as perf record -z writes them: one stream of zstd over
 * the file, flushed with each piece, so that a file that ends early is whole up to there.
 */
#ifndef PERFDATA_WRITE_COMPRESSOR_H
#define PERFDATA_WRITE_COMPRESSOR_H

#include "perfdata/write/format.h"

/* The largest piece; readers keep that much for what a record unpacks to. */
enum { COMPRESSOR_INPUT = 1 << 20 };

struct compressor;

/* NULL: this was built without libzstd, or there is no memory. */
struct compressor *compressor_new(void);
void compressor_free(struct compressor *z);
/* The data of the feature that readers need. */
void compressor_describe(struct bytes *b);
/* The records that n bytes (at most COMPRESSOR_INPUT) become, valid until the next call; *n is
 * their size. NULL: zstd failed. */
const char *compressor_run(struct compressor *z, const char *data, size_t size, size_t *n);
/* The next piece begins a file. */
void compressor_restart(struct compressor *z);
#endif
