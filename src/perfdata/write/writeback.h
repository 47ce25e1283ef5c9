/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was written is on its way to the disk at once, not when the kernel finds it old (30 s):
 * so a power cut takes the last seconds only. A thread asks for it, since it may wait for the disk; it
 * asks for no commit of the file system, which would cost everybody else who writes.
 */
#ifndef PERFDATA_WRITE_WRITEBACK_H
#define PERFDATA_WRITE_WRITEBACK_H

struct writeback;

/* NULL where there can't be one: then it is as the kernel likes. */
struct writeback *writeback_new(void);
/* The file's pages that are dirty now. Never waits. */
void writeback_ask(struct writeback *b, int fd);
void writeback_free(struct writeback *b);
#endif
