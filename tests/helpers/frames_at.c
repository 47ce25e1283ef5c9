/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames_at [--apart] [--time] FILE < ADDRESSES: for each address of the file (hex, as
 * addr2line(1) takes it), a line with it, and for each function there, the innermost first,
 * a line with its name and one with FILE:LINE. With --apart the DWARF is read by a process
 * without privilege; with --time nothing but what it took, cold and warm.
 */
#include "symbols/dwarf/inlines.h"
#include "symbols/parser_kinds.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_FRAMES = 128, WARM_ROUNDS = 20 };

static uint64_t *addresses;
static size_t n;

static void read_addresses(void)
{
	unsigned long long at;

	while (scanf("%llx", &at) == 1) {
		if (!(n & (n - 1)))
			addresses = realloc(addresses, (n ? 2 * n : 1) * sizeof(*addresses));
		if (!addresses)
			exit(1);
		addresses[n++] = at;
	}
}

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static size_t find_all(struct inlines *in)
{
	struct inline_frame frames[MAX_FRAMES];
	size_t sum = 0;

	for (size_t i = 0; in && i < n; i++)
		sum += inlines_find(in, addresses[i], frames, MAX_FRAMES);
	return sum;
}

static void print_all(struct inlines *in)
{
	struct inline_frame frames[MAX_FRAMES];

	for (size_t i = 0; i < n; i++) {
		size_t found = in ? inlines_find(in, addresses[i], frames, MAX_FRAMES) : 0;

		printf("0x%llx\n", (unsigned long long)addresses[i]);
		for (size_t k = 0; k < found; k++)
			printf("%s\n%s:%u\n", frames[k].name ? frames[k].name : "??",
			       frames[k].file ? frames[k].file : "??", frames[k].line);
		if (!found)
			printf("??\n??:0\n");
	}
}

int main(int argc, char **argv)
{
	bool apart = false, timed = false;
	struct parser *parser;
	struct inlines *in;
	double begin, cold;
	size_t frames = 0;
	int fd, i = 1;

	for (; i < argc - 1; i++) {
		apart |= !strcmp(argv[i], "--apart");
		timed |= !strcmp(argv[i], "--time");
	}
	parser = parser_new_all(&(struct parser_opts){ apart ? PARSER_APART : PARSER_HERE });
	fd = i < argc ? open(argv[i], O_RDONLY | O_CLOEXEC) : -1;
	if (!parser || fd < 0)
		return 1;
	read_addresses();
	begin = now(CLOCK_MONOTONIC);
	in = inlines_new(parser, fd);
	if (!in)
		perror(argv[i]);
	if (!timed) {
		print_all(in);
		return in ? 0 : 2;
	}
	frames = find_all(in);
	cold = now(CLOCK_MONOTONIC) - begin;
	begin = now(CLOCK_MONOTONIC);
	for (int round = 0; round < WARM_ROUNDS; round++)
		find_all(in);
	printf("%zu addresses, %zu frames, cold %.3f ms, warm %.1f ns an address, %zu bytes\n", n, frames,
	       cold / 1e6, (now(CLOCK_MONOTONIC) - begin) / (double)n / WARM_ROUNDS,
	       in ? inlines_bytes(in) : 0);
	return 0;
}
