/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts writing to the disk at once, instead of when the kernel finds the pages old (30 s), so
 * that a power cut loses the last seconds only. A thread does it, because it can block. It does not
 * ask the file system for a commit, which would slow down all other writers.
 */
#ifndef PERFDATA_WRITE_WRITEBACK_H
#define PERFDATA_WRITE_WRITEBACK_H

struct writeback;

/* NULL if there can be no thread; then the kernel writes when it likes. */
struct writeback *writeback_new(void);
/* Starts writing the dirty pages of the file. Never blocks. */
void writeback_ask(struct writeback *b, int fd);
void writeback_free(struct writeback *b);
#endif
