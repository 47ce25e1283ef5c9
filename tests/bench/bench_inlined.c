/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_inlined FILE [ROUNDS] < ADDRESSES - CPU ns per address of the file (hex): "known", its
 * inlined functions and lines where the DWARF was read before, and "floor", the least that
 * finds an address again: a binary search in the sorted addresses. Medians; rounds alternate.
 */
#include "symbols/dwarf/inlines.h"
#include "symbols/parser_kinds.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_FRAMES = 128, MAX_ADDRESSES = 1 << 16, MAX_ROUNDS = 64, TURNS = 10 };

static uint64_t asked[MAX_ADDRESSES], sorted[MAX_ADDRESSES];
static size_t n;
static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static int by_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void read_addresses(void)
{
	unsigned long long at;

	while (n < MAX_ADDRESSES && scanf("%llx", &at) == 1) {
		asked[n] = at;
		sorted[n++] = at;
	}
	qsort(sorted, n, sizeof(*sorted), by_address);
}

static size_t search(uint64_t addr)
{
	size_t from = 0;

	for (size_t len = n; len > 1; len -= len / 2)   /* without a branch to predict */
		from += sorted[from + len / 2] <= addr ? len / 2 : 0;
	return from;
}

static double floor_round(void)
{
	uint64_t begin = cpu_ns(), sum = 0;

	for (int turn = 0; turn < TURNS; turn++)
		for (size_t i = 0; i < n; i++)
			sum += search(asked[i]);
	sink += sum;
	return (double)(cpu_ns() - begin) / TURNS / (double)n;
}

static double known_round(struct inlines *in)
{
	struct inline_frame frames[MAX_FRAMES];
	uint64_t begin = cpu_ns(), sum = 0;

	for (int turn = 0; turn < TURNS; turn++)
		for (size_t i = 0; i < n; i++)
			sum += inlines_find(in, asked[i], frames, MAX_FRAMES);
	sink += sum;
	return (double)(cpu_ns() - begin) / TURNS / (double)n;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 15;
	double known[MAX_ROUNDS], least[MAX_ROUNDS];
	struct parser *parser = parser_new_all(&(struct parser_opts){ PARSER_HERE });
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	struct inlines *in = fd < 0 ? NULL : inlines_new(parser, fd);

	read_addresses();
	if (!in || !n || rounds < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: bench_inlined FILE [ROUNDS] < ADDRESSES\n");
		return 2;
	}
	known_round(in);   /* reads the DWARF */
	for (int i = 0; i < rounds; i++) {
		least[i] = floor_round();
		known[i] = known_round(in);
	}
	qsort(known, (size_t)rounds, sizeof(*known), by_value);
	qsort(least, (size_t)rounds, sizeof(*least), by_value);
	printf("known %.2f\nfloor %.2f\n", known[rounds / 2], least[rounds / 2]);
	return 0;
}
