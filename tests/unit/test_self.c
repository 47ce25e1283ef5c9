/* SPDX-License-Identifier: Apache-2.0 */
/* Counter reads through a made-up control page; group counts and estimates; address
 * filters as text. */
#include "checks.h"

#include "perfevent/open/self.h"

static uint64_t counter_value, clock_value;
static uint32_t asked_index;
static bool racing;      /* the page is changed while the counter is read */
static int races;
static struct perf_event_mmap_page page;

static uint64_t fake_counter(uint32_t index)
{
	asked_index = index;
	if (racing && races-- > 0) {
		page.lock += 2;
		page.offset += 1000;
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
static void make(void)
{
	memset(&page, 0, sizeof(page));
	page.lock = 4;
	page.index = 4;
	page.offset = 1000;
	page.pmc_width = 48;
	page.cap_user_rdpmc = 1;
	page.cap_user_time = 1;
	page.time_enabled = 500;
	page.time_running = 400;
	page.time_mult = 1 << 11;
	page.time_shift = 10;
	page.time_offset = (uint64_t)-2000;
	counter_value = 7;
	clock_value = 1100;
	racing = false;
}

static bool reads(const struct pev_self_cpu *cpu, bool times, struct pev_count *count)
{
	return pev_self_is_fast_(pev_self_page_(&page, cpu, times, count));
}

TEST(value_and_times)
{
	struct pev_count c = { 0 };
	struct pev_estimate est;

	make();
	assert_true(reads(&fake, true, &c));
	ARE(NUMBERS(asked_index, c.value, c.time_enabled, c.time_running), NUMBERS(3, 1007, 500 + 200, 400 + 200));
	/* the page's times are those of its last writing: without the clock they say nothing */
	c = (struct pev_count){ 0 };
	assert_true(reads(&fake, false, &c));
	ARE(NUMBERS(c.value, c.time_enabled, c.time_running, c.timed), NUMBERS(1007, 0, 0, false));
	assert_int_equal(pev_count_estimate(&c, &est), -EINVAL);
}

TEST(counters_are_signed_at_their_width)
{
	static const struct {
		uint16_t width;
		uint64_t raw;
		int64_t means;
	} rows[] = {
		{ 48, 0xffffffffffffULL, -1 }, { 48, 0x800000000000ULL, -(1LL << 47) },
		{ 48, 0x7fffffffffffULL, (1LL << 47) - 1 }, { 32, 0xfffffff0ULL, -16 },
		{ 40, 0x7fffffffffULL, (1LL << 39) - 1 }, { 64, UINT64_MAX, -1 }, { 1, 1, -1 },
		{ 0, 5, 5 },       /* pages that lie do no harm */
		{ 65, 5, 5 }, { 65535, 5, 5 },
	};
	struct pev_count c = { 0 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		make();
		page.pmc_width = rows[i].width;
		page.offset = 1LL << 50;
		counter_value = rows[i].raw;
		assert_true(reads(&fake, true, &c));
		assert_int_equal((int64_t)c.value, (1LL << 50) + rows[i].means);
	}
}

TEST(when_the_kernel_is_asked)
{
	struct pev_count c;

	make();
	page.index = 0;
	assert_false(reads(&fake, true, &c));
	make();
	page.cap_user_rdpmc = 0;
	assert_false(reads(&fake, true, &c));
	make();
	page.cap_user_time = 0;
	assert_int_equal(pev_self_page_(&page, &fake, true, &c), SELF_NO_TIME);
	assert_true(reads(&fake, false, &c));
	make();
	assert_false(reads(&none, false, &c));
	/* a writer that never ends */
	page.lock = 5;
	assert_false(reads(&fake, true, &c));
}

/* Without a clock an event that was never off the PMU is read all the same: its times are
 * old, its share is 1. One that shared its counter is for the kernel to read. */
TEST(times_without_a_clock)
{
	struct pev_count c = { 0 }, kernel, delta;
	struct pev_estimate est;

	make();
	page.cap_user_time = 0;
	page.time_running = page.time_enabled;
	assert_int_equal(pev_self_page_(&page, &fake, true, &c), SELF_STALE);
	ARE(NUMBERS(c.value, c.time_enabled, c.time_running, c.timed, c.stale), NUMBERS(1007, 500, 500, true, true));
	assert_int_equal(pev_count_estimate(&c, &est), 0);
	assert_true(est.value == 1007 && est.exact);
	/* two reads between which the page was not written: no time, but a value, and all of it */
	kernel = (struct pev_count){ .value = 7, .time_enabled = 500, .time_running = 500, .timed = true };
	delta = pev_count_delta(&kernel, &c);
	assert_int_equal(delta.time_enabled, 0);
	assert_int_equal(pev_count_estimate(&delta, &est), 0);
	assert_true(est.value == 1000 && est.share == 1 && est.exact);
	/* a read(2) before has newer times */
	kernel.time_enabled = kernel.time_running = 600;
	delta = pev_count_delta(&kernel, &c);
	ARE(NUMBERS(delta.time_enabled, delta.time_running), NUMBERS(0, 0));
	/* with a clock again, nothing is stale */
	page.cap_user_time = 1;
	assert_int_equal(pev_self_page_(&page, &fake, true, &c), SELF_FAST);
	assert_false(c.stale);
}

TEST(a_read_that_was_disturbed_is_repeated)
{
	struct pev_count c;

	make();
	racing = true;
	races = 3;
	assert_true(reads(&fake, true, &c));
	assert_int_equal(c.value, 4007);
	races = 1000000;
	assert_false(reads(&fake, true, &c));
	racing = false;
}

TEST(time_is_made_of_cycles)
{
	struct pev_count c;

	/* a TSC that would overflow if multiplied in one go: 2^52 cycles of 0.4 ns */
	make();
	page.time_mult = 1717986918;
	page.time_shift = 32;
	page.time_offset = 0;
	clock_value = 1ULL << 52;
	assert_true(reads(&fake, true, &c));
	assert_int_equal(c.time_enabled - 500, (uint64_t)(((unsigned __int128)1717986918 << 52) >> 32));
	/* a clock of 32 bits that wrapped since the page was written */
	make();
	page.cap_user_time_short = 1;
	page.time_cycles = 0xfffffff0ULL;
	page.time_mask = 0xffffffffULL;
	page.time_offset = (uint64_t) - (int64_t)(2 * 0xfffffff0ULL);
	clock_value = 0x10;
	assert_true(reads(&fake, true, &c));
	assert_int_equal(c.time_enabled, 500 + 2 * 0x20);
	make();
	page.time_shift = 64;
	assert_true(reads(&fake, true, &c));
}

static uint64_t fake_ns(void)
{
	return clock_value;
}

/* While the page is not written, its times go on with our own clock; they never run ahead of
 * what the kernel will write. */
TEST(stale_times_age)
{
	static const struct pev_self_cpu aging = { fake_counter, fake_clock, fake_ns };
	struct pev_sighting seen = { .seq = 1 };
	static const struct {
		uint64_t at, written, expected;   /* written: a new writing says so */
	} reads_at[] = {
		{ 10000, 500, 500 }, { 10300, 0, 800 }, { 10400, 0, 900 }, { 20000, 2000, 2000 }, { 20001, 0, 2001 },
	};

	make();
	page.cap_user_time = 0;
	for (size_t i = 0; i < COUNT(reads_at); i++) {
		struct pev_count c = { 0 };

		if (reads_at[i].written) {
			page.lock += 2;
			page.time_enabled = page.time_running = reads_at[i].written;
		}
		clock_value = reads_at[i].at;
		assert_int_equal(pev_self_page_(&page, &aging, true, &c), SELF_STALE);
		pev_self_age_(&seen, &page, &aging, page.lock, &c);
		assert_int_equal(c.time_enabled, reads_at[i].expected);
		assert_int_equal(c.time_running, reads_at[i].expected);
		/* written while it was read: the times stay as they were read */
		pev_self_age_(&seen, &page, &aging, page.lock - 2, &c);
		assert_int_equal(c.time_enabled, reads_at[i].expected);
	}
}

/* ---- which way is cheaper -------------------------------------------------------- */

/* What each call takes on a made-up clock, in turns: page, kernel, page ... */
static struct {
	uint64_t now, page_ns, kernel_ns;
	uint64_t late;         /* the call that is interrupted for 1 ms; 0: none */
	uint64_t calls, off_at;
} course;

static void take(uint64_t ns)
{
	course.now += ns + (++course.calls == course.late ? 1000000 : 0);
}

static bool course_page(void *arg)
{
	take(course.page_ns);
	return !course.off_at || course.calls < course.off_at;
}

static void course_kernel(void *arg)
{
	take(course.kernel_ns);
}

static uint64_t course_now(void)
{
	return course.now;
}

static enum pev_self_way run(uint64_t page_ns, uint64_t kernel_ns, uint64_t late)
{
	static const struct pev_self_race race = { course_page, course_kernel, course_now };

	memset(&course, 0, sizeof(course));
	course.page_ns = page_ns;
	course.kernel_ns = kernel_ns;
	course.late = late;
	return pev_self_race_(&race, NULL);
}

TEST(the_cheaper_way_is_taken)
{
	/* an instruction; one that is trapped, at 2.3 times the call; a draw */
	assert_int_equal(run(20, 400, 0), SELF_BY_PAGE);
	assert_int_equal(run(2300, 1000, 0), SELF_BY_KERNEL);
	assert_int_equal(run(300, 300, 0), SELF_BY_PAGE);
	/* one interruption, whenever it comes, changes nothing */
	for (uint64_t late = 1; late <= 8; late++) {
		assert_int_equal(run(20, 400, late), SELF_BY_PAGE);
		assert_int_equal(run(2300, 1000, late), SELF_BY_KERNEL);
	}
}

TEST(the_choice_takes_microseconds)
{
	run(2300, 1000, 0);
	assert_in_range(course.now, 0, 20000);
	run(20, 400, 0);
	assert_in_range(course.now, 0, 20000);
	/* and is none if the counter is lost meanwhile */
	memset(&course, 0, sizeof(course));
	course.off_at = 3;
	assert_int_equal(pev_self_race_(&(struct pev_self_race){ course_page, course_kernel, course_now }, NULL), SELF_UNDECIDED);
}

/* ---- events and groups that can't be read in user space say why --------------------- */

TEST(every_way_has_its_words)
{
	for (int how = SELF_FAST; how <= SELF_NOT_MAPPED; how++) {
		const char *text = pev_self_text_((enum pev_self_how)how);

		assert_int_equal(!strncmp(text, "in user space", 13), pev_self_is_fast_((enum pev_self_how)how));
		assert_int_equal(!strncmp(text, "by read(2)", 10), !pev_self_is_fast_((enum pev_self_how)how));
	}
}

/* ---- estimates ---------------------------------------------------------------- */

TEST(estimates_tell_their_share)
{
	static const struct {
		struct pev_count count;
		int rc;
		struct pev_estimate is;
	} rows[] = {
		{ { .value = 50, .time_enabled = 100, .time_running = 25, .timed = true }, 0, { .value = 200, .share = 0.25 } },
		{ { .value = 50, .time_enabled = 100, .time_running = 100, .timed = true }, 0, { .value = 50, .share = 1, .exact = true } },
		{ { .value = 50, .time_enabled = 100, .timed = true }, -ENODATA, { 0 } },
		{ { .timed = true }, 0, { .share = 1, .exact = true } },   /* not enabled yet */
		/* counts without times have none */
		{ { .value = 3 }, -EINVAL, { 0 } },
		{ { .value = 0 }, -EINVAL, { 0 } },                        /* not "exactly none" */
		{ { .value = 3, .time_enabled = 100 }, -EINVAL, { 0 } },   /* that alone: not "never ran" */
		{ { .value = 3, .time_running = 100 }, -EINVAL, { 0 } },
		{ { .value = 3, .timed = true }, -EINVAL, { 0 } },         /* a value out of no time */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct pev_estimate *is = &rows[i].is;
		struct pev_estimate e;

		assert_int_equal(pev_count_estimate(&rows[i].count, &e), rows[i].rc);
		if (rows[i].rc != -ENODATA)
			assert_true(e.value == is->value && e.share == is->share && e.exact == is->exact);
	}
}

static const char *text_of(struct pev_count c, const char *label)
{
	static char text[80];
	int n = pev_count_text(&c, label, text, sizeof(text));

	assert_int_equal(n, strlen(text));
	return text;
}

TEST(counts_as_text)
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

TEST(a_group_as_a_table)
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

TEST(ranges_as_the_kernel_reads_them)
{
	static const struct { enum pev_range range; uint64_t start, size; const char *file; } wrong[] = {
		{ PEV_RANGE_FILTER, 1, 0, NULL }, { PEV_RANGE_START, 1, 1, "a b" }, { PEV_RANGE_START, 1, 1, "a\nstop 0" },
		{ (enum pev_range)7, 1, 1, NULL }, { PEV_RANGE_START, UINT64_MAX, 2, NULL },
	};
	char text[128] = "";

	assert_int_equal(pev_filter_range(text, sizeof(text), PEV_RANGE_FILTER, 0x1000, 0x20, "/bin/x"), 0);
	assert_string_equal(text, "filter 0x1000/0x20@/bin/x");
	assert_int_equal(pev_filter_range(text, sizeof(text), PEV_RANGE_STOP, 0xffffffff81000000, 0, NULL), 0);
	assert_string_equal(text, "filter 0x1000/0x20@/bin/x\nstop 0xffffffff81000000");
	assert_int_equal(pev_filter_range(text, 60, PEV_RANGE_START, 1, 2, "/bin/x"), -E2BIG);
	assert_string_equal(text, "filter 0x1000/0x20@/bin/x\nstop 0xffffffff81000000");
	text[0] = '\0';
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_int_equal(pev_filter_range(text, sizeof(text), wrong[i].range, wrong[i].start, wrong[i].size, wrong[i].file),
				 -EINVAL);
	assert_string_equal(text, "");
}
