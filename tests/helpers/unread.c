/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unread - a function whose parameter is a text, an empty one, none, and one that cannot be read.
 *
 *   unread       calls named("text", 0), named("", 1), named(NULL, 2), named((char *)16, 3)
 */
#include <stddef.h>
#include <stdint.h>

int named(const char *text, int n);

__attribute__((noinline)) int named(const char *text, int n)
{
	__asm__ volatile("" : : "r"(text));
	return n;
}

int main(void)
{
	const char *const texts[] = { "text", "", NULL, (const char *)(uintptr_t)16 };
	volatile int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += named(texts[i], i);
	return sum != 6;
}
