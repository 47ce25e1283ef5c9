/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callers_jit [--linger] CALLS: makes code in anonymous memory, tells its name in
 * /tmp/perf-PID.map as a just-in-time compiler does, prints "pid N", waits for a byte on
 * stdin, and makes CALLS calls of getppid(2) from inner() < jitted_function < main(). Before
 * the second half of them it makes more code, whose name is moved_function. With --linger it
 * waits for the end of stdin then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long inner_fn(void);
typedef long jit_fn(inner_fn *fn);

static __attribute__((noinline)) long inner(void)
{
#ifdef __x86_64__
	long rc;

	__asm__ volatile("syscall" : "=a"(rc) : "a"((long)SYS_getppid) : "rcx", "r11", "memory");
	return rc;
#else
	return syscall(SYS_getppid);
#endif
}

/* Calls its argument, with a frame pointer. */
static const unsigned char code[] = {
#if defined(__x86_64__)
	0x55, 0x48, 0x89, 0xe5,          /* push %rbp; mov %rsp,%rbp */
	0xff, 0xd7,                      /* call *%rdi */
	0x5d, 0xc3,                      /* pop %rbp; ret */
#elif defined(__aarch64__)
	0xfd, 0x7b, 0xbf, 0xa9,          /* stp x29, x30, [sp, #-16]! */
	0xfd, 0x03, 0x00, 0x91,          /* mov x29, sp */
	0x00, 0x00, 0x3f, 0xd6,          /* blr x0 */
	0xfd, 0x7b, 0xc1, 0xa8,          /* ldp x29, x30, [sp], #16 */
	0xc0, 0x03, 0x5f, 0xd6,          /* ret */
#else
	0
#endif
};

static jit_fn *make(char *at, const char *name)
{
	char path[64];
	FILE *f;

	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, at + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "a");
	if (f) {
		fprintf(f, "%lx %zx %s\n", (unsigned long)at, sizeof(code), name);
		fclose(f);
	}
	return (jit_fn *)(void *)at;
}

int main(int argc, char **argv)
{
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int linger = argc > 1 && !strcmp(argv[1], "--linger"), calls = atoi(argv[argc - 1]);
	volatile long sum = 0;
	jit_fn *fn;
	char byte;

	if (memory == MAP_FAILED || sizeof(code) == 1)
		return 77;
	fn = make(memory, "jitted_function");
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 1;
	for (int i = 0; i < calls; i++) {
		if (i && i == calls / 2) {
			fn = make(memory + 64, "moved_function");
			usleep(400000);   /* perf-prof looks for new names 5 times a second */
		}
		sum += fn(inner);
	}
	while (linger && read(0, &byte, 1) > 0)
		;
	return 0;
}
