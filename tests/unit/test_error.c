/* SPDX-License-Identifier: Apache-2.0 */
/* Every errno of opening and mapping has its words. */
#include "checks.h"

#include "perfevent/open/explain.h"

#include <errno.h>
#include <unistd.h>

static struct pev_event event_of(uint32_t type, struct pev_target target)
{
	struct pev_event ev = { .fd = -1, .target = target, .label = "my event" };

	pev_attr_init(&ev.attr, type, 0);
	return ev;
}

TEST(text_of_an_error)
{
	struct pev_error err = { 1, "open x", "No (E)", "do y" };
	char buf[64], tiny[8];

	assert_int_equal(pev_error_text(&err, buf, sizeof(buf)), 20);
	assert_string_equal(buf, "open x: No (E); do y");
	assert_int_equal(pev_error_text(&err, tiny, sizeof(tiny)), 7);
	assert_string_equal(tiny, "open x:");
	assert_int_equal(pev_error_text(&err, NULL, 0), 0);
	err.remedy[0] = '\0';
	pev_error_text(&err, buf, sizeof(buf));
	assert_string_equal(buf, "open x: No (E)");
}

/* Some words that only this errno's remedy has; those that try at the kernel what it
 * refuses (EINVAL, E2BIG, EOPNOTSUPP) are in tests/live. */
TEST(every_errno_has_a_remedy)
{
	static const struct {
		int code;
		const char *words;
	} rows[] = {
		{ EMFILE, "ulimit -n" }, { ENFILE, "fs.file-max" }, { ENOMEM, "memory" }, { ENODEV, "CPU 5" },
		{ ENXIO, "CPU 5" }, { ENOSPC, "counters are taken" }, { ENOSYS, "CONFIG_PERF_EVENTS" },
		{ EOVERFLOW, "perf_event_max_stack" }, { ESRCH, "thread" }, { EBUSY, "watchdog" },
		{ ENOENT, "perf-prof list" }, { EACCES, "CAP_PERFMON" }, { EPERM, "perf" }, { EXDEV, "perf_event_open(2)" },
	};
	struct pev_event ev = event_of(PERF_TYPE_TRACEPOINT, pev_target_cpu(5));

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct pev_error err;

		memset(&err, 0xff, sizeof(err));
		assert_int_equal(pev_explain_open(&err, &ev, rows[i].code), -rows[i].code);
		assert_int_equal(err.code, rows[i].code);
		assert_string_equal(err.asked, "open my event on CPU 5");
		assert_non_null(strstr(err.said, strerrorname_np(rows[i].code)));
		assert_non_null(strstr(err.remedy, rows[i].words));
	}
	assert_int_equal(pev_explain_open(NULL, &ev, EACCES), -EACCES);
}

static int open_cycles(bool kernel, struct pev_error *err)
{
	struct perf_event_attr attr;
	struct pev_event *ev;
	int rc;

	pev_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	attr.disabled = 1;
	attr.exclude_kernel = attr.exclude_hv = !kernel;
	rc = pev_event_open(&ev, &attr, pev_target_self(), NULL, err);
	pev_event_close(ev);
	return rc;
}

static bool lacks_cycles(void)
{
	return open_cycles(false, NULL) == -ENOENT;
}

TEST(the_errno_is_the_same_without_err)
{
	const uid_t own = geteuid();
	struct pev_error err;
	int with, without;

	assert_int_equal(own ? 0 : seteuid(65534), 0);
	with = open_cycles(true, &err);
	without = open_cycles(true, NULL);
	assert_int_equal(own ? 0 : seteuid(own), 0);
	assert_int_equal(with, without);
}

TEST(remedies_look_at_the_event)
{
	struct pev_event hw = event_of(PERF_TYPE_HARDWARE, pev_target_self());
	struct pev_event bp = event_of(PERF_TYPE_BREAKPOINT, pev_target_thread(77));
	struct pev_event cg = event_of(PERF_TYPE_SOFTWARE, pev_target_cgroup(3, 0));
	const struct {
		const struct pev_event *ev;
		int code;
		const char *words;
	} rows[] = {
		{ &hw, ENODEV, "does not exist on this machine" }, { &cg, ENOENT, "control group" }, { &bp, ENOSPC, "breakpoint" },
		{ &bp, ESRCH, "thread 77" },
	};
	struct pev_error err;

	pev_explain_open(&err, &hw, ENOENT);
	/* with a PMU it is this counter that is missing */
	assert_true(strstr(err.remedy, "no such hardware counter") || strstr(err.remedy, "counts other events, not this one"));
	for (size_t i = 0; i < COUNT(rows); i++) {
		pev_explain_open(&err, rows[i].ev, rows[i].code);
		SAYS(err.remedy, rows[i].words);
	}
	/* a missing counter is the reason on any target */
	hw.target = cg.target;
	pev_explain_open(&err, &hw, ENOENT);
	assert_true(!!strstr(err.remedy, "control group") == !lacks_cycles());
}

/* What is wrong is named even if two things are, and not what comes of it. */
TEST(causes_of_refused_events)
{
	struct pev_event no_ring = event_of(PERF_TYPE_SOFTWARE, pev_target_self()), ring = no_ring;
	struct pev_event gone = event_of(PERF_TYPE_SOFTWARE, pev_target_thread(-1));
	struct pev_error err;

	pev_explain_open(&err, &gone, EINVAL);
	SAYS(err.asked, "on thread -1");
	SAYS(err.remedy, "0 or more");
	ring.has_ring = true;
	pev_explain_output_(&err, &no_ring, &no_ring, EINVAL);
	SAYS(err.remedy, "my event has no ring yet");
	pev_explain_output_(&err, &no_ring, &ring, EINVAL);
	SAYS(err.remedy, "the same CPU or the same task");
}

TEST(mapping_errors)
{
	struct pev_event ev = event_of(PERF_TYPE_SOFTWARE, pev_target_self());
	struct pev_error err;

	assert_int_equal(pev_explain_map(&err, &ev, 3, EINVAL), -EINVAL);
	assert_string_equal(err.asked, "map a ring of 3 pages for my event");
	assert_non_null(strstr(err.remedy, "3 is not a power of two"));
	pev_explain_map(&err, &ev, 8, EPERM);
	assert_non_null(strstr(err.remedy, "perf_event_mlock_kb"));
	pev_explain_map(&err, &ev, 8, ENOMEM);
	assert_non_null(strstr(err.remedy, "smaller"));
	ev.attr.inherit = 1;
	pev_explain_map(&err, &ev, 8, EINVAL);
	assert_non_null(strstr(err.remedy, "inherit"));
	assert_int_equal(pev_explain_map(NULL, &ev, 8, EPERM), -EPERM);
}

/* Labels and filters are a user's: as long as they like, the texts end in time. */
TEST(long_words_are_cut)
{
	struct pev_event ev = event_of(PERF_TYPE_SOFTWARE, pev_target_self());
	char filter[4096], buf[64];
	struct pev_error err;

	memset(filter, 'x', sizeof(filter) - 1);
	filter[sizeof(filter) - 1] = '\0';
	assert_int_equal(pev_explain_filter(&err, &ev, filter, EINVAL), -EINVAL);
	assert_true(strlen(err.asked) < sizeof(err.asked));
	assert_non_null(strstr(err.asked, "my event"));
	assert_int_equal(pev_error_text(&err, buf, sizeof(buf)), sizeof(buf) - 1);
	assert_int_equal(pev_explain_filter(&err, &ev, NULL, EINVAL), -EINVAL);
	assert_int_equal(pev_explain_filter(NULL, &ev, filter, EINVAL), -EINVAL);
}

/* Whoever leaves err as it lies on the stack can read it after every refusal. */
static void is_told(const struct pev_error *err, const char *asked, const char *said)
{
	assert_int_equal(err->code, EINVAL);
	assert_string_equal(err->asked, asked);
	assert_non_null(strstr(err->said, said));
	assert_true(err->remedy[0] && strlen(err->remedy) < sizeof(err->remedy));
}

TEST(wrong_options_are_told)
{
	struct { struct pev_open_opts opts; uint64_t tail; } rows[] = {
		{ .opts.size = 0 }, { .opts.size = sizeof(rows[0]), .tail = 1 },
		{ .opts = { .size = sizeof(rows[0].opts), .flags = PERF_FLAG_FD_OUTPUT } },
		{ .opts = { .size = sizeof(rows[0].opts), .flags = PERF_FLAG_PID_CGROUP } },
	};
	static const char *const said[] = {
		"smaller than the field", "not zero", "without a group", "no control group",
	};
	struct perf_event_attr attr;
	struct pev_error err;
	struct pev_event *ev;
	struct pev_group *g = pev_group_new();

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	assert_int_equal(pev_group_add(g, &attr, NULL), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		memset(&err, 0xff, sizeof(err));
		assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), &rows[i].opts, &err), -EINVAL);
		is_told(&err, "open an event", said[i]);
		memset(&err, 0xff, sizeof(err));
		assert_int_equal(pev_group_open(g, pev_target_self(), &rows[i].opts, &err), -EINVAL);
		is_told(&err, "open an event", said[i]);
		assert_int_equal(pev_event_open(&ev, &attr, pev_target_self(), &rows[i].opts, NULL), -EINVAL);
	}
	memset(&err, 0xff, sizeof(err));
	rows[0].opts = (struct pev_open_opts){ .size = sizeof(rows[0].opts), .label = "x" };
	assert_int_equal(pev_group_open(g, pev_target_self(), &rows[0].opts, &err), -EINVAL);
	is_told(&err, "open a group", "a group or a label");
	pev_group_close(g);
}

/* A group has the options of its caller's size, as an event has. */
TEST(short_options_of_a_group)
{
	struct pev_open_opts opts = { .size = sizeof(size_t), .group = (struct pev_event *)1,
				      .label = (const char *)1, .flags = UINT64_MAX };
	struct pev_group *g = pev_group_new();
	struct pev_error err;

	memset(&err, 0xff, sizeof(err));
	assert_int_equal(pev_group_open(g, pev_target_self(), &opts, &err), -EINVAL);
	is_told(&err, "open a group, member 0", "the group is empty");
	pev_group_close(g);
}
