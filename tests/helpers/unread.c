/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unread - a function whose parameter is a text, an empty one, none, and one that cannot be read.
 *
 *   unread       calls named("text", 0), named("", 1), named(NULL, 2), named((char *)16, 3); then pair() with two structures
 *                that have texts: "left" and "right", NULL and "right", "left" and NULL, NULL and NULL
 */
#include <stddef.h>
#include <stdint.h>

struct item {
	long n;
	const char *text;
};

int named(const char *text, int n);
void pair(const struct item *a, const struct item *b);

__attribute__((noinline)) int named(const char *text, int n)
{
	__asm__ volatile("" : : "r"(text));
	return n;
}

__attribute__((noinline)) void pair(const struct item *a, const struct item *b)
{
	__asm__ volatile("" : : "r"(a), "r"(b) : "memory");
}

int main(void)
{
	const char *const texts[] = { "text", "", NULL, (const char *)(uintptr_t)16 };
	const struct item left = { 1, "left" }, right = { 2, "right" };
	volatile int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += named(texts[i], i);
	for (int i = 0; i < 4; i++)
		pair(i & 1 ? NULL : &left, i & 2 ? NULL : &right);
	return sum != 6;
}
