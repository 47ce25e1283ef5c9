/* SPDX-License-Identifier: Apache-2.0 */
#include "base/procstatus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_BYTES = 4096 };

long procstatus_in(int dir, const char *path, const char *key, int n)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char status[STATUS_BYTES], *at;
	ssize_t size = fd >= 0 ? read(fd, status, sizeof(status) - 1) : -1;
	long v = -ENOENT;

	if (fd >= 0)
		close(fd);
	if (size <= 0)
		return -ESRCH;
	status[size] = '\0';
	/* the process chose its name, but newlines in it are escaped */
	at = strstr(status, key);
	at = at ? at + strlen(key) : status;
	for (int i = 0; n < 0 || i <= n; i++) {
		at += strspn(at, "\t ");
		if (*at < '0' || *at > '9')
			return n < 0 ? v : -ENOENT;
		v = strtol(at, &at, 10);
	}
	return v;
}

long procstatus_of(pid_t tid, const char *key)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	return procstatus_in(AT_FDCWD, path, key, 0);
}
