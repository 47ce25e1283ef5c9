/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that grow: how much memory they may take together. The kernel gives no larger ones here. */
#include "checks.h"

#include "stream/state/state.h"

#include "perfevent/rings/ring_private.h"

#include <errno.h>

static int test_owner(const struct stream *s, int cpu, pid_t tid, struct pev_event **owner, struct pev_error *err)
{
	return -EACCES;
}

#define open_ring_owner test_owner
#include "stream/rings/grow.c"
#undef open_ring_owner

enum { RINGS = 4, RING_BYTES = 4096 };

static char data[RINGS][RING_BYTES] __attribute__((aligned(8)));
static struct perf_event_mmap_page pages[RINGS];
static struct pev_ring bytes[RINGS];
static struct ring rings[RINGS];

/* All have lost events, and may take so many bytes together. */
static struct stream all_full(uint64_t most)
{
	struct stream s = { .rings = { .v = rings, .n = RINGS, .most_bytes = most } };

	memset(rings, 0, sizeof(rings));
	for (int i = 0; i < RINGS; i++) {
		bytes[i] = (struct pev_ring){ 0 };
		pev_ring_attach_(&bytes[i], &pages[i], data[i], RING_BYTES);
		rings[i] = (struct ring){ .ring = &bytes[i], .cpu = i, .lost = 1 };
		s.loss.totals.ring_bytes += RING_BYTES;
	}
	return s;
}

static size_t growing(const struct stream *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->rings.n; i++)
		n += s->rings.v[i].growth != NULL;
	return n;
}

TEST(those_to_come_count)
{
	static const struct { uint64_t most; size_t growing; } cases[] = {
		{ 0, 0 }, { (RINGS + FACTOR) * RING_BYTES - 1, 0 }, { (RINGS + FACTOR) * RING_BYTES, 1 },
		{ (RINGS + 3 * FACTOR) * RING_BYTES, 3 }, { UINT64_MAX / 2, RINGS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stream s = all_full(cases[i].most);

		grow_round(&s);
		assert_int_equal(growing(&s), cases[i].growing);
		grow_wait(&s);
		for (size_t k = 0; k < s.rings.n; k++)
			grow_free(&s.rings.v[k]);
	}
}

/* What could not be had is not tried again. */
TEST(a_refusal_is_the_last)
{
	struct stream s = all_full(UINT64_MAX / 2);

	grow_round(&s);
	grow_wait(&s);
	assert_true(grow_is_pending(&s));
	grow_round(&s);
	assert_false(grow_is_pending(&s));
	assert_false(grow_can(&s));
	grow_round(&s);
	assert_false(grow_is_pending(&s));
	assert_int_equal(s.loss.totals.ring_bytes, RINGS * RING_BYTES);
}
