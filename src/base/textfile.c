/* SPDX-License-Identifier: Apache-2.0 */
#include "base/textfile.h"

#include "base/room.h"

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
