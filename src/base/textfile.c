/* SPDX-License-Identifier: Apache-2.0 */
#include "base/textfile.h"

#include "base/room.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

size_t textfile_link(char *buf, size_t size, const char *fmt, ...)
{
	char name[PATH_MAX];
	va_list ap;
	ssize_t n;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	n = readlink(name, buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

char *textfile_whole(int fd, size_t most, size_t *len)
{
	enum { PIECE = 16384 };
	size_t room = 0;
	char *text = NULL;
	ssize_t got = -1;

	*len = 0;
	while (fd >= 0 && *len < most && ROOM_FOR(text, room, *len, PIECE) && (got = read(fd, text + *len, PIECE - 1)) > 0)
		*len += (size_t)got;
	if (fd >= 0)
		close(fd);
	if (got < 0) {
		free(text);
		return NULL;
	}
	text[*len] = '\0';
	return text;
}
