/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_order - ns of CPU time that --order adds to a record: order_push() out of memory
 * in the cache and order_pop(), the median of the rounds. Records are 72 bytes, as a
 * tracepoint's; 16,384 are held back and as many come, as in 20 ms of 800,000 events a
 * second.
 *
 * "mixed" is the worst: hardly a record comes from the queue of the one before. In "runs"
 * a queue has its records of the time in a row, up to 32, as a busy CPU has. "floor" is the least
 * code that delivers the records of "mixed" in order, one turn late as they are: they are copied into an
 * array for each queue and merged by a tree of losers, without memory to manage, watermarks, tags or late
 * records.
 * The rounds of the three alternate.
 *
 *   bench_order [ROUNDS]
 */
#include "stream/order/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HELD = 16384, TURNS = 24, MAX_ROUNDS = 64, RECORD_BYTES = 72, MAX_QUEUES = 512 };
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

struct copy {
	uint64_t words[RECORD_BYTES / 8];   /* the first is the time */
};
static struct copy copies[2][HELD];       /* of this turn, which is held back, and of the one before */

struct head {
	uint64_t time;
	uint32_t queue;
};

/* loser[i] is who lost the match at node i; nodes `queues` and above are the queues. */
static struct head play(struct head *loser, const struct head *heads, uint32_t queues, uint32_t node)
{
	struct head a, b;

	if (node >= queues)
		return heads[node - queues];
	a = play(loser, heads, queues, 2 * node);
	b = play(loser, heads, queues, 2 * node + 1);
	loser[node] = a.time <= b.time ? b : a;
	return a.time <= b.time ? a : b;
}

static uint64_t floor_merge(const struct copy *held, uint32_t queues)
{
	static struct head loser[MAX_QUEUES], heads[MAX_QUEUES];
	static const struct copy *next[MAX_QUEUES], *end[MAX_QUEUES];
	uint32_t each = HELD / queues;
	uint64_t sum = 0;
	struct head best;

	for (uint32_t q = 0; q < queues; q++) {
		next[q] = held + (size_t)q * each;
		end[q] = next[q] + each;
		heads[q] = (struct head){ next[q]->words[0], q };
	}
	best = play(loser, heads, queues, 1);
	while (best.time != UINT64_MAX) {
		uint32_t q = best.queue;

		sum += next[q]->words[1];
		next[q]++;
		best.time = next[q] == end[q] ? UINT64_MAX : next[q]->words[0];
		for (uint32_t node = (queues + q) / 2; node; node /= 2) {
			struct head other = loser[node];
			bool lost = other.time < best.time;   /* without a branch to predict */

			loser[node] = lost ? best : other;
			best = lost ? other : best;
		}
	}
	return sum;
}

/* As turn(): what came in the turn before is merged. */
static uint64_t floor_turn(uint32_t queues, const uint64_t *times, struct copy *now, const struct copy *before)
{
	static const struct copy rec;
	uint64_t begin = cpu_ns();

	for (uint32_t i = 0; i < HELD; i++) {
		memcpy(&now[i], &rec, sizeof(rec));
		now[i].words[0] = times[i];
	}
	sink += floor_merge(before, queues);
	return cpu_ns() - begin;
}

static double floor_round(uint32_t queues)
{
	static uint64_t times[HELD];
	uint32_t each = HELD / queues;
	uint64_t ns = 0;

	for (int t = 0; t < TURNS; t++) {
		for (uint32_t q = 0; q < queues; q++)
			make_times(times + (size_t)q * each, each, 1, SPAN);
		ns += floor_turn(queues, times, copies[t % 2], copies[(t + 1) % 2]);
	}
	return (double)ns / TURNS / HELD;
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

static double median(double *ns, int rounds)
{
	qsort(ns, (size_t)rounds, sizeof(*ns), by_value);
	return ns[rounds / 2];
}

static void measure(uint32_t queues, int rounds)
{
	struct order *mixed = order_new(queues, 48 << 20), *runs = order_new(queues, 48 << 20);
	uint64_t now = SPAN, now_runs = SPAN;
	double mixed_ns[MAX_ROUNDS], runs_ns[MAX_ROUNDS], floor_ns[MAX_ROUNDS];

	if (!mixed || !runs)
		abort();
	round_of(mixed, queues, 1, &now);   /* memory is there */
	round_of(runs, queues, 32, &now_runs);
	for (int i = 0; i < rounds; i++) {
		floor_ns[i] = floor_round(queues);
		mixed_ns[i] = round_of(mixed, queues, 1, &now);
		runs_ns[i] = round_of(runs, queues, 32, &now_runs);
	}
	if (order_late(mixed) || order_late(runs))
		abort();
	order_free(mixed);
	order_free(runs);
	printf("floor-%u %.2f\nmixed-%u %.2f\nruns-%u %.2f\n", queues, median(floor_ns, rounds), queues,
	       median(mixed_ns, rounds), queues, median(runs_ns, rounds));
}

int main(int argc, char **argv)
{
	static const uint32_t queues[] = { 2, 64, MAX_QUEUES };
	int rounds = argc > 1 ? atoi(argv[1]) : 15;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		rounds = 15;
	for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++)
		measure(queues[i], rounds);
	return 0;
}
