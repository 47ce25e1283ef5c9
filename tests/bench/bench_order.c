/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_order - ns of CPU time that --order adds to a record: order_push() out of memory
 * in the cache and order_pop(), the median of the rounds. Records are 72 bytes, as a
 * tracepoint's; 16,384 are held back and as many come, as in 20 ms of 800,000 events a
 * second.
 *
 * "mixed" is the worst: hardly a record comes from the queue of the one before. In "runs"
 * a queue has its records of the time in a row, up to 32, as a busy CPU has.
 *
 *   bench_order [ROUNDS]
 */
#include "stream/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HELD = 16384, TURNS = 24, MAX_ROUNDS = 64, RECORD_BYTES = 72 };
/* ns that a turn lasts in the world of the records. */
enum { SPAN = 20000000 };

static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint32_t random_u32(void)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 32);
}

/* Times of n records of a queue, from `start` on: in each slot of n / run a run begins. */
static void make_times(uint64_t *times, uint32_t n, uint32_t run, uint64_t start)
{
	uint32_t slot = SPAN / (n / run);

	for (uint32_t i = 0; i < n; i++)
		times[i] = i % run ? times[i - 1] + 1
				   : start + (uint64_t)slot * (i / run) + random_u32() % (slot - run);
}

/* All of a turn is pushed, queue by queue, and what came in the turn before is popped. */
static uint64_t turn(struct order *o, uint32_t queues, const uint64_t *times, uint64_t watermark)
{
	static const uint64_t rec[RECORD_BYTES / 8];
	struct order_item item;
	uint64_t begin = cpu_ns(), sum = 0;

	for (uint32_t i = 0; i < HELD; i++)
		if (order_push(o, i / (HELD / queues), times[i], rec, RECORD_BYTES))
			abort();
	while (order_pop(o, watermark, &item))
		sum += *(const uint64_t *)item.rec;
	sink += sum;
	return cpu_ns() - begin;
}

static double round_of(struct order *o, uint32_t queues, uint32_t run, uint64_t *now)
{
	static uint64_t times[HELD];
	uint32_t each = HELD / queues;
	uint64_t ns = 0;

	for (int t = 0; t < TURNS; t++, *now += SPAN) {
		for (uint32_t q = 0; q < queues; q++)
			make_times(times + (size_t)q * each, each, run < each ? run : each, *now);
		ns += turn(o, queues, times, *now - 1);
	}
	return (double)ns / TURNS / HELD;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const char *name, uint32_t queues, uint32_t run, int rounds)
{
	struct order *o = order_new(queues, 48 << 20);
	uint64_t now = SPAN;
	double ns[MAX_ROUNDS];

	if (!o)
		abort();
	round_of(o, queues, run, &now);   /* memory is there */
	for (int i = 0; i < rounds; i++)
		ns[i] = round_of(o, queues, run, &now);
	if (order_late(o))
		abort();
	order_free(o);
	qsort(ns, (size_t)rounds, sizeof(*ns), by_value);
	printf("%s-%u %.2f\n", name, queues, ns[rounds / 2]);
}

int main(int argc, char **argv)
{
	static const uint32_t queues[] = { 2, 64, 512 };
	int rounds = argc > 1 ? atoi(argv[1]) : 15;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		rounds = 15;
	for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++) {
		measure("mixed", queues[i], 1, rounds);
		measure("runs", queues[i], 32, rounds);
	}
	return 0;
}
