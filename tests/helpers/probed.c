/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probed - functions and USDT probes with known arguments.
 *
 *   probed N     prints "pid P add ADDRESS", waits for the end of stdin, then N times
 *                calls add(i, "two", -3) and passes the probes test:args, test:twice (at
 *                two places) and, if somebody watches, test:guarded; and calls shop::Cart::add(long, char const*),
 *                shop::Cart::add(char), shop::Cart::pay() and int shop::biggest<int>(int, int); and
 *                order(), with parameters of many types
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
__attribute__((section(".probes"))) volatile unsigned short test_text_semaphore;

__attribute__((noinline)) static long add(long a, const char *text, int c)
{
	__asm__ volatile("" : : "r"(text));
	return a + c;
}

static volatile long sink;

/* What a C++ compiler makes of them. */
long cart_add(long id, const char *name) __asm__("_ZN4shop4Cart3addElPKc");
long cart_add_char(char c) __asm__("_ZN4shop4Cart3addEc");
long cart_pay(void) __asm__("_ZN4shop4Cart3payEv");
int biggest(int a, int b) __asm__("_ZN4shop7biggestIiEET_S1_S1_");

__attribute__((noinline)) long cart_add(long id, const char *name)
{
	__asm__ volatile("" : : "r"(name));
	return id;
}

__attribute__((noinline)) long cart_add_char(char c)
{
	__asm__ volatile("");
	return c;
}

__attribute__((noinline)) long cart_pay(void)
{
	__asm__ volatile("");
	return 7;
}

__attribute__((noinline)) int biggest(int a, int b)
{
	__asm__ volatile("");
	return a > b ? a : b;
}

struct name {
	int length;
	char text[8];
};

struct item {
	long id;
	const char *label;
	struct name name;
	struct item *next;
	unsigned int bits : 3;
};

struct pair {
	int a, b;
};

struct large {
	long all[4];
};

enum mode { CASH = -1, CARD };

const char *order(int count, unsigned char small, const char *text, double price, const struct item *item, struct pair pair,
		  struct large large, enum mode mode, long last);

__attribute__((noinline)) const char *order(int count, unsigned char small, const char *text, double price,
					    const struct item *item, struct pair pair, struct large large, enum mode mode,
					    long last)
{
	sink += count + small + (long)price + item->id + pair.a + large.all[1] + (int)mode + last;
	return text + 1;
}

/* A member behind 2 GiB, which is further than a probe can say. */
struct far {
	char first[0x3ffffff0];
	struct {
		char second[0x3ffffff0];
		struct {
			char third[0x3ffffff0];
			int beyond;
		};
	};
};

__attribute__((noinline)) int look(const struct far *far);
__attribute__((noinline)) int look(const struct far *far)
{
	__asm__ volatile("" : : "r"(far));
	return !far;
}

static void pass_order(int i)
{
	struct item second = { .id = 22, .label = "second", .name = { 1, "b" } };
	struct item first = { .id = 11, .label = "first", .name = { 1, "a" }, .next = &second };
	struct pair pair = { 3, 4 };
	struct large large = { { 5, 6, 7, 8 } };

	sink += *order(i - 1, 200, "text", 2.5, &first, pair, large, CASH, 1L << 40);
}

static void pass(uint64_t i)
{
	volatile int local = -7;
	char byte = -1;

	sink += add((long)i, "two", -3);
	DTRACE_PROBE4(test, args, i, local, byte, 42);
	DTRACE_PROBE1(test, text, "pear");
	DTRACE_PROBE1(test, twice, i);
	sink++;
	DTRACE_PROBE1(test, twice, i + 1000);
	pass_order((int)i);
	sink += look(NULL);
	sink += cart_add((long)i, "pear") + cart_add_char('c') + cart_pay() + biggest((int)i, 1);
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
