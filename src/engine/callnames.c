/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/callnames.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBSECCOMP
#include <seccomp.h>
#endif

#if defined(HAVE_LIBSECCOMP) && defined(__x86_64__)
#define KIND_OF_32 SCMP_ARCH_X86
#elif defined(HAVE_LIBSECCOMP) && defined(__aarch64__)
#define KIND_OF_32 SCMP_ARCH_ARM
#else
#define KIND_OF_32 0
#endif
#ifdef HAVE_LIBSECCOMP
#define NATIVE SCMP_ARCH_NATIVE
#else
#define NATIVE 0
#endif

enum { KNOWN = 1024 };

/* The sysctl is that of CONFIG_IA32_EMULATION. */
static bool runs_32(void)
{
#ifdef __x86_64__
	static int known;

	if (!known)
		known = access("/proc/sys/abi/vsyscall32", F_OK) ? -1 : 1;
	return known > 0;
#else
	return KIND_OF_32;
#endif
}

/* Each name is looked up once, since the library allocates it. */
static const char *name_of(uint32_t arch, const char *names[KNOWN], int64_t nr)
{
	if (nr < 0 || nr >= KNOWN)
		return NULL;
#ifdef HAVE_LIBSECCOMP
	if (!names[nr])
		names[nr] = seccomp_syscall_resolve_num_arch(arch, (int)nr);
#endif
	return names[nr];
}

const char *syscall_name(int64_t nr)
{
	static const char *names[KNOWN];

	return name_of(NATIVE, names, nr);
}

const char *syscall_name_of_32(int64_t nr)
{
	static const char *names[KNOWN];

	return runs_32() ? name_of(KIND_OF_32, names, nr) : NULL;
}

int64_t syscall_number(const char *name)
{
	for (int64_t nr = 0; nr < KNOWN; nr++)
		if (syscall_name(nr) && !strcmp(syscall_name(nr), name))
			return nr;
	return -1;
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

bool syscall_has_result(int64_t nr)
{
	const char *name = syscall_name(nr);

	return nr != -1 && !(name && !strcmp(name, "rt_sigreturn"));
}

/* Codes of the kernel's linux/errno.h, which sys_exit shows before they become EINTR or a restart of the call; and one that
 * programs do get. */
static const char *kernel_error_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
		{ 512, "ERESTARTSYS" }, { 513, "ERESTARTNOINTR" }, { 514, "ERESTARTNOHAND" }, { 516, "ERESTART_RESTARTBLOCK" },
		{ 524, "ENOTSUPP" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (names[i].error == error)
			return names[i].name;
	return NULL;
}

char *error_name(int error, char *buf, size_t size)
{
	const char *name = strerrorname_np(error);

	name = name ? name : kernel_error_name(error);
	if (name)
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "error %d", error);
	return buf;
}
