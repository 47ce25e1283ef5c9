/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --buffer: a larger ring behind each ring of the kernel, in memory that does not count as locked.
 * A thread moves bytes from the kernel's ring to the larger one while the consumer is busy, so that
 * a burst survives a slow script. Readers read records from the larger ring, which looks like one
 * of the kernel's.
 *
 * The consumer's thread also moves bytes before it reads. So the bytes in the larger ring, plus
 * those that backlog_move() leaves behind, include everything that was in the kernel's ring at that
 * moment. --order relies on that.
 */
#ifndef STREAM_LIVE_BACKLOG_H
#define STREAM_LIVE_BACKLOG_H

#include "perfevent.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backlog;

/* Puts a backlog behind the kernel's ring, and takes ownership of that ring. `size`: a power of
 * two, at least a page. NULL without memory: then the ring still belongs to the caller. */
struct backlog *backlog_new(struct pev_ring *kernel, size_t size);
void backlog_free(struct backlog *b);
/* The larger ring, to be read as if it were the kernel's. */
struct pev_ring *backlog_ring(struct backlog *b);
/* Moves as many whole records as fit. Returns the bytes left in the kernel's ring. Thread-safe. */
uint64_t backlog_move(struct backlog *b);

/* The thread that moves, for up to n backlogs. It writes the eventfd `kick` when it has moved
 * something. NULL with errno. */
struct backlog_thread;
struct backlog_thread *backlog_thread_new(size_t n, int kick);
/* The thread also moves when `fd` (of the kernel's ring) becomes readable. */
void backlog_thread_add(struct backlog_thread *t, struct backlog *b, int fd);
/* 0 or -errno. */
int backlog_thread_start(struct backlog_thread *t);
/* Stops the thread, if it runs, and frees it. NULL is allowed. */
void backlog_thread_stop(struct backlog_thread *t);

#endif
