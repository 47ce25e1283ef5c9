/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk_recording FILE [ROUNDS] - CPU ns per record of a perf.data file: "mapped", a walk through
 * the mapped file that sums a field, which is the floor; "read", the same through src/perfdata;
 * "whose", and the event of each looked up. Medians; each round reads the whole file.
 */
#include "perfdata/read/reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ROUNDS = 101, FIELD_AT = 24 };

static volatile uint64_t sum;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t field_of(const struct perf_event_header *rec)
{
	uint64_t v = 0;

	if (rec->size >= FIELD_AT + 8)
		memcpy(&v, (const char *)rec + FIELD_AT, 8);
	return v;
}

static double mapped(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint64_t words[13], n = 0, total = 0;
	double begin = now();
	char *map;

	if (fd < 0 || fstat(fd, &st) || pread(fd, words, sizeof(words), 0) != sizeof(words))
		exit(1);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		exit(1);
	for (uint64_t at = words[5], end = at + words[6]; at < end; n++) {
		const struct perf_event_header *rec = (void *)(map + at);

		total += field_of(rec);
		at += rec->size;
	}
	munmap(map, (size_t)st.st_size);
	close(fd);
	sum += total;
	return (now() - begin) / (double)n;
}

static double through_reader(const char *path, bool whose)
{
	struct fault f = { 0 };
	const struct perf_event_header *rec;
	struct perfdata_reader *r;
	uint64_t n = 0, total = 0;
	double begin = now();

	r = perfdata_reader_open(perfdata_reader_path(path, &f), path, &f);
	if (!r) {
		fault_print(&f);
		exit(1);
	}
	for (; perfdata_next(r, &rec, &f) > 0; n++)
		total += field_of(rec) + (whose ? (uint64_t)perfdata_event_of(r, rec) : 0);
	perfdata_reader_close(r);
	sum += total;
	return (now() - begin) / (double)n;
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

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 7;
	double floor_ns[MAX_ROUNDS], read_ns[MAX_ROUNDS], whose_ns[MAX_ROUNDS];

	if (argc < 2 || rounds < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: walk_recording FILE [ROUNDS]\n");
		return 2;
	}
	for (int i = 0; i < rounds; i++) {
		floor_ns[i] = mapped(argv[1]);
		read_ns[i] = through_reader(argv[1], false);
		whose_ns[i] = through_reader(argv[1], true);
	}
	printf("mapped %.2f\nread %.2f\nwhose %.2f\n", median(floor_ns, rounds), median(read_ns, rounds),
	       median(whose_ns, rounds));
	return 0;
}
