/* SPDX-License-Identifier: Apache-2.0 */
#include "base/procstatus.h"

#include "base/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_BYTES = 4096 };

long procstatus_in(int dir, const char *path, const char *key, int n)
{
	char status[STATUS_BYTES], *at;
	long v = -ENOENT;

	if (textfile_from(openat(dir, path, O_RDONLY | O_CLOEXEC), status, sizeof(status)) <= 0)
		return -ESRCH;
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

bool procstatus_is_of_kernel(pid_t pid)
{
	return (pid == 2 || procstatus_of(pid, "\nPPid:") == 2) && procstatus_of(pid, "\nVmSize:") == -ENOENT;
}
