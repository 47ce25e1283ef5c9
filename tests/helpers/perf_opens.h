/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For a library that is preloaded to change perf_event_open(2): its includer defines open_event(). All dynamically
 * linked programs make the call by libc's syscall(), since libc has no function of that name. Include it last.
 */
#ifndef HELPERS_PERF_OPENS_H
#define HELPERS_PERF_OPENS_H

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>

/* libc's own syscall(). */
typedef long (*syscall_t)(long, ...);
/* `a`: the call's arguments. */
static long open_event(syscall_t next, const long *a);

/* glibc's has attributes of its own */
__attribute__((visibility("default"))) long syscall(long number, ...);

long syscall(long number, ...)
{
	static syscall_t next;
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		next = (syscall_t)dlsym(RTLD_NEXT, "syscall");
	if (number == SYS_perf_event_open)
		return open_event(next, a);
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif
