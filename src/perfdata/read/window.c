/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/read/reading.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	SLAB_BYTES = 2 << 20,
	SLAB_HEAD = 64,
	PER_SLAB = (SLAB_BYTES - SLAB_HEAD) / sizeof(struct window_block),
};

/* Followed by its blocks. */
struct window_slab {
	struct window_slab *next;
};

/* ---- blocks ----------------------------------------------------------------- */

static void add_block(struct window *w, struct window_block *b)
{
	b->pins = 0;
	b->next = w->free;
	w->free = b;
}

/* Most readers need one block. Readers that pin many get them from huge pages where possible: with small
 * pages, the page faults cost as much as filling the blocks. */
static bool add_blocks(struct window *w)
{
	size_t n = w->slabs ? PER_SLAB : 1;
	struct window_slab *slab = n == 1 ? malloc(SLAB_HEAD + sizeof(struct window_block))
					  : aligned_alloc(SLAB_BYTES, SLAB_BYTES);

	if (!slab)
		return false;
	if (n > 1)
		madvise(slab, SLAB_BYTES, MADV_HUGEPAGE);
	slab->next = w->slabs;
	w->slabs = slab;
	while (n--)
		add_block(w, (struct window_block *)((char *)slab + SLAB_HEAD) + n);
	return true;
}

static struct window_block *new_block(struct window *w)
{
	struct window_block *b;

	if (!w->free && !add_blocks(w))
		return NULL;
	b = w->free;
	w->free = b->next;
	return b;
}

/* Moves the bytes from the current place on to the start of a block: another one if this one is pinned. */
static bool move_on(struct window *w)
{
	struct window_block *b = w->block->pins ? new_block(w) : w->block;

	if (!b) {
		w->error = -ENOMEM;
		w->ended = true;
		return false;
	}
	w->len -= w->pos;
	memmove(b->data, w->buf + w->pos, w->len);
	w->pos = 0;
	w->block = b;
	w->buf = b->data;
	return true;
}

struct window_block *window_pin(struct window *w)
{
	if (!w->block->pins++)
		w->pinned += sizeof(*w->block);
	return w->block;
}

void window_unpin(struct window *w, struct window_block *block)
{
	if (--block->pins)
		return;
	w->pinned -= sizeof(*block);
	if (block == w->block)
		return;
	block->next = w->free;
	w->free = block;
}

/* ---- beginning and end ------------------------------------------------------ */

int window_begin(struct window *w, int fd, bool seekable)
{
	*w = (struct window){ .fd = fd, .seekable = seekable, .end = UINT64_MAX };
	w->block = new_block(w);
	w->buf = w->block ? w->block->data : NULL;
	return w->block ? 0 : -ENOMEM;
}

void window_end(struct window *w)
{
	while (w->slabs) {
		struct window_slab *slab = w->slabs;

		w->slabs = slab->next;
		free(slab);
	}
	w->block = w->free = NULL;
}

void window_seek(struct window *w, uint64_t at, uint64_t end)
{
	w->next = at;
	w->end = end;
	w->pos = w->len = 0;
	w->ended = false;
}

/* ---- reading ---------------------------------------------------------------- */

/* 0 at the end, on errors, and when stopped. */
static ssize_t read_some(struct window *w, char *buf, size_t n)
{
	ssize_t got;

	if (n > w->end - w->next)
		n = (size_t)(w->end - w->next);
	if (!n)
		return 0;
	do {
		if (!w->seekable && w->wait) {
			int rc = w->wait(w->ctx, w->fd);

			if (rc) {
				w->error = rc;
				return 0;
			}
		}
		got = w->seekable ? pread(w->fd, buf, n, (off_t)w->next) : read(w->fd, buf, n);
	} while (got < 0 && (errno == EINTR || errno == EAGAIN));
	if (got < 0)
		w->error = -errno;
	if (got <= 0)
		return 0;
	w->next += (uint64_t)got;
	return got;
}

/* Whether n bytes fit at the current place. */
static bool has_place(const struct window *w, size_t n)
{
	if (w->pos % 8)
		return false;
	/* a pinned block is filled up first, because a pipe brings few bytes at a time */
	return w->pos + n <= w->len || (w->block->pins && w->pos + WINDOW_MAX <= WINDOW_BYTES);
}

bool window_fill(struct window *w, size_t n)
{
	if (n > WINDOW_MAX || (!has_place(w, n) && !move_on(w)))
		return false;
	while (w->len < w->pos + n && !w->ended) {
		size_t room = WINDOW_BYTES - w->len;
		ssize_t got = read_some(w, w->buf + w->len, room < WINDOW_CHUNK ? room : WINDOW_CHUNK);

		w->len += (size_t)got;
		w->ended = !got;
	}
	return window_have(w) >= n;
}

uint64_t window_skip(struct window *w, uint64_t n)
{
	uint64_t left = n, here = window_have(w);

	if (left <= here) {
		w->pos += (size_t)left;
		return n;
	}
	left -= here;
	w->pos = w->len;
	if (!move_on(w))
		return here;
	while (left) {
		ssize_t got = read_some(w, w->buf, left < WINDOW_CHUNK ? (size_t)left : WINDOW_CHUNK);

		if (!got) {
			w->ended = true;
			break;
		}
		left -= (uint64_t)got;
	}
	return n - left;
}

bool window_take(struct window *w, void *out, size_t n)
{
	char *to = out;

	while (n) {
		size_t piece = n < WINDOW_MAX ? n : WINDOW_MAX;

		if (!window_fill(w, piece))
			return false;
		memcpy(to, window_here(w), piece);
		w->pos += piece;
		to += piece;
		n -= piece;
	}
	return true;
}

bool window_is_stopped(struct window *w)
{
	enum { SELDOM = 4096 };

	if (!w->error && w->stopped && !(w->asked++ % SELDOM) && w->stopped(w->ctx)) {
		w->error = -EINTR;
		w->ended = true;
	}
	return w->error == -EINTR;
}
