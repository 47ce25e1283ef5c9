/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/window.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void window_begin(struct window *w, int fd, bool seekable)
{
	w->fd = fd;
	w->seekable = seekable;
	w->end = UINT64_MAX;
	w->next = 0;
	w->pos = w->len = 0;
	w->error = 0;
	w->ended = false;
}

void window_seek(struct window *w, uint64_t at, uint64_t end)
{
	w->next = at;
	w->end = end;
	w->pos = w->len = 0;
	w->ended = false;
}

/* 0 at the end. */
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

bool window_fill(struct window *w, size_t n)
{
	if (n > WINDOW_MAX)
		return false;
	if (w->pos % 8 || w->pos + n > w->len) {
		w->len -= w->pos;
		memmove(w->buf, w->buf + w->pos, w->len);
		w->pos = 0;
	}
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
	w->pos = w->len = 0;
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
