/* SPDX-License-Identifier: Apache-2.0 */
/* What is written can be read, however it ended. perf's own word: tests/python/test_record.py. */
#include "cmocka_all.h"

#include "perfdata/write/format.h"
#include "perfevent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/perfdata-XXXXXX";
static char path[64], old[80];

static char *content(const char *name, size_t *n)
{
	FILE *f = fopen(name, "rb");
	char *data = malloc(16 << 20);

	assert_non_null(f);
	assert_non_null(data);
	*n = fread(data, 1, 16 << 20, f);
	fclose(f);
	return data;
}

/* Walks a file to its end; how many records of the type it has. */
static size_t count(const char *name, uint32_t type)
{
	size_t n, at = 16, found = 0;
	char *data = content(name, &n);

	assert_true(n >= 16);
	assert_memory_equal(data, "PERFILE2\x10\0\0\0\0\0\0\0", 16);
	while (at < n) {
		struct perf_event_header rec;   /* what is behind compressed ones lies anywhere */

		memcpy(&rec, data + at, sizeof(rec));
		assert_true(rec.size >= 8 && at + rec.size <= n);
		found += rec.type == type;
		at += rec.size;
		if (rec.type == PERFDATA_TRACING_DATA)
			at += *(const uint32_t *)(data + at - 4);
	}
	assert_int_equal(at, n);
	free(data);
	return found;
}

static struct perfdata_writer *begin(void)
{
	struct fault f = {0};
	struct perfdata_writer *w = perfdata_new(path);

	assert_non_null(w);
	assert_int_equal(perfdata_open(w, &f), 0);
	return w;
}

static void records_come_back(void **state)
{
	struct { struct perf_event_header header; uint64_t word; } rec = {
		.header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(rec) },
	};
	static const char *const argv[] = { "perf-prof", "python" };
	struct perf_event_attr attr;
	uint64_t ids[10000] = { 1, 2, 3 };
	struct perfdata_writer *w = perfdata_new(path);

	(void)state;
	assert_non_null(w);
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	perfdata_put_attr(w, &attr, ids, 2);
	perfdata_put_attr(w, &attr, NULL, 0);
	perfdata_put_attr(w, &attr, ids, 10000);   /* in three parts */
	perfdata_put_machine(w, "1.0", argv, 2);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(perfdata_open(w, NULL), 0);
	for (int i = 0; i < 200000; i++)
		perfdata_put(w, &rec, sizeof(rec));
	perfdata_put_round(w);
	assert_int_equal(perfdata_close(w, NULL), 0);
	assert_int_equal(count(path, PERFDATA_HEADER_ATTR), 5);
	assert_int_equal(count(path, PERF_RECORD_SAMPLE), 200000);
	assert_int_equal(count(path, PERFDATA_FINISHED_ROUND), 3);   /* two are its end */
	assert_true(count(path, PERFDATA_FEATURE) >= 6);
}

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

/* Of the file's pages in memory, those that are not on the disk; -1 where nobody says. */
static long dirty_pages(int fd)
{
	struct { uint64_t off, len; } all = { 0, 0 };
	struct { uint64_t cache, dirty, writeback, evicted, recently; } stat;

	return syscall(SYS_cachestat, fd, &all, &stat, 0) ? -1 : (long)stat.dirty;
}

/* The kernel by itself leaves them for 30 s. */
static void what_was_flushed_goes_to_the_disk(void **state)
{
	struct { struct perf_event_header header; uint64_t words[127]; } rec = {
		.header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(rec) },
	};
	struct timespec begun, now, pause = { 0, 10000000 };
	struct perfdata_writer *w = begin();
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	(void)state;
	for (int i = 0; i < 200; i++)
		perfdata_put(w, &rec, sizeof(rec));
	assert_int_equal(perfdata_size(w), 16 + 200 * sizeof(rec));
	perfdata_flush(w);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	do {
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (dirty_pages(fd) > 0 && now.tv_sec - begun.tv_sec < 4);
	if (dirty_pages(fd) < 0)
		puts("# skip: needs Linux 6.5, to ask for pages that are dirty");
	else
		assert_int_equal(dirty_pages(fd), 0);
	close(fd);
	perfdata_close(w, NULL);
	if (dirty_pages(-1) < 0 && errno == ENOSYS)
		skip();
}

static void a_file_is_kept_as_old_and_nobody_else_reads_it(void **state)
{
	struct stat st;

	(void)state;
	perfdata_close(begin(), NULL);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(old, &st), 0);
	assert_true(st.st_size > 16);   /* that of the test before */
}

static void a_link_is_not_followed(void **state)
{
	struct stat st;
	char target[80];

	(void)state;
	snprintf(target, sizeof(target), "%s/target", folder);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
	perfdata_close(begin(), NULL);
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

static void a_full_disk_leaves_whole_records(void **state)
{
	struct { struct perf_event_header header; char data[9992]; } rec = {
		.header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(rec) },
	};
	struct rlimit before, small = { 3 << 20, RLIM_INFINITY };
	struct perfdata_writer *w = begin();
	struct fault f = {0};

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 1000; i++)
		perfdata_put(w, &rec, sizeof(rec));
	assert_true(perfdata_error(w) < 0);
	assert_int_equal(perfdata_close(w, &f), -1);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_non_null(strstr(f.text, path));
	assert_non_null(strstr(f.text, "can be read"));
	assert_true(count(path, PERF_RECORD_SAMPLE) > 100);
}

/* The limit is reached by the first piece that is written; what fits of it stays. */
static void a_small_disk_keeps_what_fits(void **state)
{
	struct { struct perf_event_header header; char data[9992]; } rec = {
		.header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(rec) },
	};
	static const struct { rlim_t limit; size_t kept; const char *said; } sizes[] = {
		{ 16 + 30 * sizeof(rec) + 1, 30, "can be read" },
		{ 16 + 30 * sizeof(rec), 30, "can be read" },
		{ 16 + sizeof(rec) - 1, 0, "contain no events" },
	};
	struct rlimit before, small;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perfdata_writer *w = begin();
		struct fault f = {0};

		small = (struct rlimit){ sizes[i].limit, before.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		for (int k = 0; k < 50; k++)
			perfdata_put(w, &rec, sizeof(rec));
		assert_int_equal(perfdata_close(w, &f), -1);
		setrlimit(RLIMIT_FSIZE, &before);
		assert_non_null(strstr(f.text, sizes[i].said));
		assert_int_equal(strstr(f.text, "no events") != NULL, !sizes[i].kept);
		assert_int_equal(count(path, PERF_RECORD_SAMPLE), sizes[i].kept);
	}
}

static void a_full_disk_has_no_head(void **state)
{
	struct perfdata_writer *w = perfdata_new("/dev/full");
	struct fault f = {0};

	(void)state;
	assert_int_equal(perfdata_open(w, &f), 0);
	assert_int_equal(perfdata_close(w, &f), -1);
	assert_non_null(strstr(f.text, "nothing was recorded"));
}

static void a_folder_that_is_not_there(void **state)
{
	struct fault f = {0};
	struct perfdata_writer *w = perfdata_new("/nowhere/perf.data");

	(void)state;
	assert_int_equal(perfdata_open(w, &f), -1);
	assert_int_equal(perfdata_close(w, NULL), 0);   /* nothing was to be written */
	assert_non_null(strstr(f.text, "/nowhere/perf.data"));
}

/* Each file begins with the head, and can be read alone; what is compressed, too. */
static void one_file_after_the_other(void **state)
{
	struct { struct perf_event_header header; uint64_t word; } rec = {
		.header = { .type = PERF_RECORD_SAMPLE, .size = sizeof(rec) },
	};
	struct fault f = {0};
	struct perf_event_attr attr;
	uint8_t id[20] = { 1, 2, 3 };

	(void)state;
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	for (int compressed = 0; compressed < 2; compressed++) {
		struct perfdata_writer *w = perfdata_new(path);

		perfdata_put_attr(w, &attr, NULL, 0);
		if (compressed && perfdata_compress(w, &f)) {
			perfdata_close(w, NULL);   /* without libzstd */
			return;
		}
		perfdata_end_of_head(w);
		perfdata_put_build_id(w, PERF_RECORD_MISC_USER, id, sizeof(id), "/bin/true");
		assert_int_equal(perfdata_open(w, &f), 0);
		for (int i = 0; i < 100000; i++)
			perfdata_put(w, &rec, sizeof(rec));
		assert_int_equal(perfdata_switch(w, old, &f), 0);
		perfdata_put(w, &rec, sizeof(rec));
		assert_int_equal(perfdata_close(w, &f), 0);
		assert_int_equal(count(old, PERFDATA_HEADER_ATTR), 1);
		assert_int_equal(count(path, PERFDATA_HEADER_ATTR), 1);
		assert_int_equal(count(old, PERFDATA_BUILD_ID), 1);
		assert_int_equal(count(path, PERFDATA_BUILD_ID), 0);
		assert_int_equal(count(old, PERF_RECORD_SAMPLE), compressed ? 0 : 100000);
		assert_int_equal(count(path, PERF_RECORD_SAMPLE), !compressed);
		assert_true(!compressed || count(old, PERFDATA_COMPRESSED) >= 2);
		assert_true(!compressed || count(path, PERFDATA_COMPRESSED) == 1);
	}
}

static void what_is_no_file_stays(void **state)
{
	struct stat st;
	struct perfdata_writer *w = perfdata_new("/dev/null");

	(void)state;
	assert_int_equal(perfdata_open(w, NULL), 0);
	assert_int_equal(perfdata_close(w, NULL), 0);
	assert_int_equal(lstat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_back),
		cmocka_unit_test(what_was_flushed_goes_to_the_disk),
		cmocka_unit_test(a_file_is_kept_as_old_and_nobody_else_reads_it),
		cmocka_unit_test(a_link_is_not_followed),
		cmocka_unit_test(a_full_disk_leaves_whole_records),
		cmocka_unit_test(a_small_disk_keeps_what_fits),
		cmocka_unit_test(a_full_disk_has_no_head),
		cmocka_unit_test(a_folder_that_is_not_there),
		cmocka_unit_test(one_file_after_the_other),
		cmocka_unit_test(what_is_no_file_stays),
	};
	int rc;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/perf.data", folder);
	snprintf(old, sizeof(old), "%s.old", path);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	if (chdir(folder) || system("rm -f perf.data perf.data.old") || rmdir(folder))
		return 1;
	return rc;
}
