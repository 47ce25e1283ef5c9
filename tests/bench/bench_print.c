/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_print - ns of CPU time for the text of a sched_switch by this kernel's format,
 * by its compiled "print fmt" and by libtraceevent: the median of the rounds.
 *
 *   bench_print [ROUNDS]
 */
#include "../helpers/library_print.h"

#include <perfevent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 20000, MAX_ROUNDS = 64, RECORDS = 16 };

struct printers {
	struct tracefmt_db *db;
	struct library *library;
	const struct tracefmt *fmt;
};

typedef void print_fn(const struct printers *p, const void *raw, size_t *len);

struct record {
	uint64_t raw[32];
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void put(struct record *r, const struct trace_field *f, unsigned int i)
{
	static const char *const comms[] = { "swapper/0", "mysqld", "kworker/u8:3", "perf-prof" };
	uint64_t n = 7919 * i % 32768;

	if (f->kind == FIELD_STR)
		strncpy((char *)r->raw + f->offset, comms[i % 4], f->size);
	else if (!strcmp(f->name, "prev_state"))
		memcpy((char *)r->raw + f->offset, &(uint64_t){ i % 3 }, f->size);
	else if (strstr(f->name, "prio"))
		memcpy((char *)r->raw + f->offset, &(uint64_t){ 120 }, f->size);
	else
		memcpy((char *)r->raw + f->offset, &n, f->size);
}

static void make_records(struct record *records, const struct tracefmt *fmt)
{
	memset(records, 0, RECORDS * sizeof(*records));
	for (unsigned int i = 0; i < RECORDS; i++) {
		for (size_t k = 0; k < fmt->nfields; k++)
			put(&records[i], &fmt->fields[k], i + (unsigned int)k);
		memcpy((char *)records[i].raw + fmt->id_offset, &fmt->id, 2);
	}
}

static void print_compiled(const struct printers *p, const void *raw, size_t *len)
{
	tracefmt_print(p->db, p->fmt, raw, p->fmt->min_size, len);
}

static void print_library(const struct printers *p, const void *raw, size_t *len)
{
	library_text(p->library, raw, p->fmt->min_size, len);
}

static double round_ns(const struct printers *p, const struct record *records, print_fn *print)
{
	static volatile size_t sink;
	uint64_t begin = cpu_ns();
	size_t len;

	for (unsigned int i = 0; i < CALLS; i++) {
		print(p, records[i % RECORDS].raw, &len);
		sink += len;
	}
	(void)sink;
	return (double)(cpu_ns() - begin) / CALLS;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static print_fn *const print[] = { print_compiled, print_library };
	static const char *const name[] = { "compiled", "libtraceevent" };
	int rounds = argc > 1 ? atoi(argv[1]) : 9;
	double ns[2][MAX_ROUNDS];
	struct record records[RECORDS];
	struct printers p = { .db = tracefmt_db_new(), .library = library_new() };
	struct pev_error err = { 0 };
	struct fault f = { 0 };
	char tracefs[256];

	if (!p.db || !p.library || rounds < 1 || rounds > MAX_ROUNDS ||
	    pev_tracefs_path(tracefs, sizeof(tracefs), &err))
		return 1;
	p.fmt = tracefmt_load(p.db, tracefs, "sched", "sched_switch", &f);
	if (!p.fmt || p.fmt->min_size > sizeof(records->raw) || tracefmt_not_compiled(p.fmt) ||
	    !library_event(p.library, tracefs, p.fmt)) {
		fprintf(stderr, "sched:sched_switch can't be printed here\n");
		return 1;
	}
	make_records(records, p.fmt);
	for (int r = 0; r < rounds; r++)
		for (int i = 0; i < 2; i++)
			ns[i][r] = round_ns(&p, records, print[i]);
	for (int i = 0; i < 2; i++) {
		qsort(ns[i], (size_t)rounds, sizeof(double), by_size);
		printf("%s %.2f\n", name[i], ns[i][rounds / 2]);
	}
	library_free(p.library);
	tracefmt_db_free(p.db);
	return 0;
}
