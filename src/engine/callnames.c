/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/callnames.h"

#include <stdio.h>
#include <string.h>

#ifdef HAVE_LIBSECCOMP
#include <seccomp.h>
#endif

enum { KNOWN = 1024 };

/* Each name is looked up once, since the library allocates it. */
const char *syscall_name(int64_t nr)
{
	static const char *names[KNOWN];

	if (nr < 0 || nr >= KNOWN)
		return NULL;
#ifdef HAVE_LIBSECCOMP
	if (!names[nr])
		names[nr] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)nr);
#endif
	return names[nr];
}

int64_t syscall_left(int64_t nr)
{
#ifdef HAVE_LIBSECCOMP
	static int back;

	if (nr == -1 && !back)
		back = seccomp_syscall_resolve_name("rt_sigreturn");
	if (nr == -1 && back > 0)
		return back;
#endif
	return nr;
}

char *call_name(int64_t nr, char *buf, size_t size)
{
	const char *name = syscall_name(nr);

	snprintf(buf, size, "%s(%lld)", name ? name : "syscall", (long long)nr);
	return buf;
}

char *error_name(int error, char *buf, size_t size)
{
	const char *name = strerrorname_np(error);

	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "error %d", error);
	return buf;
}
