/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pidns.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PROC_PID_INIT_INO of include/linux/proc_ns.h. NSpid in /proc/self/status does not help: it
 * begins at the namespace of the mounted /proc. */
#define INITIAL "pid:[4026531836]"

static bool read_link(const char *path, char *text, size_t size)
{
	ssize_t n = readlink(path, text, size - 1);

	if (n >= 0)
		text[n] = '\0';
	return n >= 0;
}

bool pidns_is_initial(void)
{
	char text[64];

	return !read_link("/proc/self/ns/pid", text, sizeof(text)) || !strcmp(text, INITIAL);
}

bool pidns_has_proc(void)
{
	char text[64];

	return read_link("/proc/self", text, sizeof(text)) && atoi(text) == getpid();
}
