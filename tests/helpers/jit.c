/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit HOW MS [PROGRAM ...]: makes two functions in anonymous memory, jit_long and jit_short, spends MS ms of CPU time in them,
 * three quarters in the first, and tells their names as just-in-time compilers do, by HOW:
 *	first	/tmp/perf-PID.map, before; 1,000 lines more are of functions that never ran
 *	late	the same, after the work, as jcmd does
 *	dump	a jitdump file, jit-PID.dump in the present folder, which is mapped
 *	none	not at all
 * "pid N" is printed first; then it waits for a byte on stdin, or its end. "done" is printed when the work is
 * over; then it waits for the end of stdin, or becomes PROGRAM.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Counts its argument down to 0. */
static const unsigned char code[] = {
#if defined(__x86_64__)
	0x48, 0xff, 0xcf,                /* dec %rdi */
	0x75, 0xfb,                      /* jnz */
	0xc3,                            /* ret */
#elif defined(__aarch64__)
	0x00, 0x04, 0x00, 0xf1,          /* subs x0, x0, #1 */
	0xe1, 0xff, 0xff, 0x54,          /* b.ne */
	0xc0, 0x03, 0x5f, 0xd6,          /* ret */
#else
	0
#endif
};

typedef void jit_fn(uint64_t n);

enum { LONG = 0x100, SHORT = 0x400, SIZE = 0x40 };

static void write_map(const char *memory)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (!f)
		exit(1);
	fprintf(f, "%lx %x jit_long\n%lx %x jit_short\n", (unsigned long)memory + LONG, SIZE,
		(unsigned long)memory + SHORT, SIZE);
	for (int i = 0; i < 1000; i++)
		fprintf(f, "%lx 1 never_ran_%d\n", (unsigned long)memory + 0x800 + (unsigned long)i, i);
	fclose(f);
}

struct load {
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, addr, code_size, index;
	char name[16];
	char code[sizeof(code) + 2];
};

static void write_load(int fd, const char *at, const char *name)
{
	struct load load = { .size = sizeof(load), .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid(),
			     .vma = (uint64_t)(uintptr_t)at, .addr = (uint64_t)(uintptr_t)at, .code_size = SIZE };

	snprintf(load.name, sizeof(load.name), "%s", name);
	memcpy(load.code, code, sizeof(code));
	if (write(fd, &load, sizeof(load)) != sizeof(load))
		exit(1);
}

static void write_dump(const char *memory)
{
	struct { uint32_t magic, version, size, machine, pad, pid; uint64_t time, flags; } head = {
		0x4a695444, 1, sizeof(head), 0, 0, (uint32_t)getpid(), 0, 0,
	};
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, &head, sizeof(head)) != sizeof(head) ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		exit(1);
	write_load(fd, memory + LONG, "jit_long");
	write_load(fd, memory + SHORT, "jit_short");
	close(fd);
}

static jit_fn *make(char *at)
{
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, at + sizeof(code));
	return (jit_fn *)(void *)at;
}

int main(int argc, char **argv)
{
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *how = argc > 1 ? argv[1] : "";
	clock_t work = (clock_t)(argc > 2 ? atoi(argv[2]) : 0) * (CLOCKS_PER_SEC / 1000), until;
	jit_fn *slow, *quick;
	ssize_t n;
	char byte;

	if (memory == MAP_FAILED || sizeof(code) == 1)
		return 77;
	slow = make(memory + LONG);
	quick = make(memory + SHORT);
	if (!strcmp(how, "first"))
		write_map(memory);
	if (!strcmp(how, "dump"))
		write_dump(memory);
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	n = read(0, &byte, 1);
	for (until = clock() + work; clock() < until;) {
		slow(3000000);
		quick(1000000);
	}
	if (!strcmp(how, "late"))
		write_map(memory);
	printf("done\n");
	fflush(stdout);
	if (argc > 3)
		execv(argv[3], argv + 3);
	while (n > 0)
		n = read(0, &byte, 1);
	return 0;
}
