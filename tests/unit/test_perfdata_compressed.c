/* SPDX-License-Identifier: Apache-2.0 */
/* Records within compressed records, of recordings made byte by byte. */
#include "checks.h"
#include "recording.h"

#include <zstd.h>

static struct file inner, f;

static int end(void **state)
{
	free(inner.bytes);
	inner = f = (struct file){ 0 };
	return 0;
}

static long pages_of_ours(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	long pages;

	assert_int_equal(fscanf(statm, "%*d %ld", &pages), 1);
	fclose(statm);
	return pages;
}

/* `n` bytes as one stream, in compressed records of at most `each` bytes. */
static void put_compressed(const char *bytes, size_t n, size_t each)
{
	size_t room = ZSTD_compressBound(n), size, at, part;
	char *packed = malloc(room);

	size = ZSTD_compress(packed, room, bytes, n, 1);
	assert_false(ZSTD_isError(size));
	for (at = 0; at < size; at += part) {
		part = size - at < each ? size - at : each;
		put_head(&f, COMPRESSED, 8 + part);
		put(&f, packed + at, part);
	}
	free(packed);
}

TEST_WITH(records_go_on_from_one_compressed_record_to_the_next, NULL, end)
{
	for (uint64_t i = 0; i < 50000; i++)
		put_sample(&inner, 7, i * 2654435761u);
	for (size_t each = 101; each < 60000; each = each * 5 + 3) {
		put_recording(&f, 1);
		put_compressed(inner.bytes, inner.n, each);
		put_sample(&f, 8, 1);
		assert_int_equal(samples_of(&f, 0), 50002);
	}
}

static void put_odd(struct file *to)
{
	put_head(to, 70, 13);   /* a record of perf's own, passed over */
	put(to, "12345", 5);
}

TEST_WITH(a_compressed_record_behind_an_odd_size, NULL, end)
{
	put_odd(&inner);
	put_sample(&inner, 7, 1);
	put_odd(&inner);
	put_sample(&inner, 7, 2);
	put_recording(&f, 1);
	put_compressed(inner.bytes, inner.n, 60000);
	assert_int_equal(samples_of(&f, 0), 3);
}

/* 1 GiB of records in some kilobytes: they come, and memory stays as it is. */
TEST_WITH(a_bomb_costs_no_memory, NULL, end)
{
	size_t n = (size_t)1 << 22;
	long pages;

	for (size_t i = 0; i < n; i++)
		put_sample(&inner, 7, 1);
	put_recording(&f, 1);
	put_compressed(inner.bytes, inner.n, 60000);
	assert_true(f.n < 100000);
	free(inner.bytes);
	inner.bytes = NULL;
	pages = pages_of_ours();
	assert_int_equal(samples_of(&f, 0), n + 1);
	assert_true(pages_of_ours() < pages + 8192);
}

TEST_WITH(compressed_records_that_are_damaged, NULL, end)
{
	put_sample(&inner, 7, 1);
	put_sample(&inner, 7, 2);
	put_recording(&f, 1);
	put_compressed(inner.bytes, inner.n - 7, 60000);
	assert_int_equal(samples_of(&f, -1), 2);
	SAYS(fault.text, "end within a record, of which 17 bytes are there");
	put_recording(&f, 1);
	put_head(&f, COMPRESSED, 24);
	put(&f, "no zstd, not at all!", 16);
	put_sample(&f, 7, 2);
	assert_int_equal(samples_of(&f, -1), 2);
	SAYS(fault.text, "cannot unpack a compressed record");
}

TEST_WITH(a_bomb_of_zeros_can_be_interrupted, NULL, end)
{
	static const char zeros[1 << 20];
	put_recording(&f, 1);
	put_compressed(zeros, sizeof(zeros), 60000);
	put_sample(&f, 7, 2);
	stops_within_zeros(&f, sizeof(zeros));
}
