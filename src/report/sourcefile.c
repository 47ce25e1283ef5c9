/* SPDX-License-Identifier: Apache-2.0 */
#include "report/sourcefile.h"

#include "base/caller.h"
#include "base/opener.h"
#include "base/room.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 16 << 20, TAB = 8, MAX_LINE = 1024, NO_GROUP = 65534 };

struct sourcefile {
	char *text;
	size_t size, nlines;
	uint32_t *starts;            /* of lines, in the text */
	struct timespec written;
	char line[MAX_LINE];
};

static int open_as(const char *path, uid_t owner)
{
	const struct caller other = { .uid = owner, .gid = NO_GROUP };
	struct caller_rights rights;
	uid_t sudo;
	int fd;

	if (geteuid() || caller_of_sudo(&sudo) || !owner)
		caller_begin(&rights);
	else
		caller_begin_as(&rights, &other);
	fd = opener_file(&opener_direct, 0, path);
	caller_end(&rights);
	return fd;
}

static bool read_all(struct sourcefile *s, int fd)
{
	while (s->size < MAX_BYTES) {
		ssize_t n = read(fd, s->text + s->size, MAX_BYTES - s->size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return !n;
		s->size += (size_t)n;
	}
	errno = EFBIG;
	return false;
}

static bool find_lines(struct sourcefile *s)
{
	for (size_t at = 0; at < s->size;) {
		const char *end = memchr(s->text + at, '\n', s->size - at);

		if (!ROOM_FOR_ONE(s->starts, s->nlines))
			return false;
		s->starts[s->nlines++] = (uint32_t)at;
		at = end ? (size_t)(end - s->text) + 1 : s->size;
	}
	return true;
}

static bool fill(struct sourcefile *s, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_size >= MAX_BYTES) {
		errno = EFBIG;
		return false;
	}
	s->written = st.st_mtim;
	s->text = malloc(MAX_BYTES);   /* only what is read takes memory */
	return s->text && read_all(s, fd) && find_lines(s);
}

struct sourcefile *sourcefile_read(const char *path, uid_t owner)
{
	struct sourcefile *s = calloc(1, sizeof(*s));
	int fd = s ? open_as(path, owner) : -ENOMEM, error;
	bool good = fd >= 0 && fill(s, fd);

	error = fd < 0 ? -fd : errno;
	if (fd >= 0)
		close(fd);
	if (good)
		return s;
	sourcefile_free(s);
	errno = error;
	return NULL;
}

void sourcefile_free(struct sourcefile *s)
{
	if (!s)
		return;
	free(s->text);
	free(s->starts);
	free(s);
}

size_t sourcefile_lines(const struct sourcefile *s)
{
	return s->nlines;
}

struct timespec sourcefile_written(const struct sourcefile *s)
{
	return s->written;
}

const char *sourcefile_line(struct sourcefile *s, size_t n)
{
	size_t at, end, out = 0;

	s->line[0] = '\0';
	if (!n || n > s->nlines)
		return s->line;
	at = s->starts[n - 1];
	end = n < s->nlines ? s->starts[n] : s->size;
	while (end > at && (s->text[end - 1] == '\n' || s->text[end - 1] == '\r'))
		end--;
	for (; at < end && out < MAX_LINE - TAB - 1; at++) {
		if (s->text[at] != '\t') {
			s->line[out++] = s->text[at];
			continue;
		}
		do
			s->line[out++] = ' ';
		while (out % TAB);
	}
	s->line[out] = '\0';
	return s->line;
}
