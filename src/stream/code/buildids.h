/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build ids of what is mapped, for a recording: who reads it later, elsewhere, knows by them
 * whether a file is the one that ran. The kernel isn't asked for them (sideband.c says why),
 * so they are read here, of each file once.
 */
#ifndef STREAM_CODE_BUILDIDS_H
#define STREAM_CODE_BUILDIDS_H

#include <linux/perf_event.h>

struct buildids;

struct buildids *buildids_new(void);
void buildids_free(struct buildids *b);
/* An MMAP2 record as it is to be written: with the file's build id in the place of its
 * inode where that can be had, else as it is. Valid until the next call. b may be NULL. */
const struct perf_event_header *buildids_mark(struct buildids *b, const struct perf_event_header *rec);
#endif
