/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file or pipe, in order, through a buffer. It does not use mmap(2): a file that
 * shrinks meanwhile ends early instead of raising SIGBUS, and pipes work the same way.
 *
 * Callers that need bytes longer pin their block. A pinned block can still be filled, but its bytes
 * do not move; when it is full, the window continues in another block.
 */
#ifndef PERFDATA_READ_WINDOW_H
#define PERFDATA_READ_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WINDOW_CHUNK = 256 << 10,
	WINDOW_MAX = (64 << 10) + 64,  /* the most that can be asked for at once: a record and a header */
	WINDOW_BYTES = WINDOW_CHUNK + WINDOW_MAX,
};

struct window_slab;

struct window_block {
	struct window_block *next;     /* free blocks */
	uint32_t pins;
	_Alignas(8) char data[WINDOW_BYTES];
};

struct window {
	int fd;
	bool seekable;
	uint64_t end;                  /* of the range to read; UINT64_MAX: up to the end of the file */
	uint64_t next;                 /* file offset of the next read */
	size_t pos, len;               /* in buf: the current place, the end of the bytes */
	int error;                     /* -errno of a failed read; -EINTR: stopped; -ENOMEM */
	bool ended;
	int (*wait)(void *ctx, int fd);   /* called before a pipe is read: 0, or -EINTR; may be NULL */
	bool (*stopped)(void *ctx);       /* for window_is_stopped(); may be NULL */
	unsigned int asked;
	void *ctx;
	char *buf;                     /* data of `block` */
	struct window_block *block, *free;
	struct window_slab *slabs;
	size_t pinned;                 /* bytes of pinned blocks */
};

/* Starts at the current offset of fd. 0 or -ENOMEM; call window_end() in both cases. */
int window_begin(struct window *w, int fd, bool seekable);
/* Frees all blocks, pinned or not. */
void window_end(struct window *w);
/* Continues at offset `at`, up to `end`. Only for seekable files. */
void window_seek(struct window *w, uint64_t at, uint64_t end);
/* Reads until n bytes (at most WINDOW_MAX) are at the current place; false if the input ends before. The
 * place is 8-byte aligned afterwards, and its bytes may have moved. */
bool window_fill(struct window *w, size_t n);
/* Skips n bytes. Returns how many there were. */
uint64_t window_skip(struct window *w, uint64_t n);
/* Copies n bytes and moves on; false if there are fewer. */
bool window_take(struct window *w, void *out, size_t n);

/* Keeps the bytes of the current block until window_unpin(). */
struct window_block *window_pin(struct window *w);
void window_unpin(struct window *w, struct window_block *block);

static inline size_t window_have(const struct window *w)
{
	return w->len - w->pos;
}

/* File offset of the current place. */
static inline uint64_t window_at(const struct window *w)
{
	return w->next - (w->len - w->pos);
}

static inline char *window_here(struct window *w)
{
	return w->buf + w->pos;
}
/* Whether to stop, for long loops that read little. If so, the window is at its end. */
bool window_is_stopped(struct window *w);

#endif
