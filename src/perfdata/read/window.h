/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file or a pipe, in order, through a buffer. No mmap(2): a file that shrinks
 * meanwhile is an end that comes early, not a SIGBUS, and pipes are read alike.
 *
 * Whoever wants to look at bytes longer pins the block that they lie in. A pinned block is only
 * filled further; where that doesn't do, the window goes on in another one.
 */
#ifndef PERFDATA_READ_WINDOW_H
#define PERFDATA_READ_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WINDOW_CHUNK = 256 << 10,
	WINDOW_MAX = (64 << 10) + 64,  /* what can be asked for in one piece: a record and a head */
	WINDOW_BYTES = WINDOW_CHUNK + WINDOW_MAX,
};

struct window_slab;

struct window_block {
	struct window_block *next;     /* of those that are free */
	uint32_t pins;
	_Alignas(8) char data[WINDOW_BYTES];
};

struct window {
	int fd;
	bool seekable;
	uint64_t end;                  /* of what may be read; UINT64_MAX: as long as there is more */
	uint64_t next;                 /* offset, in the file, of what is read next */
	size_t pos, len;               /* in buf: the present place, the bytes there are */
	int error;                     /* -errno of a read that failed; -EINTR: asked to stop;
					* -ENOMEM */
	bool ended;
	int (*wait)(void *ctx, int fd);   /* before a read of a pipe: 0, or -EINTR. May be NULL */
	bool (*stopped)(void *ctx);       /* window_is_stopped(); may be NULL */
	unsigned int asked;
	void *ctx;
	char *buf;                     /* the data of `block` */
	struct window_block *block, *free;
	struct window_slab *slabs;
	size_t pinned;                 /* bytes of blocks that are */
};

/* From the present place of fd. 0 or -ENOMEM; then, too, window_end() is due. */
int window_begin(struct window *w, int fd, bool seekable);
/* Frees all blocks, pinned or not. */
void window_end(struct window *w);
/* Only where seekable: on from that offset, up to `end`. */
void window_seek(struct window *w, uint64_t at, uint64_t end);
/* Reads until n bytes (at most WINDOW_MAX) lie at the present place; false if there are not
 * that many. The place is 8-byte aligned afterwards; what lay there before may have moved. */
bool window_fill(struct window *w, size_t n);
/* Goes n bytes on; the number of those that were there. */
uint64_t window_skip(struct window *w, uint64_t n);
/* Copies n bytes out and goes on; false if there are not that many. */
bool window_take(struct window *w, void *out, size_t n);

/* The block that the present place is in keeps what it has until window_unpin(). */
struct window_block *window_pin(struct window *w);
void window_unpin(struct window *w, struct window_block *block);

static inline size_t window_have(const struct window *w)
{
	return w->len - w->pos;
}

/* The present place, as an offset in the file. */
static inline uint64_t window_at(const struct window *w)
{
	return w->next - (w->len - w->pos);
}

static inline char *window_here(struct window *w)
{
	return w->buf + w->pos;
}
/* Whether to stop: for loops that can be long and read little. Then it is at its end. */
bool window_is_stopped(struct window *w);

#endif
