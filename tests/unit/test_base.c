/* SPDX-License-Identifier: Apache-2.0 */
/* Number lists, units, nearest names, terminal escapes. */
#include "checks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include "base/cpulist.h"
#include "base/escape.h"
#include "base/fault.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "base/note.h"
#include "base/output.h"
#include "base/units.h"

/* ------------------------------------------------------------------------
 * Number lists
 */

TEST(list_reads_what_sysfs_and_users_write)
{
	static const struct {
		const char *text, *normal;
	} rows[] = {
		{ "0", "0" }, { "0-3,7", "0-3,7" }, { " 7 , 0 - 3\n", "0-3,7" }, { "3,2,1,0,2-3", "0-3" }, { "5-5", "5" },
		{ "1,2", "1-2" }, { "0,2,4", "0,2,4" }, { "0007", "7" }, { "0x10-0X12,0xa", "10,16-18" }, { "100", "100" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct numlist list;
		char buf[64];

		assert_int_equal(numlist_parse(&list, rows[i].text, 100, NULL), 0);
		assert_int_equal(numlist_text(&list, buf, sizeof(buf)), strlen(rows[i].normal));
		assert_string_equal(buf, rows[i].normal);
		numlist_free(&list);
		assert_int_equal(list.n, 0);
	}
}

TEST(list_shows_where_it_is_wrong)
{
	static const struct {
		const char *text;
		int err;
		size_t at;
	} rows[] = {
		{ "", -EINVAL, 0 }, { " \n", -EINVAL, 2 }, { "x", -EINVAL, 0 }, { "0,,1", -EINVAL, 2 },
		{ "0,", -EINVAL, 2 }, { "0-", -EINVAL, 2 }, { "-3", -EINVAL, 0 }, { "0-3-5", -EINVAL, 3 },
		{ "3-1", -EINVAL, 2 }, { "1 2", -EINVAL, 2 }, { "0x", -EINVAL, 0 }, { "1,0x65", -ERANGE, 2 },
		{ "0x1g", -EINVAL, 3 }, { "0-101", -ERANGE, 2 }, { "99999999999999999999", -ERANGE, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct numlist list;
		const char *bad = NULL;

		assert_int_equal(numlist_parse(&list, rows[i].text, 100, &bad), rows[i].err);
		assert_int_equal(bad - rows[i].text, rows[i].at);
		assert_null(list.v);
		assert_int_equal(list.n, 0);
	}
}

TEST(list_refuses_to_fill_the_memory_and_grows_one_by_one)
{
	static const int add[] = { 5, 1, 3, 5, 2, 9, 1 };
	struct numlist list;
	char buf[64];

	assert_int_equal(numlist_parse(&list, "0-2147483647", INT_MAX, NULL), -ERANGE);
	assert_int_equal(numlist_parse(&list, "2147483647", INT_MAX, NULL), 0);
	assert_int_equal(list.v[0], INT_MAX);
	numlist_free(&list);
	for (size_t i = 0; i < COUNT(add); i++)
		assert_int_equal(numlist_add(&list, add[i]), 0);
	numlist_text(&list, buf, sizeof(buf));
	assert_string_equal(buf, "1-3,5,9");
	assert_true(numlist_has(&list, 9) && !numlist_has(&list, 4) && !numlist_has(&list, 10));
	numlist_free(&list);
}

TEST(list_text_is_cut_but_tells_its_length)
{
	struct numlist list;
	char buf[5];

	assert_int_equal(numlist_parse(&list, "1-3,5,9", 10, NULL), 0);
	assert_int_equal(numlist_text(&list, buf, sizeof(buf)), 7);
	assert_string_equal(buf, "1-3,");
	assert_int_equal(numlist_text(&list, NULL, 0), 7);
	numlist_free(&list);
	assert_int_equal(numlist_text(&list, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
}

/* ------------------------------------------------------------------------
 * Units
 */

static int has_unit;

static int size_of(const char *text, uint64_t *v)
{
	return units_size(text, v, &has_unit);
}

static int with_sign(const char *text, uint64_t *v)
{
	return units_i64(text, (int64_t *)v);
}

TEST(numbers_are_read_to_the_last_character)
{
	static const struct {
		int (*read)(const char *text, uint64_t *v);
		struct {
			const char *text;
			int err;
			uint64_t value;
		} rows[24];
	} kinds[] = {
		{ units_u64, {
			{ "0", 0, 0 }, { "010", 0, 10 }, { "0x1F", 0, 31 }, { "18446744073709551615", 0, UINT64_MAX },
			{ "0xffffffffffffffff", 0, UINT64_MAX }, { "18446744073709551616", -ERANGE },
			{ "0x10000000000000000", -ERANGE }, { "-1", -ERANGE }, { "", -EINVAL }, { "-", -EINVAL }, { "+1", -EINVAL },
			{ " 1", -EINVAL }, { "1 ", -EINVAL }, { "12x", -EINVAL }, { "0x", -EINVAL }, { "1.5", -EINVAL },
			{ "99999999999999999999x", -EINVAL },
		} },
		{ with_sign, {
			{ "0", 0, 0 }, { "-0", 0, 0 }, { "+5", 0, 5 }, { "-1500", 0, (uint64_t)-1500 }, { "010", 0, 10 }, { "0xff", 0, 255 },
			{ "-0x10", 0, (uint64_t)-16 }, { "9223372036854775807", 0, INT64_MAX },
			{ "-9223372036854775808", 0, (uint64_t)INT64_MIN }, { "-0x8000000000000000", 0, (uint64_t)INT64_MIN },
			{ "9223372036854775808", -ERANGE }, { "-9223372036854775809", -ERANGE }, { "0xffffffffffffffff", -ERANGE },
			{ "", -EINVAL }, { "-", -EINVAL }, { "+", -EINVAL }, { "--1", -EINVAL }, { "+-1", -EINVAL }, { "-+1", -EINVAL },
			{ "- 1", -EINVAL }, { "1k", -EINVAL },
		} },
		{ size_of, {
			{ "8M", 0, 8 << 20 }, { "64K", 0, 64 << 10 }, { "64k", 0, 64 << 10 }, { "1G", 0, 1 << 30 }, { "4096B", 0, 4096 },
			{ "2MiB", 0, 2 << 20 }, { "16777215T", 0, 16777215ULL << 40 }, { "16777216T", -ERANGE }, { "-8M", -ERANGE },
			{ "M", -EINVAL }, { "8 M", -EINVAL }, { "8MM", -EINVAL }, { "8ms", -EINVAL },
		} },
		{ units_duration, {
			{ "1", 0, 1 }, { "7ns", 0, 7 }, { "500us", 0, 500000 }, { "10ms", 0, 10000000 }, { "1s", 0, 1000000000 },
			{ "2m", 0, 120000000000ULL }, { "1h", 0, 3600000000000ULL }, { "18446744074s", -ERANGE }, { "-1ms", -ERANGE },
			{ "10MS", -EINVAL }, { "10mss", -EINVAL }, { "ms", -EINVAL }, { "", -EINVAL },
		} },
	};
	uint64_t v;

	for (size_t k = 0; k < COUNT(kinds); k++)
		for (size_t i = 0; i < COUNT(kinds[k].rows) && kinds[k].rows[i].text; i++) {
			v = 77;
			has_unit = -1;
			if (kinds[k].read(kinds[k].rows[i].text, &v) != kinds[k].rows[i].err ||
			    v != (kinds[k].rows[i].err ? 77 : kinds[k].rows[i].value))
				fail_msg("kind %zu, \"%s\": %llu", k, kinds[k].rows[i].text, (unsigned long long)v);
			assert_true(kinds[k].rows[i].err || kinds[k].read != size_of || has_unit == 1);
		}
	assert_int_equal(units_size("128", &v, &has_unit), 0);
	ARE(NUMBERS(v, (uint64_t)has_unit), NUMBERS(128, 0));
}

TEST(numbers_are_told_in_words)
{
	static const struct {
		char *(*tell)(uint64_t number, char *buf, size_t size);
		uint64_t number;
		const char *text;
	} rows[] = {
		{ units_bytes_text, 0, "0 B" }, { units_bytes_text, 1023, "1023 B" }, { units_bytes_text, 1024, "1 KiB" },
		{ units_bytes_text, 812 << 10, "812 KiB" }, { units_bytes_text, 3 << 19, "1.5 MiB" },
		{ units_bytes_text, (1 << 20) - 1, "1 MiB" }, { units_bytes_text, 10 << 20, "10 MiB" },
		{ units_bytes_text, UINT64_MAX, "16 EiB" }, { units_duration_text, 0, "0 ns" }, { units_duration_text, 10, "10 ns" },
		{ units_duration_text, 812500, "812.5 us" }, { units_duration_text, 1234567, "1.234567 ms" },
		{ units_duration_text, 10000000, "10 ms" }, { units_duration_text, 90000000000, "90 s" },
		{ units_duration_text, 3600000000000000, "3600000 s" },
	};
	char buf[64];

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(rows[i].tell(rows[i].number, buf, sizeof(buf)), rows[i].text);
}

/* ------------------------------------------------------------------------
 * Nearest
 */

TEST(the_nearest_name_is_told_if_it_is_near)
{
	static const char *const names[] = {
		"help", "list", "python", "profile", "task-state", "top", "sched:sched_wakeup",
		"sched:sched_waking", "sched:sched_switch", "",
	};
	static const struct {
		const char *wanted, *found;
	} rows[] = {
		{ "hlep", "help" }, { "HELP", "help" }, { "lst", "list" }, { "pyhton", "python" }, { "prof", "profile" },
		{ "taskstate", "task-state" }, { "sched:sched_wakup", "sched:sched_wakeup" },
		{ "sched:sched_swich", "sched:sched_switch" }, { "schd:sched_wakeup", "sched:sched_wakeup" },
		{ "kvm-exit", NULL }, { "x", NULL }, { "", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct nearest n;

		nearest_begin(&n, rows[i].wanted);
		for (size_t k = 0; k < COUNT(names); k++)
			nearest_offer(&n, names[k]);
		if (rows[i].found)
			assert_string_equal(nearest_get(&n), rows[i].found);
		else
			assert_null(nearest_get(&n));
	}
}

TEST(long_names_are_no_danger)
{
	char wanted[301], candidate[128];
	struct nearest n;

	memset(wanted, 'a', sizeof(wanted));
	wanted[300] = '\0';
	memset(candidate, 'a', sizeof(candidate));
	candidate[127] = '\0';
	nearest_begin(&n, wanted);
	nearest_offer(&n, candidate);
	nearest_offer(&n, wanted);
	assert_null(nearest_get(&n));
	nearest_begin(&n, candidate);
	nearest_offer(&n, wanted);
	assert_null(nearest_get(&n));
	wanted[126] = '\0';
	nearest_offer(&n, wanted);
	assert_string_equal(nearest_get(&n), wanted);
}

/* ------------------------------------------------------------------------
 * Escapes
 */

TEST(control_characters_become_visible)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{ "worker/0", "worker/0" }, { "a\033[2Jb", "a\\x1b[2Jb" }, { "a\nb\tc\177", "a\\x0ab\\x09c\\x7f" },
		{ "\xc2\x9b" "31m", "\\xc2\\x9b31m" },             /* C1: CSI */
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe6\x97\xa5\xf0\x9f\x90\x8c", "\xe6\x97\xa5\xf0\x9f\x90\x8c" },
		{ "\xc3", "\\xc3" },                               /* cut short */
		{ "\xc3(", "\\xc3(" }, { "\xff\xfe", "\\xff\\xfe" },
		{ "\xc0\xaf", "\\xc0\\xaf" },                      /* overlong */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },             /* surrogate */
		{ "a\xe2\x80\xaetxt", "a\\xe2\\x80\\xaetxt" },   /* from right to left */
		{ "\xe2\x81\xa6\xd8\x9c\xe2\x80\x8f", "\\xe2\\x81\\xa6\\xd8\\x9c\\xe2\\x80\\x8f" },
		{ "\xe2\x80\xa8\xe2\x80\xa9", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9" },   /* line, paragraph */
		{ "\xe2\x80\x93\xd8\xb9", "\xe2\x80\x93\xd8\xb9" },   /* a dash, a letter of Arabic */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },    /* beyond Unicode */
	};
	char buf[64];

	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t n = escape_terminal(rows[i].text, strlen(rows[i].text), buf, sizeof(buf));

		assert_int_equal(n, strlen(rows[i].shown));
		assert_string_equal(buf, rows[i].shown);
	}
	assert_int_equal(escape_terminal("a\0b", 3, buf, sizeof(buf)), 6);
	assert_string_equal(buf, "a\\x00b");
}

TEST(an_escape_is_never_cut_in_two)
{
	static const struct {
		const char *text;
		size_t size, n;
		const char *shown;
	} rows[] = {
		{ "ab\033\033", 7, 6, "ab\\x1b" }, { "ab\033", 6, 2, "ab" }, { "a\xc3\xbc", 3, 1, "a" }, { "abc", 1, 0, "" },
	};
	char buf[8];

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(escape_terminal(rows[i].text, strlen(rows[i].text), buf, rows[i].size), rows[i].n);
		assert_string_equal(buf, rows[i].shown);
	}
	assert_int_equal(escape_terminal("abc", 3, NULL, 0), 0);
}

struct item {
	uint64_t key;
	UT_hash_handle hh;
};

/* The more there are, the likelier one bucket is full by chance: that alone makes no table larger. */
TEST(a_table_is_in_proportion_to_its_items)
{
	enum { ITEMS = 200000 };
	struct item *items = calloc(ITEMS, sizeof(*items)), *all = NULL, *found;
	uint64_t random = 1;

	assert_non_null(items);
	for (uint32_t i = 0; i < ITEMS; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		items[i].key = random;
		HASH_ADD(hh, all, key, sizeof(items[i].key), &items[i]);
		assert_false(HASH_LOST(&items[i]));
	}
	assert_in_range(all->hh.tbl->num_buckets, ITEMS / 4, ITEMS * 4);
	for (uint32_t i = 0; i < ITEMS; i++) {
		HASH_FIND(hh, all, &items[i].key, sizeof(items[i].key), found);
		assert_ptr_equal(found, &items[i]);
	}
	HASH_CLEAR(hh, all);
	free(items);
}

/* ------------------------------------------------------------------------
 * Output
 */

static FILE *stream_to(int fd)
{
	static char buffer[128];     /* glibc does not fill smaller ones */
	FILE *out = fdopen(fd, "w");

	assert_non_null(out);
	setvbuf(out, buffer, _IOFBF, sizeof(buffer));
	return out;
}

TEST(output_tells_a_reader_that_went_away)
{
	int ends[2];
	FILE *out;

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	out = stream_to(ends[1]);
	assert_int_equal(output_flush(out), 0);
	fputs("a line\n", out);
	assert_int_equal(output_flush(out), 0);
	close(ends[0]);
	for (int i = 0; i < 3; i++)     /* glibc drops a buffer that it could not write */
		fprintf(out, "%100d", i);
	fflush(out);
	errno = EAGAIN;
	assert_int_equal(output_flush(out), EPIPE);
	fclose(out);
}

TEST(output_tells_a_full_device)
{
	FILE *out = stream_to(open("/dev/full", O_WRONLY));

	fputs("a line\n", out);
	errno = EAGAIN;
	assert_int_equal(output_flush(out), ENOSPC);
	errno = EAGAIN;
	assert_int_equal(output_flush(out), EIO);   /* the error stays; its number is no longer known */
	fclose(out);
}

static void take_note(void *ctx, const char *text)
{
	snprintf(ctx, 64, "%s", text);
}

static int by_number(const void *a, const void *b)
{
	const unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

/* Call chains whose differences cancel each other in a hash without a key, whatever it begins with. */
TEST(keys_that_were_chosen_to_collide_do_not)
{
	enum { CHAINS = 1 << 10, WORDS = 40 };
	static unsigned int hashes[CHAINS];
	size_t distinct = 1;

	assert_true(hash_key[0] && hash_key[1] && hash_key[0] != hash_key[1]);
	for (unsigned int i = 0; i < CHAINS; i++) {
		uint64_t chain[WORDS] = { 0 };

		for (size_t k = 0; 1u << k < CHAINS; k++)
			if (i >> k & 1) {
				chain[4 * k] = UINT64_C(1) << 63;
				chain[4 * k + 2] = UINT64_C(1) << 63 | UINT64_C(1) << 31;
			}
		hashes[i] = (unsigned int)hash_words(chain, sizeof(chain));
	}
	qsort(hashes, CHAINS, sizeof(*hashes), by_number);
	for (size_t i = 1; i < CHAINS; i++)
		distinct += hashes[i] != hashes[i - 1];
	assert_true(distinct > CHAINS - 8);
}

TEST(a_note_can_go_elsewhere)
{
	char taken[64] = "";
	const struct note_sink sink = { take_note, taken };

	note_redirect(&sink);
	note(0, "a hint for a terminal");
	assert_string_equal(taken, "");
	note(1, "%d events", 3);
	note_redirect(NULL);
	assert_string_equal(taken, "3 events");
	note(-1, "nobody sees this");
	assert_string_equal(taken, "3 events");
}

TEST(a_fault_has_the_error_of_the_kernel)
{
	struct fault f = { 0 };

	assert_int_equal(fault_unreadable(&f, "/x", -EACCES), -1);
	assert_int_equal(f.error, EACCES);
	fault_usage(&f, "something else");
	assert_int_equal(f.error, 0);
	assert_int_equal(fault_unreadable(NULL, "/x", EACCES), -1);
}

/* A packet pipe keeps each write(2) apart. */
TEST(a_message_is_one_write)
{
	static const char expected[2][32] = { "perf-prof: two\nlines \\x1b\n", "perf-prof: 1 note\n" };
	int ends[2], before = dup(STDERR_FILENO);
	char got[2][128] = { "", "" };
	struct fault f = { 0 };

	fault_set(&f, 1, "two\nlines \033");
	assert_int_equal(pipe2(ends, O_DIRECT | O_CLOEXEC), 0);
	dup2(ends[1], STDERR_FILENO);
	fault_print(&f);
	note(1, "%d %s", 1, "note");
	dup2(before, STDERR_FILENO);
	close(ends[1]);
	for (int i = 0; i < 2; i++)
		assert_true(read(ends[0], got[i], sizeof(got[i]) - 1) > 0);
	close(ends[0]);
	close(before);
	assert_string_equal(got[0], expected[0]);
	assert_string_equal(got[1], expected[1]);
}
