/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols at made-up addresses: nested, aliased, without a size, anywhere in 64 bits. */
#include "cmocka_all.h"

#include "symbols/elf/symtab.h"

#include <errno.h>
#include <stdlib.h>

static void add(struct symtab *t, uint64_t start, uint64_t end, const char *name)
{
	struct symtab_entry e = { .start = start, .end = end, .name = name, .len = strlen(name) };

	assert_int_equal(symtab_add(t, &e), 0);
}

static void add_open(struct symtab *t, uint64_t start, uint64_t end, const char *name,
		     uint16_t group)
{
	struct symtab_entry e = { .start = start, .end = end, .open = true, .group = group,
				  .name = name, .len = strlen(name) };

	assert_int_equal(symtab_add(t, &e), 0);
}

static void is(const struct symtab *t, uint64_t addr, const char *name)
{
	struct symtab_hit hit;

	if (!name) {
		assert_false(symtab_find(t, addr, &hit));
		return;
	}
	assert_true(symtab_find(t, addr, &hit));
	assert_string_equal(hit.name, name);
	assert_true(hit.start <= addr);
}

static void sized(void **state)
{
	struct symtab *t = symtab_new();

	add(t, 300, 310, "c");
	add(t, 100, 110, "a");
	add(t, 110, 120, "b");
	assert_int_equal(symtab_finish(t), 0);
	is(t, 99, NULL);
	is(t, 100, "a");
	is(t, 109, "a");
	is(t, 110, "b");
	is(t, 120, NULL);
	is(t, 299, NULL);
	is(t, 309, "c");
	is(t, 310, NULL);
	is(t, UINT64_MAX, NULL);
	is(t, 0, NULL);
	assert_int_equal(symtab_count(t), 3);
	symtab_free(t);
	symtab_free(NULL);
}

static void nested(void **state)
{
	struct symtab *t = symtab_new();

	add(t, 100, 200, "outer");
	add(t, 110, 150, "middle");
	add(t, 120, 130, "inner");
	add(t, 160, 250, "across");
	assert_int_equal(symtab_finish(t), 0);
	is(t, 119, "middle");
	is(t, 125, "inner");
	is(t, 130, "middle");
	is(t, 150, "outer");
	is(t, 170, "across");
	is(t, 240, "across");
	is(t, 250, NULL);
	symtab_free(t);
}

static void aliases(void **state)
{
	struct symtab_entry low = { .start = 100, .end = 200, .rank = 1, .name = "low", .len = 3 };
	struct symtab_entry high = { .start = 100, .end = 150, .rank = 2, .name = "high", .len = 4 };
	struct symtab_entry same = { .start = 100, .end = 160, .rank = 2, .name = "same", .len = 4 };
	struct symtab *t = symtab_new();

	symtab_add(t, &low);
	symtab_add(t, &high);
	symtab_add(t, &same);
	assert_int_equal(symtab_finish(t), 0);
	is(t, 149, "high");
	is(t, 150, NULL);
	assert_int_equal(symtab_count(t), 1);
	symtab_free(t);
}

static void open_ends(void **state)
{
	struct symtab *t = symtab_new();

	add_open(t, 0x1000, 0x9000, "to_next", 1);
	add_open(t, 0x1100, 0x1180, "to_limit", 1);
	add_open(t, 0x1200, UINT64_MAX, "to_pages", 1);
	add_open(t, 0x100000, UINT64_MAX, "last", 2);
	assert_int_equal(symtab_finish(t), 0);
	is(t, 0x10ff, "to_next");
	is(t, 0x117f, "to_limit");
	is(t, 0x1180, NULL);
	is(t, 0x2fff, "to_pages");
	is(t, 0x3000, NULL);
	is(t, 0x101fff, "last");
	is(t, 0x102000, NULL);
	symtab_free(t);
}

static void what_is_no_symbol(void **state)
{
	struct symtab *t = symtab_new();

	add(t, 100, 100, "empty");
	add(t, 100, 90, "backwards");
	add(t, 100, 110, "");
	assert_int_equal(symtab_finish(t), -ENOENT);
	symtab_free(t);
}

/* The whole of 64 bits, one row per bucket or all in one. */
static void far_apart(void **state)
{
	struct symtab *t = symtab_new();

	add(t, 0, 1, "first");
	for (uint64_t i = 0; i < 1000; i++)
		add(t, (1ull << 40) + i * 2, (1ull << 40) + i * 2 + 1, "crowd");
	add(t, UINT64_MAX - 1, UINT64_MAX, "last");
	assert_int_equal(symtab_finish(t), 0);
	is(t, 0, "first");
	is(t, 1, NULL);
	for (uint64_t i = 0; i < 2000; i++)
		is(t, (1ull << 40) + i, i % 2 ? NULL : "crowd");
	is(t, (1ull << 40) - 1, NULL);
	is(t, (1ull << 41), NULL);
	is(t, UINT64_MAX - 1, "last");
	symtab_free(t);
}

/* Against a search through all of them. */
static void random_tables(void **state)
{
	enum { N = 300, SPAN = 4000, TABLES = 30 };
	struct { uint64_t start, end; char name[8]; } rows[N];
	unsigned int seed = 1;

	for (int round = 0; round < TABLES; round++) {
		struct symtab *t = symtab_new();

		for (int i = 0; i < N; i++) {
			rows[i].start = (uint64_t)(rand_r(&seed) % SPAN) << (round % 50);
			rows[i].end = rows[i].start + ((uint64_t)(1 + rand_r(&seed) % 60) << (round % 50));
			snprintf(rows[i].name, sizeof(rows[i].name), "%d", i);
			add(t, rows[i].start, rows[i].end, rows[i].name);
		}
		assert_int_equal(symtab_finish(t), 0);
		for (int k = 0; k < 1000; k++) {
			uint64_t addr = (uint64_t)(rand_r(&seed) % (SPAN + 60)) << (round % 50);
			int best = -1;

			for (int i = 0; i < N; i++) {
				bool alias = false;

				for (int j = 0; j < i; j++)
					alias |= rows[j].start == rows[i].start;
				if (!alias && rows[i].start <= addr && addr < rows[i].end &&
				    (best < 0 || rows[i].start > rows[best].start))
					best = i;
			}
			is(t, addr, best < 0 ? NULL : rows[best].name);
		}
		symtab_free(t);
	}
}

/* As many symbols inside of each other as can be: a look-up gives up rather than walks. */
static void a_tower(void **state)
{
	enum { N = 100000 };
	struct symtab *t = symtab_new();
	struct symtab_hit hit;

	for (uint64_t i = 0; i < N; i++)
		add(t, i, 3 * N - i, "floor");
	assert_int_equal(symtab_finish(t), 0);
	is(t, N, "floor");
	for (uint64_t i = 0; i < N; i++)
		symtab_find(t, 3 * N - i, &hit);
	symtab_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sized),
		cmocka_unit_test(nested),
		cmocka_unit_test(aliases),
		cmocka_unit_test(open_ends),
		cmocka_unit_test(what_is_no_symbol),
		cmocka_unit_test(far_apart),
		cmocka_unit_test(random_tables),
		cmocka_unit_test(a_tower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
