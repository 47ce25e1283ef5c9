/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_decode - ns of CPU time per pev_decode(), the median of the rounds, over 512
 * records in memory that stays in the cache: "full" is RAW|TIME|TID|CPU|ID|PERIOD of a
 * tracepoint, 72 bytes; "clock" adds IP and a call chain of 20; "comm" is side-band.
 *
 *   bench_decode [ROUNDS]
 */
#include <perfevent.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RECORDS = 512, TURNS = 2000, MAX_ROUNDS = 64, WORDS = 64 };

static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

struct work {
	const char *name;
	struct pev_format fmt;
	uint32_t type;
	size_t words;
	uint64_t word[WORDS];
};

#define TRACE                                                                                      \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

static const struct work works[] = {
	{ "full", { .sample_type = TRACE }, PERF_RECORD_SAMPLE, 9,
	  { 0, 1, 2, 3, 4, 5, 20, 7, 8 } },
	{ "clock", { .sample_type = (TRACE & ~PERF_SAMPLE_RAW) | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN },
	  PERF_RECORD_SAMPLE, 28, { 0, 1, 2, 3, 4, 5, 6, 20 } },
	{ "comm", { .sample_type = TRACE, .sample_id_all = true }, PERF_RECORD_COMM, 8,
	  { 0, 1, 0x6261, 0, 2, 3, 4, 5 } },
};

static double per_record(const struct work *w, const uint64_t *records)
{
	uint64_t begin = cpu_ns(), sum = 0;
	struct pev_record out;

	for (int turn = 0; turn < TURNS; turn++)
		for (size_t i = 0; i < RECORDS; i++) {
			const void *rec = records + i * w->words;

			if (pev_decode(rec, w->words * 8, &w->fmt, &out))
				abort();
			sum += out.sample.time;
		}
	sink += sum;
	return (double)(cpu_ns() - begin) / TURNS / RECORDS;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void measure(const struct work *w, int rounds)
{
	uint64_t *records = calloc(RECORDS, w->words * 8);
	double ns[MAX_ROUNDS];

	if (!records)
		abort();
	for (size_t i = 0; i < RECORDS; i++) {
		uint64_t *rec = records + i * w->words;

		memcpy(rec, w->word, w->words * 8);
		*(struct perf_event_header *)rec =
			(struct perf_event_header){ w->type, 0, (uint16_t)(w->words * 8) };
	}
	for (int i = 0; i < rounds; i++)
		ns[i] = per_record(w, records);
	qsort(ns, (size_t)rounds, sizeof(*ns), by_value);
	printf("%s %.2f\n", w->name, ns[rounds / 2]);
	free(records);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 15;

	if (rounds < 1 || rounds > MAX_ROUNDS)
		rounds = 15;
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		measure(&works[i], rounds);
	return 0;
}
