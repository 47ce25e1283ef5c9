/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --buffer: a larger ring behind each of the kernel's, in memory that no limit on locked
 * pages bounds. A thread moves bytes from the one to the other while the consumer is
 * busy, so that a burst survives a slow script; whoever reads records reads them from
 * the larger ring, which looks like one of the kernel's.
 *
 * The consumer's thread moves bytes too, before it reads: what a backlog says is waiting
 * includes what the kernel's ring held at that moment, as --order's rule needs.
 */
#ifndef STREAM_LIVE_BACKLOG_H
#define STREAM_LIVE_BACKLOG_H

#include "perfevent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backlog;

/* Over the kernel's ring, which it owns from now on; `size` is a power of two of at least
 * a page. NULL when out of memory: the ring stays the caller's. */
struct backlog *backlog_new(struct pev_ring *kernel, size_t size);
void backlog_free(struct backlog *b);
/* The larger ring, to be read as if it were the kernel's. */
struct pev_ring *backlog_ring(struct backlog *b);
/* Moves what there is room for; returns the bytes that stay behind. Thread-safe. */
uint64_t backlog_move(struct backlog *b);

/* The thread that moves, for up to n backlogs; `kick` is an eventfd that it writes when it
 * moved something. NULL with errno. */
struct backlog_thread;
struct backlog_thread *backlog_thread_new(size_t n, int kick);
/* `fd` (the kernel ring's) wakes it. */
void backlog_thread_add(struct backlog_thread *t, struct backlog *b, int fd);
/* 0 or -errno. */
int backlog_thread_start(struct backlog_thread *t);
/* Ends it, if it runs, and frees it. NULL is fine. */
void backlog_thread_stop(struct backlog_thread *t);

#endif
