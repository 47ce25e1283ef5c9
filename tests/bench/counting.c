/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counting - what it costs to count a stretch of code, and to open an event.
 *
 * Prints "NAME NS" lines: ns of CPU time, the median of the rounds.
 *   one-cycle       one event: reset, enable, disable, read, by the library
 *   one-always      one event left on: two reads
 *   group-cycle     a group of four: reset, enable, disable with the group flag, read
 *   group-measure   pev_group_measure() of the four
 *   group-always    pev_group_begin() and pev_group_end() of the four
 *   open-close      pev_event_open() and pev_event_close()
 *   open-close-bare the two system calls
 *
 *   counting [ROUNDS]
 */
#include <perfevent.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS = 4, TURNS = 2000, OPEN_TURNS = 300, WARM_TURNS = 50, MAX_ROUNDS = 64 };

static const char *const members[MEMBERS] = { "task-clock", "page-faults", "context-switches",
					      "cpu-migrations" };

struct rig {
	struct pev_group *group;
	struct pev_event *single;
	struct perf_event_attr attr;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void nothing(void *arg)
{
	(void)arg;
}

static void one_cycle(struct rig *r)
{
	struct pev_count c;

	pev_event_reset(r->single);
	pev_event_enable(r->single);
	pev_event_disable(r->single);
	pev_event_read(r->single, &c);
}

static void one_always(struct rig *r)
{
	struct pev_count before, after;

	pev_event_read(r->single, &before);
	pev_event_read(r->single, &after);
	after = pev_count_delta(&before, &after);
}

static void group_cycle(struct rig *r)
{
	struct pev_event *leader = pev_group_event(r->group, 0);
	struct pev_count counts[MEMBERS];

	pev_event_reset_group(leader);
	pev_event_enable_group(leader);
	pev_event_disable_group(leader);
	pev_event_read_group(leader, counts, MEMBERS);
}

static void group_measure(struct rig *r)
{
	struct pev_count counts[MEMBERS];

	pev_group_measure(r->group, nothing, NULL, counts, MEMBERS);
}

static void group_always(struct rig *r)
{
	struct pev_count counts[MEMBERS];

	pev_group_begin(r->group);
	pev_group_end(r->group, counts, MEMBERS);
}

static void open_close(struct rig *r)
{
	struct pev_event *ev;

	pev_event_open(&ev, &r->attr, pev_target_self(), NULL, NULL);
	pev_event_close(ev);
}

static void open_close_bare(struct rig *r)
{
	close((int)syscall(SYS_perf_event_open, &r->attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

static const struct {
	const char *name;
	void (*fn)(struct rig *r);
	int turns;
	bool on;                 /* the events are left on */
} rows[] = {
	{ "one-cycle", one_cycle, TURNS, false },
	{ "one-always", one_always, TURNS, true },
	{ "group-cycle", group_cycle, TURNS, false },
	{ "group-measure", group_measure, TURNS, false },
	{ "group-always", group_always, TURNS, true },
	{ "open-close", open_close, OPEN_TURNS, false },
	{ "open-close-bare", open_close_bare, OPEN_TURNS, false },
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static void switch_all(struct rig *r, bool on)
{
	(on ? pev_event_enable : pev_event_disable)(r->single);
	(on ? pev_group_enable : pev_group_disable)(r->group);
}

static double measure(struct rig *r, int row)
{
	uint64_t begin;

	switch_all(r, rows[row].on);
	for (int i = 0; i < WARM_TURNS; i++)   /* or what ran before makes the first rows dear */
		rows[row].fn(r);
	begin = cpu_ns();
	for (int i = 0; i < rows[row].turns; i++)
		rows[row].fn(r);
	return (double)(cpu_ns() - begin) / rows[row].turns;
}

static int open_rig(struct rig *r, struct pev_error *err)
{
	r->group = pev_group_new();
	for (int i = 0; i < MEMBERS; i++) {
		pev_attr_software(&r->attr, members[i], NULL);
		r->attr.disabled = 1;
		r->attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
				      PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
		if (!r->group || pev_group_add(r->group, &r->attr, NULL) < 0)
			return -1;
	}
	if (pev_event_open(&r->single, &r->attr, pev_target_self(), NULL, err))
		return -1;
	return pev_group_open(r->group, pev_target_self(), NULL, err);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 7;
	static double got[ROWS][MAX_ROUNDS];
	struct pev_error err = { 0 };
	struct rig r = { 0 };
	char text[1200];

	if (rounds < 1 || rounds > MAX_ROUNDS)
		rounds = 7;
	if (open_rig(&r, &err)) {
		pev_error_text(&err, text, sizeof(text));
		fprintf(stderr, "counting: %s\n", text);
		return 1;
	}
	for (int i = 0; i < rounds; i++)
		for (int row = 0; row < ROWS; row++)
			got[row][i] = measure(&r, row);
	for (int row = 0; row < ROWS; row++) {
		qsort(got[row], (size_t)rounds, sizeof(double), by_value);
		printf("%s %.1f\n", rows[row].name, got[row][rounds / 2]);
	}
	pev_event_close(r.single);
	pev_group_close(r.group);
	return 0;
}
