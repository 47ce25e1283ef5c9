/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callers [--wait] [--linger] [--lib FILE] [--children N] [--depth N] CALLS: makes CALLS calls of
 * getppid(2) from inner() < middle() < outer() < main(), or from lib_inner() < lib_outer() <
 * main(), with N times deep() before main(). With --children each is made by a process of
 * its own, which exec'ed this program and exits at once. Prints "pid N"; --wait waits for
 * a byte on stdin, before all else; --linger for the end of stdin, after it: each byte makes it call again.
 *
 * Without libc's own wrappers between: they keep no frame pointers.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static NOINLINE long inner(int depth)
{
#ifdef __x86_64__
	long rc;

	__asm__ volatile("syscall" : "=a"(rc) : "a"((long)SYS_getppid) : "rcx", "r11", "memory");
	return rc + depth;
#else
	return syscall(SYS_getppid) + depth;
#endif
}

static NOINLINE long middle(int depth)
{
	return inner(depth + 1) + 1;
}

NOINLINE long outer(int depth);
NOINLINE long outer(int depth)
{
	return middle(depth + 1) + 1;
}

typedef long call_fn(int depth);

static NOINLINE long deep(call_fn *fn, int depth)
{
	return depth ? deep(fn, depth - 1) + 1 : fn(1);
}

static call_fn *from_library(const char *path)
{
#ifdef STATIC
	return NULL;
#else
	void *lib = dlopen(path, RTLD_NOW);
	call_fn *fn = lib ? (call_fn *)dlsym(lib, "lib_outer") : NULL;

	if (!fn)
		fprintf(stderr, "callers: %s\n", dlerror());
	return fn;
#endif
}

static int run_children(const char *program, int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			execl(program, program, "1", (char *)NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}

int main(int argc, char **argv)
{
	call_fn *fn = outer;
	int wait_first = 0, linger = 0, children = 0, depth = 0, calls = 0;
	static volatile long sum __attribute__((unused));
	char byte;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--wait"))
			wait_first = 1;
		else if (!strcmp(argv[i], "--linger"))
			linger = 1;
		else if (!strcmp(argv[i], "--lib") && i + 1 < argc)
			fn = from_library(argv[++i]);
		else if (!strcmp(argv[i], "--children") && i + 1 < argc)
			children = atoi(argv[++i]);
		else if (!strcmp(argv[i], "--depth") && i + 1 < argc)
			depth = atoi(argv[++i]);
		else
			calls = atoi(argv[i]);
	}
	if (!fn)
		return 1;
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	if (wait_first && read(0, &byte, 1) != 1)
		return 1;
	if (children && run_children(argv[0], children))
		return 1;
	do {
		for (int i = 0; i < calls; i++)
			sum += depth ? deep(fn, depth - 1) : fn(1);
	} while (linger && read(0, &byte, 1) > 0);
	return 0;
}
