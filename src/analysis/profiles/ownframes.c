/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/ownframes.h"

#include <ctype.h>
#include <string.h>

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

#define BEGINS_WITH_ONE(text, list) begins_with_one(text, list, sizeof(list) / sizeof(*(list)))

static bool begins_with_one(const char *text, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (begins(text, list[i]))
			return true;
	return false;
}

/* libc.so.6, libc-2.31.so, libc.musl-x86_64.so.1, ld-linux-x86-64.so.2 */
static bool is_base_library(const char *file)
{
	static const char *const libraries[] = { "libc.so", "libc.musl", "ld-linux", "ld-musl", "ld-2.", "ld.so", "libpthread.so",
						 "libpthread-2.", "libstdc++.so", "libc++.so", "libgcc_s" };

	return BEGINS_WITH_ONE(file, libraries) || (begins(file, "libc-") && isdigit((unsigned char)file[strlen("libc-")]));
}

/* Functions in which each program and each thread begins. */
static bool is_start(const char *name)
{
	static const char *const starts[] = { "main", "_start", "_init", "_fini", "clone", "clone3", "start_thread",
					      "execute_native_thread_routine" };

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (!strcmp(name, starts[i]))
			return true;
	return begins(name, "__libc_start_");
}

bool ownframes_in_file(const char *function, const char *dso)
{
	const char *slash = strrchr(dso, '/');

	/* [kernel.kallsyms], modules, [vdso] */
	if (!strcmp(function, "[unknown]") || (*dso == '[' && strcmp(dso, "[JIT]") != 0))
		return false;
	return !is_base_library(slash ? slash + 1 : dso) && !is_start(function);
}

/* Locks and tasks that are waited for, "futex lock (job)", and functions of Python, "__init__ (job.py:3)", have a space. */
static bool is_plain(const char *name)
{
	return !strchr(name, ' ');
}

/* C and C++ keep names with two underscores for the compiler, its libraries and the system. */
static bool is_of_base(const char *name)
{
	static const char *const heads[] = { "[", "__", "_dl_", "_IO_", "lll_", "futex_", "pthread_", "std::" };

	return is_start(name) || is_base_library(name) || (is_plain(name) && (BEGINS_WITH_ONE(name, heads) || strstr(name, "@GLIBC")));
}

/* The first functions of the kernel, and whether they are those of a system call. */
static bool is_syscall(const char *name)
{
	static const char *const entries[] = { "entry_SYSCALL", "entry_SYSENTER", "entry_INT80", "do_syscall_64", "el0t_64_sync", "el0_svc" };

	return BEGINS_WITH_ONE(name, entries);
}

static bool is_entry(const char *name)
{
	static const char *const entries[] = { "asm_exc_", "asm_sysvec_", "asm_common_interrupt", "el0t_", "ret_from_" };

	return is_syscall(name) || BEGINS_WITH_ONE(name, entries);
}

/* The stack of the task that ended a wait follows that of the one that waited, innermost first. */
static bool is_waker(const char *name)
{
	return begins(name, "[woken by ") || begins(name, "[because of ");
}

/* A call chain whose frames lie `step` apart, from its root on. */
static void mark(const char *const *names, size_t n, ptrdiff_t step, bool *own)
{
	size_t kernel = 0;
	bool within = false;

	/* one that has no frame of user space is the kernel's */
	for (; kernel < n && !is_entry(names[(ptrdiff_t)kernel * step]); kernel++)
		own[(ptrdiff_t)kernel * step] = !is_of_base(names[(ptrdiff_t)kernel * step]);
	for (size_t i = kernel; i < n; i++)
		own[(ptrdiff_t)i * step] = !is_plain(names[(ptrdiff_t)i * step]);
	if (kernel == n || !is_syscall(names[(ptrdiff_t)kernel * step]))
		return;
	/* what calls the kernel is the C library's, and so is a function between two of its own that one of the program called */
	for (size_t i = 0; i < kernel; i++) {
		const bool calls_kernel = i + 1 == kernel;
		const bool before = i && !own[(ptrdiff_t)(i - 1) * step], after = i + 2 == kernel || !own[(ptrdiff_t)(i + 1) * step];

		if (calls_kernel || (within && before && after))
			own[(ptrdiff_t)i * step] = false;
		within |= own[(ptrdiff_t)i * step];
	}
}

void ownframes_in_stack(const char *const *names, size_t n, bool *own)
{
	size_t waker = 0;

	while (waker < n && !is_waker(names[waker]))
		waker++;
	mark(names, waker, 1, own);
	if (waker == n)
		return;
	own[waker] = false;
	if (waker + 1 < n)
		mark(names + n - 1, n - 1 - waker, -1, own + n - 1);
	/* a stack of a wait begins with the program, or with what it waits for and the program */
	for (size_t i = 0; i < 2 && i < waker; i++)
		own[i] = !is_plain(names[i]);
}
