/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probed - functions and USDT probes with known arguments.
 *
 *   probed N     prints "pid P add ADDRESS", waits for the end of stdin, then N times
 *                calls add(i, "two", -3) and passes the probes test:args, test:twice (at
 *                two places) and, if somebody watches, test:guarded
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

__attribute__((section(".probes"))) volatile unsigned short test_guarded_semaphore;
/* with semaphores, each probe has one */
__attribute__((section(".probes"))) volatile unsigned short test_args_semaphore;
__attribute__((section(".probes"))) volatile unsigned short test_twice_semaphore;

__attribute__((noinline)) static long add(long a, const char *text, int c)
{
	__asm__ volatile("" : : "r"(text));
	return a + c;
}

static volatile long sink;

static void pass(uint64_t i)
{
	volatile int local = -7;
	char byte = -1;

	sink += add((long)i, "two", -3);
	DTRACE_PROBE4(test, args, i, local, byte, 42);
	DTRACE_PROBE1(test, twice, i);
	sink++;
	DTRACE_PROBE1(test, twice, i + 1000);
	if (test_guarded_semaphore)
		DTRACE_PROBE1(test, guarded, i);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	char c;

	printf("pid %d add %#lx\n", (int)getpid(), (unsigned long)(uintptr_t)add);
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	for (uint64_t i = 0; i < n; i++)
		pass(i);
	return 0;
}
