/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk - what it costs to read a live ring in C: the lowest that any reader can do.
 *
 * Fills a ring with samples of syscalls:sys_enter_getppid (RAW|TIME|TID|CPU|ID|PERIOD,
 * 72 bytes, as the python command samples them), then walks it with libperfevent and
 * sums a field. Prints "walk NS" and "decode NS": ns of CPU time per event, the median
 * of the rounds; "decode" runs pev_decode() on each record, too.
 *
 *   walk [ROUNDS]
 *
 * With a ring that another CPU fills meanwhile, as a session reads it: prints "ready", and when the thread
 * TID has ended ns of CPU time per event, waiting included. "columns" copies three fields into columns, of which
 * one is summed: the least that a batch can cost; "groups" counts events and sums a field by the thread, in a
 * hash table: the least that an aggregate can cost.
 *
 *   walk columns|groups TID
 */
#include <perfevent.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 4096, RECORD = 72, MAX_ROUNDS = 64, AHEAD = 2048 };

static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static int die(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "walk: %s\n", text);
	return 1;
}

static uint64_t sum_raw(struct pev_ring *ring, uint64_t *events)
{
	const struct perf_event_header *rec;
	uint64_t sum = 0;

	while ((rec = pev_ring_next(ring))) {
		if (rec->type != PERF_RECORD_SAMPLE)
			continue;
		sum += ((const uint64_t *)rec)[2];   /* the time: behind header and pid, tid */
		++*events;
	}
	return sum;
}

static uint64_t sum_decoded(struct pev_ring *ring, uint64_t *events, const struct pev_format *fmt)
{
	const struct perf_event_header *rec;
	struct pev_record out;
	uint64_t sum = 0;

	while ((rec = pev_ring_next(ring))) {
		if (pev_decode(rec, rec->size, fmt, &out) || out.type != PERF_RECORD_SAMPLE)
			continue;
		sum += out.sample.time;
		++*events;
	}
	return sum;
}

enum { ROWS = 65536 };
static struct {
	uint64_t time[ROWS];
	uint32_t tid[ROWS], nr[ROWS];
} columns;

static uint64_t sum_column(struct pev_ring *ring, uint64_t *events)
{
	const struct perf_event_header *rec;
	uint64_t sum = 0, row = 0;

	while ((rec = pev_ring_next(ring))) {
		__builtin_prefetch((const char *)rec + AHEAD);
		if (rec->type != PERF_RECORD_SAMPLE)
			continue;
		columns.time[row] = ((const uint64_t *)rec)[2];
		columns.tid[row] = ((const uint32_t *)rec)[3];
		columns.nr[row] = *(const uint32_t *)((const char *)rec + rec->size - sizeof(uint64_t));
		++*events;
		if (++row < ROWS)
			continue;
		for (row = 0; row < ROWS; row++)
			sum += columns.time[row];
		row = 0;
	}
	return sum;
}

enum { SLOTS = 1024 };
static struct group {
	uint64_t key, n, sum;
} groups[SLOTS];

static struct group *group_of(uint64_t key)
{
	uint64_t at = (key + 1) * 0x9e3779b97f4a7c15 >> 54;

	while (groups[at].n && groups[at].key != key)
		at = (at + 1) % SLOTS;
	return &groups[at];
}

static uint64_t sum_groups(struct pev_ring *ring, uint64_t *events)
{
	const struct perf_event_header *rec;
	uint64_t sum = 0;

	while ((rec = pev_ring_next(ring))) {
		struct group *g;

		__builtin_prefetch((const char *)rec + AHEAD);
		if (rec->type != PERF_RECORD_SAMPLE)
			continue;
		g = group_of(((const uint32_t *)rec)[3]);
		g->key = ((const uint32_t *)rec)[3];
		g->n++;
		g->sum += ((const uint64_t *)rec)[2];
		++*events;
	}
	for (size_t i = 0; i < SLOTS; i++)
		sum += groups[i].sum;
	memset(groups, 0, sizeof(groups));
	return sum;
}

enum what { WALK, DECODE, NWHATS };

/* One ring full, one drain: ns per event. */
static double drain(struct pev_event *ev, struct pev_ring *ring, const struct pev_format *fmt, enum what what)
{
	uint64_t n = pev_ring_size(ring) / RECORD - 64, events = 0, begin;

	pev_event_enable(ev);
	for (uint64_t i = 0; i < n; i++)
		syscall(SYS_getppid);
	pev_event_disable(ev);
	begin = cpu_ns();
	pev_ring_begin(ring);
	sink += what == DECODE ? sum_decoded(ring, &events, fmt) : sum_raw(ring, &events);
	pev_ring_end(ring);
	begin = cpu_ns() - begin;
	if (events != n)
		fprintf(stderr, "walk: %llu events, not %llu\n", (unsigned long long)events,
			(unsigned long long)n);
	return (double)begin / (double)n;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return v[n / 2];
}

static int set_attr(struct perf_event_attr *attr, uint32_t watermark, struct pev_error *err)
{
	if (pev_attr_tracepoint(attr, "syscalls", "sys_enter_getppid", err))
		return -1;
	pev_attr_sample_period(attr, 1);
	attr->sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_TID | PERF_SAMPLE_CPU |
			    PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD;
	pev_attr_wakeup_watermark(attr, watermark);
	return 0;
}

enum { LIVE_PAGES = 2048, LIVE_WATERMARK = 2 << 20 };   /* as a session with ring="8M" */

static int walk_live(uint64_t (*sum)(struct pev_ring *, uint64_t *), pid_t tid)
{
	struct perf_event_attr attr;
	struct pev_event *ev;
	struct pev_ring *ring;
	struct pev_error err = {0};
	struct pollfd p = { .events = POLLIN };
	uint64_t events = 0, begin;

	if (set_attr(&attr, LIVE_WATERMARK, &err) || pev_event_open(&ev, &attr, pev_target_thread(tid), NULL, &err) ||
	    pev_ring_map(&ring, ev, LIVE_PAGES, &err))
		return die(&err);
	p.fd = pev_ring_fd(ring);
	puts("ready");
	fflush(stdout);
	begin = cpu_ns();
	do {
		poll(&p, 1, 100);
		pev_ring_begin(ring);
		sink += sum(ring, &events);
		pev_ring_end(ring);
	} while (!(p.revents & POLLHUP));
	printf("%.2f\n", (double)(cpu_ns() - begin) / (double)(events ? events : 1));
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 7;
	static const char *const names[NWHATS] = { "walk", "decode" };
	double ns[NWHATS][MAX_ROUNDS];
	struct perf_event_attr attr;
	struct pev_event *ev;
	struct pev_ring *ring;
	struct pev_format fmt;
	struct pev_error err = {0};

	if (argc > 2)
		return walk_live(strcmp(argv[1], "groups") ? sum_column : sum_groups, atoi(argv[2]));
	if (rounds < 1 || rounds > MAX_ROUNDS)
		rounds = 7;
	if (set_attr(&attr, 1 << 30, &err))
		return die(&err);
	attr.disabled = 1;
	pev_format_from_attr(&fmt, &attr);
	if (pev_event_open(&ev, &attr, pev_target_self(), NULL, &err) ||
	    pev_ring_map(&ring, ev, PAGES, &err))
		return die(&err);
	drain(ev, ring, &fmt, WALK);   /* touches every page once */
	for (int i = 0; i < rounds; i++)
		for (enum what what = WALK; what < NWHATS; what++)
			ns[what][i] = drain(ev, ring, &fmt, what);
	for (enum what what = WALK; what < NWHATS; what++)
		printf("%s %.2f\n", names[what], median(ns[what], rounds));
	pev_ring_unmap(ring);
	pev_event_close(ev);
	return 0;
}
