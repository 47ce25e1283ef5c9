/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of time: growing both ways, never losing a value, bounded. */
#include "checks.h"

#include "report/heatmap_private.h"

struct sum {
	const struct heatmap *h;
	uint64_t n, misplaced;
};

/* Values are the times themselves, in ms: each must be in its span, a bucket's width aside. */
static int check(const struct heatmap_cell *cell, void *arg)
{
	struct sum *s = arg;
	uint64_t from = s->h->start + cell->span * s->h->step, to = from + s->h->step;

	s->n += cell->n;
	if (cell->high * 1000000 + 999999 < from || cell->low * 1000000 >= to)
		s->misplaced += cell->n;
	return 0;
}

static void is_whole(const struct heatmap *h, uint64_t n)
{
	struct sum s = { .h = h };

	assert_int_equal(heatmap_each(h, check, &s), 0);
	ARE(NUMBERS(s.n, s.misplaced), NUMBERS(n, 0));
	assert_true(h->n <= HEATMAP_SPANS);
}

static void add(struct heatmap *h, uint64_t ms)
{
	heatmap_add(h, ms * 1000000, ms);
}

TEST(both_ways)
{
	struct heatmap *h = heatmap_new();

	for (uint64_t ms = 5000; ms < 5500; ms++)
		add(h, ms);
	ARE(NUMBERS(h->step, h->n), NUMBERS(1000000, 500));
	is_whole(h, 500);
	for (uint64_t ms = 5500; ms < 100000; ms++)
		add(h, ms);
	is_whole(h, 95000);
	assert_true(h->n > HEATMAP_SPANS / 2);
	heatmap_free(h);
	h = heatmap_new();
	for (uint64_t ms = 100000; ms-- > 5000;)
		add(h, ms);
	is_whole(h, 95000);
	heatmap_free(h);
}

TEST(in_any_order)
{
	struct heatmap *h = heatmap_new();
	uint64_t seed = 7;

	for (int i = 0; i < 50000; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		add(h, 1000000 + seed % (1u << (i / 2000)));
	}
	is_whole(h, 50000);
	heatmap_free(h);
}

TEST(times_at_both_ends)
{
	static const uint64_t times[] = { UINT64_MAX, 0, 1, UINT64_MAX - 1, UINT64_MAX / 2 };

	for (size_t first = 0; first < COUNT(times); first++) {
		struct heatmap *h = heatmap_new();
		struct sum s = { .h = h };

		for (size_t i = 0; i < COUNT(times); i++)
			heatmap_add(h, times[(first + i) % COUNT(times)], i);
		heatmap_each(h, check, &s);
		assert_int_equal(s.n, COUNT(times));
		heatmap_free(h);
	}
}
