/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols at made-up addresses: nested, aliased, without a size, anywhere in 64 bits. */
#include "checks.h"

#include "symbols/elf/symtab.h"

static struct symtab *t;

static int set_up(void **state)
{
	t = symtab_new();
	return 0;
}

static int tear_down(void **state)
{
	symtab_free(t);
	return 0;
}

static void add_open(uint64_t start, uint64_t end, const char *name, uint16_t group)
{
	struct symtab_entry e = { .start = start, .end = end, .open = group, .group = group, .name = name, .len = strlen(name) };

	assert_int_equal(symtab_add(t, &e), 0);
}

static void add(uint64_t start, uint64_t end, const char *name)
{
	add_open(start, end, name, 0);
}

static void is(uint64_t addr, const char *name)
{
	struct symtab_hit hit;
	bool found = symtab_find(t, addr, &hit);

	if (found != (name != NULL) || (found && (strcmp(hit.name, name) || hit.start > addr)))
		fail_msg("at %llu: %s", (unsigned long long)addr, found ? hit.name : "none");
}

struct look {
	uint64_t addr;
	const char *name;
};

#define ARE_AT(...) are_at((const struct look[]){ __VA_ARGS__ }, COUNT(((struct look[]){ __VA_ARGS__ })))

static void are_at(const struct look *looks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		is(looks[i].addr, looks[i].name);
}

TEST_WITH(sized, set_up, tear_down)
{
	add(300, 310, "c");
	add(100, 110, "a");
	add(110, 120, "b");
	assert_int_equal(symtab_finish(t), 0);
	ARE_AT({ 99, NULL }, { 100, "a" }, { 109, "a" }, { 110, "b" }, { 120, NULL }, { 299, NULL }, { 309, "c" },
		{ 310, NULL }, { UINT64_MAX, NULL }, { 0, NULL });
	assert_int_equal(symtab_count(t), 3);
	symtab_free(NULL);
}

TEST_WITH(nested, set_up, tear_down)
{
	add(100, 200, "outer");
	add(110, 150, "middle");
	add(120, 130, "inner");
	add(160, 250, "across");
	assert_int_equal(symtab_finish(t), 0);
	ARE_AT({ 119, "middle" }, { 125, "inner" }, { 130, "middle" }, { 150, "outer" }, { 170, "across" },
		{ 240, "across" }, { 250, NULL });
}

TEST_WITH(aliases, set_up, tear_down)
{
	static const struct symtab_entry entries[] = {
		{ .start = 100, .end = 200, .rank = 1, .name = "low", .len = 3 },
		{ .start = 100, .end = 150, .rank = 2, .name = "high", .len = 4 },
		{ .start = 100, .end = 160, .rank = 2, .name = "same", .len = 4 },
	};

	for (size_t i = 0; i < COUNT(entries); i++)
		symtab_add(t, &entries[i]);
	assert_int_equal(symtab_finish(t), 0);
	ARE_AT({ 149, "high" }, { 150, NULL });
	assert_int_equal(symtab_count(t), 1);
}

TEST_WITH(open_ends, set_up, tear_down)
{
	add_open(0x1000, 0x9000, "to_next", 1);
	add_open(0x1100, 0x1180, "to_limit", 1);
	add_open(0x1200, UINT64_MAX, "to_pages", 1);
	add_open(0x100000, UINT64_MAX, "last", 2);
	assert_int_equal(symtab_finish(t), 0);
	ARE_AT({ 0x10ff, "to_next" }, { 0x117f, "to_limit" }, { 0x1180, NULL }, { 0x2fff, "to_pages" },
		{ 0x3000, NULL }, { 0x101fff, "last" }, { 0x102000, NULL });
}

TEST_WITH(what_is_no_symbol, set_up, tear_down)
{
	add(100, 100, "empty");
	add(100, 90, "backwards");
	add(100, 110, "");
	assert_int_equal(symtab_finish(t), -ENOENT);
}

/* The whole of 64 bits, one row per bucket or all in one. */
TEST_WITH(far_apart, set_up, tear_down)
{
	add(0, 1, "first");
	for (uint64_t i = 0; i < 1000; i++)
		add((1ull << 40) + i * 2, (1ull << 40) + i * 2 + 1, "crowd");
	add(UINT64_MAX - 1, UINT64_MAX, "last");
	assert_int_equal(symtab_finish(t), 0);
	ARE_AT({ 0, "first" }, { 1, NULL });
	for (uint64_t i = 0; i < 2000; i++)
		is((1ull << 40) + i, i % 2 ? NULL : "crowd");
	ARE_AT({ (1ull << 40) - 1, NULL }, { (1ull << 41), NULL }, { UINT64_MAX - 1, "last" });
}

/* Against a search through all of them. */
TEST_WITH(random_tables, set_up, tear_down)
{
	enum { N = 300, SPAN = 4000, TABLES = 30 };
	struct { uint64_t start, end; char name[8]; } rows[N];
	unsigned int seed = 1;

	for (int round = 0; round < TABLES; round++) {
		symtab_free(t);
		t = symtab_new();
		for (int i = 0; i < N; i++) {
			rows[i].start = (uint64_t)(rand_r(&seed) % SPAN) << (round % 50);
			rows[i].end = rows[i].start + ((uint64_t)(1 + rand_r(&seed) % 60) << (round % 50));
			snprintf(rows[i].name, sizeof(rows[i].name), "%d", i);
			add(rows[i].start, rows[i].end, rows[i].name);
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
			is(addr, best < 0 ? NULL : rows[best].name);
		}
	}
}

/* As many symbols inside of each other as can be: a look-up gives up rather than walks. */
TEST_WITH(a_tower, set_up, tear_down)
{
	enum { N = 100000 };
	struct symtab_hit hit;

	for (uint64_t i = 0; i < N; i++)
		add(i, 3 * N - i, "floor");
	assert_int_equal(symtab_finish(t), 0);
	is(N, "floor");
	for (uint64_t i = 0; i < N; i++)
		symtab_find(t, 3 * N - i, &hit);
}
