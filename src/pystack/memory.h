/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of another process, read while that process runs: each value may be hostile, or change
 * between two reads.
 */
#ifndef PYSTACK_MEMORY_H
#define PYSTACK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory_piece {
	uint64_t addr;
	void *to;
	size_t size;
};

enum { MEMORY_MAX_PIECES = 256 };   /* of one read */

struct memory {
	/* Reads the pieces in their order, as one system call where there is one. Returns how many of them were read
	 * completely, from the first one on; or -errno if there was none. */
	int (*read)(const struct memory *m, const struct memory_piece *pieces, size_t n);
	pid_t pid;
	bool is_strange;         /* it is another user's, who may keep a page back at any time: always taskmemory_readv(), which takes some 30 us longer */
	uint64_t until;          /* CLOCK_MONOTONIC: all reads fail with -ETIME from then on; 0: never */
	void *ctx;               /* for tests */
};

/* The memory of a process, by process_vm_readv(2): needs the right to trace it. */
struct memory memory_of(pid_t pid);
/* 0 or -errno (-EFAULT: not all of it is there). */
int memory_get(const struct memory *m, uint64_t addr, void *to, size_t size);
/* A word of 8 bytes. */
int memory_word(const struct memory *m, uint64_t addr, uint64_t *word);
/* A field of `size` bytes (1, 2, 4 or 8) at that offset of bytes that were read. */
uint64_t memory_field(const void *bytes, uint64_t offset, size_t size);
#endif
