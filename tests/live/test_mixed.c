/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of software events of several PMUs of the kernel: all count from the moment that the group is on,
 * however it was opened and enabled.
 * Requires: perf_event_open(2).
 */
#include "live.h"

#include <sys/mman.h>

enum { PAGES = 100, AGAIN = 15, FORMAT = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED };

static void touch(void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = PAGES * page;
	volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	assert_ptr_not_equal(p, MAP_FAILED);
	madvise((void *)p, size, MADV_NOHUGEPAGE);   /* a fault for each page */
	for (size_t i = 0; i < size; i += page)
		p[i] = 1;
	munmap((void *)p, size);
}

/* The two events; one is page-faults, the other a clock. */
struct pair {
	uint64_t leader, member;
};

static void check(const struct pair *pair, const struct pev_count c[2])
{
	int faults = pair->leader == PERF_COUNT_SW_PAGE_FAULTS ? 0 : 1;

	assert_in_range(c[faults].value, PAGES, 10 * PAGES);
	assert_true(c[!faults].value > 0);
}

static void for_all_pairs(void (*one)(const struct pair *))
{
	static const struct pair pairs[] = {
		{ PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS },
		{ PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_TASK_CLOCK },
		{ PERF_COUNT_SW_CPU_CLOCK, PERF_COUNT_SW_PAGE_FAULTS },
		{ PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_CPU_CLOCK },
	};

	for (size_t i = 0; i < AGAIN * COUNT(pairs); i++)
		one(&pairs[i % COUNT(pairs)]);
}

#define OF_ALL_PAIRS(name) \
	static void of_pair_##name(const struct pair *pair); \
	TEST(name) { for_all_pairs(of_pair_##name); } \
	static void of_pair_##name(const struct pair *pair)

/* ---- the groups of the library ----------------------------------------------------- */

static struct pev_group *group_of(const struct pair *pair, bool disabled)
{
	struct pev_group *g = pev_group_new();
	struct perf_event_attr attr;
	struct pev_error err = { 0 };

	assert_non_null(g);
	for (int i = 0; i < 2; i++) {
		pev_attr_init(&attr, PERF_TYPE_SOFTWARE, i ? pair->member : pair->leader);
		attr.disabled = disabled;
		assert_int_equal(pev_group_add(g, &attr, NULL), i);
	}
	skip_if_refused(pev_group_open(g, pev_target_self(), NULL, &err), &err);
	assert_int_equal(pev_event_attr(pev_group_event(g, 0))->disabled, disabled);
	return g;
}

OF_ALL_PAIRS(counts_from_its_opening)
{
	struct pev_group *g = group_of(pair, false);
	struct pev_count c[2];

	assert_int_equal(pev_group_begin(g), 0);
	touch(NULL);
	assert_int_equal(pev_group_end(g, c, 2), 2);
	check(pair, c);
	pev_group_close(g);
}

OF_ALL_PAIRS(counts_once_enabled)
{
	struct pev_group *g = group_of(pair, true);
	struct pev_count c[2];

	touch(NULL);
	assert_int_equal(pev_group_read(g, c, 2), 2);
	assert_int_equal(c[0].value | c[1].value, 0);
	assert_int_equal(pev_group_enable(g), 0);
	touch(NULL);
	assert_int_equal(pev_group_read(g, c, 2), 2);
	check(pair, c);
	pev_group_close(g);
}

OF_ALL_PAIRS(counts_what_is_measured)
{
	struct pev_group *g = group_of(pair, false);
	struct pev_count c[2];

	assert_int_equal(pev_group_measure(g, touch, NULL, c, 2), 2);
	check(pair, c);
	pev_group_close(g);
}

/* ---- groups by hand ---------------------------------------------------------------- */

static struct pev_event *open_one(uint64_t config, bool disabled, struct pev_event *leader)
{
	struct pev_open_opts opts = { .size = sizeof(opts), .group = leader };
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_event *ev;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, config);
	attr.disabled = disabled;
	attr.read_format = leader ? 0 : FORMAT;
	skip_if_refused(pev_event_open(&ev, &attr, pev_target_self(), &opts, &err), &err);
	return ev;
}

/* The ways to enable a leader and its member: none for one that joins what is on. */
enum way { JOINS, LEADER_THEN_MEMBER, MEMBER_THEN_LEADER, GROUP_BY_LEADER, GROUP_BY_MEMBER };

static int enable(enum way way, struct pev_event *leader, struct pev_event *member)
{
	switch (way) {
	case LEADER_THEN_MEMBER:
		return pev_event_enable(leader) | pev_event_enable(member);
	case MEMBER_THEN_LEADER:
		return pev_event_enable(member) | pev_event_enable(leader);
	case GROUP_BY_LEADER:
		return pev_event_enable_group(leader);
	case GROUP_BY_MEMBER:
		return pev_event_enable_group(member);
	default:
		return 0;
	}
}

static void by_hand(const struct pair *pair, enum way way)
{
	struct pev_event *leader = open_one(pair->leader, way != JOINS, NULL);
	struct pev_event *member = open_one(pair->member, way != JOINS, leader);
	struct pev_count before[2], c[2];

	assert_int_equal(enable(way, leader, member), 0);
	assert_int_equal(pev_event_read_group(leader, before, 2), 2);
	touch(NULL);
	assert_int_equal(pev_event_read_group(leader, c, 2), 2);
	for (int i = 0; i < 2; i++)
		c[i] = pev_count_delta(&before[i], &c[i]);
	check(pair, c);
	pev_event_close(member);
	pev_event_close(leader);
}

OF_ALL_PAIRS(counts_by_hand)
{
	for (enum way way = JOINS; way <= GROUP_BY_MEMBER; way++)
		by_hand(pair, way);
}

/* What is off stays off, and a closed leader's descriptor is nobody's. */
OF_ALL_PAIRS(leaves_off_what_is_off)
{
	struct pev_event *leader = open_one(pair->leader, true, NULL), *other;
	struct pev_event *member = open_one(pair->member, true, leader);
	struct pev_count c[2];

	assert_int_equal(pev_event_enable(member), 0);
	touch(NULL);
	assert_int_equal(pev_event_read_group(leader, c, 2), 2);
	assert_int_equal(c[0].value | c[1].value, 0);
	pev_event_close(leader);
	other = open_one(pair->leader, true, NULL);   /* has its number */
	assert_int_equal(pev_event_enable(member), 0);
	assert_int_equal(pev_event_enable_group(member), 0);
	touch(NULL);
	assert_int_equal(pev_event_read_group(other, c, 2), 1);
	assert_int_equal(c[0].value, 0);
	pev_event_close(member);
	pev_event_close(other);
}

/* Events that are the members' own PMU, and more of them. */
TEST(tracepoints_and_clocks)
{
	struct pev_event *leader = open_one(PERF_COUNT_SW_TASK_CLOCK, false, NULL), *faults, *calls;
	struct pev_open_opts opts = { .size = sizeof(opts), .group = leader };
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_count c[3];

	faults = open_one(PERF_COUNT_SW_PAGE_FAULTS, false, leader);
	getppid_attr(&attr);
	skip_if_refused(pev_event_open(&calls, &attr, pev_target_self(), &opts, &err), &err);
	assert_int_equal(pev_event_enable(calls), 0);
	touch(NULL);
	call_getppid(7);
	assert_int_equal(pev_event_read_group(leader, c, 3), 3);
	assert_in_range(c[1].value, PAGES, 10 * PAGES);
	assert_int_equal(c[2].value, 7);
	pev_event_close(calls);
	pev_event_close(faults);
	pev_event_close(leader);
}

AROUND_ALL(needs_the_system_call, NULL)
