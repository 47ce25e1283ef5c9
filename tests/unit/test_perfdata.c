/* SPDX-License-Identifier: Apache-2.0 */
/* What is written can be read, however it ended. perf's own word: tests/python/test_record.py. */
#include "checks.h"

#include "perfdata/write/format.h"
#include "perfevent.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

static char folder[] = "/tmp/perfdata-XXXXXX";
static char path[64], old[80];

static char *content(const char *name, size_t *n)
{
	FILE *f = fopen(name, "rb");
	char *data = malloc(16 << 20);

	assert_non_null(f);
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

/* n samples of so many bytes. */
static void put_samples(struct perfdata_writer *w, size_t n, uint16_t size)
{
	static char bytes[10000];
	struct perf_event_header *rec = (void *)bytes;

	*rec = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = size };
	for (size_t i = 0; i < n; i++)
		perfdata_put(w, rec, size);
}

static struct perfdata_writer *begin(void)
{
	struct fault f = {0};
	struct perfdata_writer *w = perfdata_new(path);

	assert_non_null(w);
	assert_int_equal(perfdata_open(w, &f), 0);
	return w;
}

TEST(records_come_back)
{
	static const char *const argv[] = { "perf-prof", "python" };
	struct perf_event_attr attr;
	uint64_t ids[10000] = { 1, 2, 3 };
	struct perfdata_writer *w = perfdata_new(path);

	assert_non_null(w);
	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	perfdata_put_attr(w, &attr, ids, 2);
	perfdata_put_attr(w, &attr, NULL, 0);
	perfdata_put_attr(w, &attr, ids, 10000);   /* in three parts */
	perfdata_put_machine(w, "1.0", argv, 2);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(perfdata_open(w, NULL), 0);
	put_samples(w, 200000, 16);
	perfdata_put_round(w);
	assert_int_equal(perfdata_close(w, NULL), 0);
	ARE(NUMBERS(count(path, PERFDATA_HEADER_ATTR), count(path, PERF_RECORD_SAMPLE), count(path, PERFDATA_FINISHED_ROUND)),
	    NUMBERS(5, 200000, 3));          /* two rounds are its end */
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
TEST(what_was_flushed_goes_to_the_disk)
{
	struct timespec begun, now, pause = { 0, 10000000 };
	struct perfdata_writer *w = begin();
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	put_samples(w, 200, 1024);
	assert_int_equal(perfdata_size(w), 16 + 200 * 1024);
	perfdata_flush(w);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	do {
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (dirty_pages(fd) > 0 && now.tv_sec - begun.tv_sec < 20);
	if (dirty_pages(fd) < 0)
		puts("# skip: needs Linux 6.5, to ask for pages that are dirty");
	else
		assert_int_equal(dirty_pages(fd), 0);
	close(fd);
	perfdata_close(w, NULL);
	if (dirty_pages(-1) < 0 && errno == ENOSYS)
		skip();
}

TEST(a_file_is_kept_as_old_and_nobody_else_reads_it)
{
	struct stat st;

	perfdata_close(begin(), NULL);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(old, &st), 0);
	assert_true(st.st_size > 16);   /* that of the test before */
}

TEST(a_link_is_not_followed)
{
	struct stat st;
	char target[80];

	snprintf(target, sizeof(target), "%s/target", folder);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
	perfdata_close(begin(), NULL);
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

/* The limit is reached by the first piece that is written, or a later one; what fits of it stays. */
TEST(a_full_disk_keeps_whole_records)
{
	enum { SIZE = 10000 };
	static const struct { rlim_t limit; size_t kept; const char *said; } sizes[] = {
		{ 16 + 30 * SIZE + 1, 30, "can be read" }, { 16 + 30 * SIZE, 30, "can be read" },
		{ 16 + SIZE - 1, 0, "contain no events" }, { 3 << 20, ((3 << 20) - 16) / SIZE, "can be read" },
	};
	struct rlimit before, small;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct perfdata_writer *w = begin();
		struct fault f = {0};

		small = (struct rlimit){ sizes[i].limit, before.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
		put_samples(w, sizes[i].limit > 1 << 20 ? 1000 : 50, SIZE);
		assert_true(perfdata_error(w) < 0 || sizes[i].limit < 1 << 20);
		assert_int_equal(perfdata_close(w, &f), -1);
		setrlimit(RLIMIT_FSIZE, &before);
		SAYS(f.text, sizes[i].said, path);
		assert_int_equal(strstr(f.text, "no events") != NULL, !sizes[i].kept);
		assert_int_equal(count(path, PERF_RECORD_SAMPLE), sizes[i].kept);
	}
}

TEST(what_cannot_be_written)
{
	struct perfdata_writer *w = perfdata_new("/dev/full");
	struct stat st;
	struct fault f = {0};

	assert_int_equal(perfdata_open(w, &f), 0);
	assert_int_equal(perfdata_close(w, &f), -1);
	SAYS(f.text, "nothing was recorded");
	w = perfdata_new("/nowhere/perf.data");
	assert_int_equal(perfdata_open(w, &f), -1);
	assert_int_equal(perfdata_close(w, NULL), 0);   /* nothing was to be written */
	SAYS(f.text, "/nowhere/perf.data");
	/* what is no file stays */
	w = perfdata_new("/dev/null");
	assert_int_equal(perfdata_open(w, NULL), 0);
	assert_int_equal(perfdata_close(w, NULL), 0);
	assert_int_equal(lstat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
}

/* Each file begins with the head, and can be read alone; what is compressed, too. */
TEST(one_file_after_the_other)
{
	struct fault f = {0};
	struct perf_event_attr attr;
	uint8_t id[20] = { 1, 2, 3 };

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
		put_samples(w, 100000, 16);
		assert_int_equal(perfdata_switch(w, old, &f), 0);
		put_samples(w, 1, 16);
		assert_int_equal(perfdata_close(w, &f), 0);
		ARE(NUMBERS(count(old, PERFDATA_HEADER_ATTR), count(old, PERFDATA_BUILD_ID), count(old, PERF_RECORD_SAMPLE)),
		    NUMBERS(1, 1, compressed ? 0 : 100000));
		ARE(NUMBERS(count(path, PERFDATA_HEADER_ATTR), count(path, PERFDATA_BUILD_ID), count(path, PERF_RECORD_SAMPLE)),
		    NUMBERS(1, 0, !compressed));
		assert_true(!compressed || count(old, PERFDATA_COMPRESSED) >= 2);
		assert_true(!compressed || count(path, PERFDATA_COMPRESSED) == 1);
	}
}

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/perf.data", folder);
	snprintf(old, sizeof(old), "%s.old", path);
	return 0;
}

static int remove_folder(void **state)
{
	unlink(path);
	unlink(old);
	return rmdir(folder);
}

AROUND_ALL(make_folder, remove_folder)
