/* SPDX-License-Identifier: Apache-2.0 */
/* Counter reads through a made-up control page; group counts and estimates; address
 * filters as text. */
#include "cmocka_all.h"

#include "perfevent/self.h"

#include <errno.h>

static uint64_t counter_value, clock_value;
static uint32_t asked_index;
static struct perf_event_mmap_page *racing;   /* changed while the counter is read */
static int races;

static uint64_t fake_counter(uint32_t index)
{
	asked_index = index;
	if (racing && races-- > 0) {
		racing->lock += 2;
		racing->offset += 1000;
	}
	return counter_value;
}

static uint64_t fake_clock(void)
{
	return clock_value;
}

static const struct pev_self_cpu fake = { fake_counter, fake_clock };
static const struct pev_self_cpu none = { NULL, NULL };

/* A counter of 48 bits on the PMU as number 3 of the kernel's count; 1 cycle = 2 ns. */
static void make(struct perf_event_mmap_page *page)
{
	memset(page, 0, sizeof(*page));
	page->lock = 4;
	page->index = 4;
	page->offset = 1000;
	page->pmc_width = 48;
	page->cap_user_rdpmc = 1;
	page->cap_user_time = 1;
	page->time_enabled = 500;
	page->time_running = 400;
	page->time_mult = 1 << 11;
	page->time_shift = 10;
	page->time_offset = (uint64_t)-2000;
	counter_value = 7;
	clock_value = 1100;
	racing = NULL;
}

static void value_and_times(void **state)
{
	struct perf_event_mmap_page page;
	struct pev_count c = { 0 };

	make(&page);
	assert_true(pev_self_page_(&page, &fake, true, &c));
	assert_int_equal(asked_index, 3);
	assert_int_equal(c.value, 1007);
	assert_int_equal(c.time_enabled, 500 + 200);
	assert_int_equal(c.time_running, 400 + 200);
}

/* The page's times are those of its last writing: without the clock they say nothing. */
static void times_are_there_if_asked_for(void **state)
{
	struct perf_event_mmap_page page;
	struct pev_count c = { 0 };
	struct pev_estimate est;

	make(&page);
	assert_true(pev_self_page_(&page, &fake, false, &c));
	assert_int_equal(c.value, 1007);
	assert_int_equal(c.time_enabled, 0);
	assert_int_equal(c.time_running, 0);
	assert_false(c.timed);
	assert_int_equal(pev_count_estimate(&c, &est), -EINVAL);
}

static void counters_are_signed_at_their_width(void **state)
{
	static const struct {
		uint16_t width;
		uint64_t raw;
		int64_t means;
	} rows[] = {
		{ 48, 0xffffffffffffULL, -1 },
		{ 48, 0x800000000000ULL, -(1LL << 47) },
		{ 48, 0x7fffffffffffULL, (1LL << 47) - 1 },
		{ 32, 0xfffffff0ULL, -16 },
		{ 40, 0x7fffffffffULL, (1LL << 39) - 1 },
		{ 64, UINT64_MAX, -1 },
		{ 1, 1, -1 },
		{ 0, 5, 5 },       /* pages that lie do no harm */
		{ 65, 5, 5 },
		{ 65535, 5, 5 },
	};
	struct perf_event_mmap_page page;
	struct pev_count c = { 0 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		make(&page);
		page.pmc_width = rows[i].width;
		page.offset = 1LL << 50;
		counter_value = rows[i].raw;
		assert_true(pev_self_page_(&page, &fake, true, &c));
		assert_int_equal((int64_t)c.value, (1LL << 50) + rows[i].means);
	}
}

static void when_the_kernel_is_asked(void **state)
{
	struct perf_event_mmap_page page;
	struct pev_count c;

	make(&page);
	page.index = 0;
	assert_false(pev_self_page_(&page, &fake, true, &c));
	make(&page);
	page.cap_user_rdpmc = 0;
	assert_false(pev_self_page_(&page, &fake, true, &c));
	make(&page);
	page.cap_user_time = 0;
	assert_false(pev_self_page_(&page, &fake, true, &c));
	assert_true(pev_self_page_(&page, &fake, false, &c));
	make(&page);
	assert_false(pev_self_page_(&page, &none, false, &c));
	/* a writer that never ends */
	page.lock = 5;
	assert_false(pev_self_page_(&page, &fake, true, &c));
}

static void a_read_that_was_disturbed_is_repeated(void **state)
{
	struct perf_event_mmap_page page;
	struct pev_count c;

	make(&page);
	racing = &page;
	races = 3;
	assert_true(pev_self_page_(&page, &fake, true, &c));
	assert_int_equal(c.value, 4007);
	races = 1000000;
	assert_false(pev_self_page_(&page, &fake, true, &c));
	racing = NULL;
}

static void time_is_made_of_cycles(void **state)
{
	struct perf_event_mmap_page page;
	struct pev_count c;

	/* a TSC that would overflow if multiplied in one go: 2^52 cycles of 0.4 ns */
	make(&page);
	page.time_mult = 1717986918;
	page.time_shift = 32;
	page.time_offset = 0;
	clock_value = 1ULL << 52;
	assert_true(pev_self_page_(&page, &fake, true, &c));
	assert_int_equal(c.time_enabled - 500, (uint64_t)(((unsigned __int128)1717986918 << 52) >> 32));
	/* a clock of 32 bits that wrapped since the page was written */
	make(&page);
	page.cap_user_time_short = 1;
	page.time_cycles = 0xfffffff0ULL;
	page.time_mask = 0xffffffffULL;
	page.time_offset = (uint64_t) - (int64_t)(2 * 0xfffffff0ULL);
	clock_value = 0x10;
	assert_true(pev_self_page_(&page, &fake, true, &c));
	assert_int_equal(c.time_enabled, 500 + 2 * 0x20);
	make(&page);
	page.time_shift = 64;
	assert_true(pev_self_page_(&page, &fake, true, &c));
}

/* ---- estimates ---------------------------------------------------------------- */

static void estimates_tell_their_share(void **state)
{
	struct pev_count c = { .value = 50, .time_enabled = 100, .time_running = 25, .timed = true };
	struct pev_estimate e;

	assert_int_equal(pev_count_estimate(&c, &e), 0);
	assert_true(e.value == 200 && e.share == 0.25 && !e.exact);
	c.time_running = 100;
	assert_int_equal(pev_count_estimate(&c, &e), 0);
	assert_true(e.value == 50 && e.share == 1 && e.exact);
	c.time_running = 0;
	assert_int_equal(pev_count_estimate(&c, &e), -ENODATA);
	c = (struct pev_count){ .timed = true };   /* not enabled yet */
	assert_int_equal(pev_count_estimate(&c, &e), 0);
	assert_true(e.value == 0 && e.exact);
}

static void counts_without_times_have_no_estimate(void **state)
{
	static const struct pev_count untimed[] = {
		{ .value = 3 },
		{ .value = 0 },                        /* not "exactly none" */
		{ .value = 3, .time_enabled = 100 },   /* PERF_FORMAT_TOTAL_TIME_ENABLED alone: not "never ran" */
		{ .value = 3, .time_running = 100 },
		{ .value = 3, .timed = true },         /* a value out of no time */
	};
	struct pev_estimate e;

	for (size_t i = 0; i < sizeof(untimed) / sizeof(*untimed); i++) {
		assert_int_equal(pev_count_estimate(&untimed[i], &e), -EINVAL);
		assert_true(e.value == 0 && e.share == 0 && !e.exact);
	}
}

static const char *text_of(struct pev_count c, const char *label)
{
	static char text[80];
	int n = pev_count_text(&c, label, text, sizeof(text));

	assert_int_equal(n, strlen(text));
	return text;
}

static void counts_as_text(void **state)
{
	struct pev_count c = { .value = UINT64_MAX, .time_enabled = 3, .time_running = 1,
			       .timed = true };
	char text[8];

	assert_string_equal(text_of((struct pev_count){ .value = 42 }, NULL), "42");
	assert_string_equal(text_of((struct pev_count){ 7, 9, 9, 0, 0, true }, "faults"), "faults = 7");
	assert_string_equal(text_of(c, "c"), "c = 18446744073709551615 (seen 33.3% of the time)");
	c.time_running = 0;
	assert_string_equal(text_of(c, NULL), "18446744073709551615 (never seen)");
	assert_int_equal(pev_count_text(&c, "long", text, sizeof(text)), 40);
	assert_string_equal(text, "long = ");
	assert_int_equal(pev_count_text(&c, "long", NULL, 0), 40);
}

static void a_group_as_a_table(void **state)
{
	struct pev_count counts[2] = { { .value = 5 }, { 1234, 4, 1, 0, 0, true } };
	struct pev_group *g = pev_group_new();
	struct perf_event_attr attr;
	char text[100];

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	assert_int_equal(pev_group_text(g, NULL, 0, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	pev_group_add(g, &attr, "one");
	pev_group_add(g, &attr, "two");
	assert_int_equal(pev_group_text(g, counts, 2, text, sizeof(text)), 43);
	assert_string_equal(text, "   5 one\n1234 two (seen 25.0% of the time)\n");
	assert_int_equal(pev_group_text(g, counts, 1, text, sizeof(text)), -EINVAL);
	pev_group_close(g);
}

/* ---- address filters ----------------------------------------------------------- */

static void ranges_as_the_kernel_reads_them(void **state)
{
	char text[128] = "";

	assert_int_equal(pev_filter_range(text, sizeof(text), PEV_RANGE_FILTER, 0x1000, 0x20,
					  "/bin/x"), 0);
	assert_string_equal(text, "filter 0x1000/0x20@/bin/x");
	assert_int_equal(pev_filter_range(text, sizeof(text), PEV_RANGE_STOP, 0xffffffff81000000,
					  0, NULL), 0);
	assert_string_equal(text, "filter 0x1000/0x20@/bin/x\nstop 0xffffffff81000000");
	assert_int_equal(pev_filter_range(text, 60, PEV_RANGE_START, 1, 2, "/bin/x"), -E2BIG);
	assert_string_equal(text, "filter 0x1000/0x20@/bin/x\nstop 0xffffffff81000000");
	text[0] = '\0';
	assert_int_equal(pev_filter_range(text, sizeof(text), PEV_RANGE_FILTER, 1, 0, NULL), -EINVAL);
	assert_int_equal(pev_filter_range(text, sizeof(text), PEV_RANGE_START, 1, 1, "a b"), -EINVAL);
	assert_int_equal(pev_filter_range(text, sizeof(text), PEV_RANGE_START, 1, 1, "a\nstop 0"),
			 -EINVAL);
	assert_int_equal(pev_filter_range(text, sizeof(text), (enum pev_range)7, 1, 1, NULL), -EINVAL);
	assert_int_equal(pev_filter_range(text, sizeof(text), PEV_RANGE_START, UINT64_MAX, 2, NULL),
			 -EINVAL);
	assert_string_equal(text, "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(value_and_times),
		cmocka_unit_test(times_are_there_if_asked_for),
		cmocka_unit_test(counters_are_signed_at_their_width),
		cmocka_unit_test(when_the_kernel_is_asked),
		cmocka_unit_test(a_read_that_was_disturbed_is_repeated),
		cmocka_unit_test(time_is_made_of_cycles),
		cmocka_unit_test(estimates_tell_their_share),
		cmocka_unit_test(counts_without_times_have_no_estimate),
		cmocka_unit_test(counts_as_text),
		cmocka_unit_test(a_group_as_a_table),
		cmocka_unit_test(ranges_as_the_kernel_reads_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
