/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build ids of mapped files, for a recording: a later reader on another machine compares them to
 * find the same file. They are not requested from the kernel (sideband.c says why), but read here,
 * once per file.
 */
#ifndef STREAM_CODE_BUILDIDS_H
#define STREAM_CODE_BUILDIDS_H

#include <linux/perf_event.h>

struct buildids;
struct codefiles;

/* files: gets the mappings of code in files with a build id, and forks; or NULL. */
struct buildids *buildids_new(struct codefiles *files);
void buildids_free(struct buildids *b);
/* Returns an MMAP2 record with the file's build id in place of its inode, if it can be read; else,
 * and for other records, the record itself. Valid until the next call. b may be NULL. */
const struct perf_event_header *buildids_mark(struct buildids *b, const struct perf_event_header *rec);
#endif
