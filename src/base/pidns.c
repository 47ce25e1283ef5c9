/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pidns.h"

#include "base/textfile.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* PROC_PID_INIT_INO of include/linux/proc_ns.h. NSpid in /proc/self/status does not help: it
 * begins at the namespace of the mounted /proc. */
#define INITIAL 4026531836ul

unsigned long pidns_number(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (unsigned long)st.st_ino;
}

bool pidns_is_initial(void)
{
	unsigned long n = pidns_number();

	return !n || n == INITIAL;
}

bool pidns_has_proc(void)
{
	char text[64];

	return textfile_link(text, sizeof(text), "/proc/self") && atoi(text) == getpid();
}
