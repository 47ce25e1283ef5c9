/* SPDX-License-Identifier: Apache-2.0 */
/* Records within compressed records, of recordings made byte by byte. */
#include "recording.h"

#include <zstd.h>

/* `n` bytes as one stream, in compressed records of at most `each` bytes. */
static void put_compressed(struct file *f, const char *bytes, size_t n, size_t each)
{
	size_t room = ZSTD_compressBound(n), size, at, part;
	char *packed = malloc(room);

	assert_non_null(packed);
	size = ZSTD_compress(packed, room, bytes, n, 1);
	assert_false(ZSTD_isError(size));
	for (at = 0; at < size; at += part) {
		part = size - at < each ? size - at : each;
		put_head(f, COMPRESSED, 8 + part);
		put(f, packed + at, part);
	}
	free(packed);
}

static void records_go_on_from_one_compressed_record_to_the_next(void **state)
{
	struct file inner = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 50000; i++)
		put_sample(&inner, 7, i * 2654435761u);
	for (size_t each = 101; each < 60000; each = each * 5 + 3) {
		struct file f = { 0 };

		put_recording(&f, 1);
		put_compressed(&f, inner.bytes, inner.n, each);
		put_sample(&f, 8, 1);
		assert_int_equal(samples_of(&f, 0), 50002);
	}
	free(inner.bytes);
}

static void put_odd(struct file *f)
{
	put_head(f, 70, 13);   /* a record of perf's own, passed over */
	put(f, "12345", 5);
}

static void a_compressed_record_behind_an_odd_size(void **state)
{
	struct file inner = { 0 }, f = { 0 };

	(void)state;
	put_odd(&inner);
	put_sample(&inner, 7, 1);
	put_odd(&inner);
	put_sample(&inner, 7, 2);
	put_recording(&f, 1);
	put_compressed(&f, inner.bytes, inner.n, 60000);
	assert_int_equal(samples_of(&f, 0), 3);
	free(inner.bytes);
}

static void compressed_records_that_are_cut(void **state)
{
	struct file inner = { 0 }, f = { 0 };

	(void)state;
	put_sample(&inner, 7, 1);
	put_sample(&inner, 7, 2);
	put_recording(&f, 1);
	put_compressed(&f, inner.bytes, inner.n - 7, 60000);
	assert_int_equal(samples_of(&f, -1), 2);
	assert_non_null(strstr(fault.text, "end within a record, of which 17 bytes are there"));
	free(inner.bytes);
}

/* 1 GiB of records in some kilobytes: they come, and memory stays as it is. */
static void a_bomb_costs_no_memory(void **state)
{
	struct file inner = { 0 }, f = { 0 };
	long pages_before, pages_after;
	FILE *statm;
	size_t n = (size_t)1 << 22;

	(void)state;
	for (size_t i = 0; i < n; i++)
		put_sample(&inner, 7, 1);
	put_recording(&f, 1);
	put_compressed(&f, inner.bytes, inner.n, 60000);
	assert_true(f.n < 100000);
	free(inner.bytes);
	statm = fopen("/proc/self/statm", "re");
	assert_int_equal(fscanf(statm, "%*d %ld", &pages_before), 1);
	fclose(statm);
	assert_int_equal(samples_of(&f, 0), n + 1);
	statm = fopen("/proc/self/statm", "re");
	assert_int_equal(fscanf(statm, "%*d %ld", &pages_after), 1);
	fclose(statm);
	assert_true(pages_after < pages_before + 8192);
}

static void compressed_bytes_that_are_none(void **state)
{
	struct file f = { 0 };

	(void)state;
	put_recording(&f, 1);
	put_head(&f, COMPRESSED, 24);
	put(&f, "no zstd, not at all!", 16);
	put_sample(&f, 7, 2);
	assert_int_equal(samples_of(&f, -1), 2);
	assert_non_null(strstr(fault.text, "cannot unpack a compressed record"));
}

static void a_bomb_of_zeros_can_be_interrupted(void **state)
{
	static const char zeros[1 << 20];
	struct file f = { 0 };

	(void)state;
	put_recording(&f, 1);
	put_compressed(&f, zeros, sizeof(zeros), 60000);
	put_sample(&f, 7, 2);
	stops_within_zeros(&f, sizeof(zeros));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_go_on_from_one_compressed_record_to_the_next),
		cmocka_unit_test(a_compressed_record_behind_an_odd_size),
		cmocka_unit_test(compressed_records_that_are_cut),
		cmocka_unit_test(a_bomb_costs_no_memory),
		cmocka_unit_test(a_bomb_of_zeros_can_be_interrupted),
		cmocka_unit_test(compressed_bytes_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
