/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc, sysfs and tracefs as text, which do not tell their size, and links. */
#ifndef BASE_TEXTFILE_H
#define BASE_TEXTFILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* Reads at most size - 1 bytes, which end with a NUL, and closes fd. The number of bytes, or -errno, and `buf` is "". fd
 * below 0: errno says why. */
static inline ssize_t textfile_from(int fd, char *buf, size_t size)
{
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1), rc = n < 0 ? -errno : n;

	if (fd >= 0)
		close(fd);
	buf[n < 0 ? 0 : n] = '\0';
	return rc;
}

static inline ssize_t textfile_read(const char *path, char *buf, size_t size)
{
	return textfile_from(open(path, O_RDONLY | O_CLOEXEC), buf, size);
}

/* Reads the symbolic link of that name. The number of bytes, and 0 with "" if there is none; size - 1: it may be cut. */
size_t textfile_link(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Unlike access(2), it looks with all capabilities of the process, such as CAP_DAC_READ_SEARCH of a user who is not root. */
static inline bool textfile_exists(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

/* The whole text up to `most` bytes and a NUL, to be freed; closes fd. NULL: it cannot be read, or out of memory. */
char *textfile_whole(int fd, size_t most, size_t *len);
#endif
