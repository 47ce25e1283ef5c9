/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by key: many of them beside a plain array, taken out and put in again; texts as keys; their order. */
#include "checks.h"

#include "table/groups.h"

enum { KEYS = 3000 };

struct row {
	uint64_t key, n;
};

static struct row *get(struct groups *g, uint64_t key, size_t max)
{
	return groups_get(g, &key, sizeof(key), sizeof(struct row), max);
}

TEST(rows_come_and_go)
{
	uint64_t n[KEYS] = { 0 }, seed = 1;
	struct groups g = { 0 };
	size_t rows = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t key = (seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407) >> 33;
		struct row *row = get(&g, key %= KEYS, KEYS);

		assert_int_equal(row->n++, n[key]++);
		if (i % 3)
			continue;
		groups_drop(&g, row);
		n[key] = 0;
	}
	for (uint64_t key = 0; key < KEYS; key++) {
		const struct row *row = groups_find(&g, &key, sizeof(key));

		assert_int_equal(row ? row->n : 0, n[key]);
		rows += n[key] > 0;
	}
	assert_int_equal(g.n, rows);
	for (const struct row *row = groups_first(&g); row; row = groups_next(row))
		rows--;
	assert_int_equal(rows, 0);
	groups_free(&g);
	assert_null(groups_first(&g));
}

static int by_n(const void *a, const void *b)
{
	return (int)((const struct row *)a)->n - (int)((const struct row *)b)->n;
}

TEST(order_and_limits)
{
	struct groups g = { 0 };
	uint64_t order[4], i = 0;

	for (uint64_t key = 0; key < 6; key++)
		get(&g, key, 6)->n = key / 2 % 2;
	assert_null(get(&g, 6, 6));
	for (struct row *row = groups_first(&g); row; row = groups_next(row))
		if (row->key > 3)
			groups_drop(&g, row);
	groups_sort(&g, by_n);
	assert_int_equal(get(&g, 1, 6)->n, 0);
	assert_int_equal(get(&g, 7, 6)->n, 0);
	for (const struct row *row = groups_first(&g); row && i < 4; row = groups_next(row))
		order[i++] = row->key;
	ARE(order, i, NUMBERS(0, 1, 2, 3));
	groups_clear(&g);
	assert_int_equal(get(&g, 1, 6)->n, 0);
	assert_int_equal(get(&g, 2, 6)->n, 0);
	assert_int_equal(g.n, 2);
	groups_free(&g);
}

/* Rows of all sizes stay where they are while others come and are sorted; all can be dropped within a loop. */
TEST(addresses_stay)
{
	static const size_t sizes[] = { sizeof(struct row), 300, 5000 };
	struct groups g = { 0 };

	for (size_t k = 0; k < COUNT(sizes); k++) {
		struct row *rows[700];
		size_t n = 0;

		for (uint64_t key = 0; key < 700; key++) {
			rows[key] = groups_get(&g, &key, sizeof(key), sizes[k], 700);
			rows[key]->n = 700 - key;
		}
		groups_sort(&g, by_n);
		for (uint64_t key = 0; key < 700; key++) {
			assert_ptr_equal(groups_find(&g, &key, sizeof(key)), rows[key]);
			assert_int_equal(rows[key]->key, key);
		}
		for (struct row *row = groups_first(&g); row; row = groups_next(row)) {
			assert_ptr_equal(row, rows[699 - n++]);
			groups_drop(&g, row);
		}
		assert_int_equal(n, 700);
		assert_int_equal(g.n, 0);
		groups_clear(&g);     /* the next rows have another size */
	}
	groups_free(&g);
}

struct word {
	uint64_t n;
	bool odd;
	char text[];
};

TEST(texts)
{
	struct groups g = { 0 };
	struct word *one = groups_text(&g, "one more", 3, offsetof(struct word, text), 2), *empty;

	assert_string_equal(one->text, "one");
	assert_ptr_equal(groups_find(&g, "one", 3), one);
	empty = groups_text(&g, "", 0, offsetof(struct word, text), 2);
	assert_string_equal(empty->text, "");
	assert_ptr_not_equal(one, empty);
	assert_null(groups_text(&g, "two", 3, offsetof(struct word, text), 2));
	groups_free(&g);
}
