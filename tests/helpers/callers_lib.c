/* SPDX-License-Identifier: Apache-2.0 */
/* What callers --lib loads. */
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

long lib_outer(int depth);

static NOINLINE long lib_inner(int depth)
{
#ifdef __x86_64__
	long rc;

	__asm__ volatile("syscall" : "=a"(rc) : "a"((long)SYS_getppid) : "rcx", "r11", "memory");
	return rc + depth;
#else
	return syscall(SYS_getppid) + depth;
#endif
}

__attribute__((visibility("default"))) NOINLINE long lib_outer(int depth)
{
	return lib_inner(depth + 1) + 1;
}
