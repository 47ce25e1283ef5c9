/* SPDX-License-Identifier: Apache-2.0 */
/* What samples of each event have, by what the consumer reads. */
#include "checks.h"

#include "base/pidns.h"
#include "stream/list/list.h"

#define WHO (PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define PLACE (PERF_SAMPLE_IP | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static struct stream_opts opts;
static struct tracefmt enter_format, leave_format;

static struct stream_event tracepoint(const char *sys, const char *name, const struct tracefmt *fmt, uint64_t reads)
{
	return (struct stream_event){ .sys = sys, .tracepoint = name, .fmt = fmt, .reads = reads, .wanted = true };
}

static struct stream_event perf_event(struct stream_sampling *sampling, uint64_t period, uint64_t reads)
{
	pev_attr_buf_init(&sampling->attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	sampling->attr.attr.sample_period = period;
	sampling->attr.attr.sample_type = PLACE;
	return (struct stream_event){ .sampling = sampling, .reads = reads, .wanted = true };
}

static struct stream *with(struct stream_event *events, size_t n)
{
	struct stream *s = calloc(1, sizeof(*s));
	struct fault f = { 0 };

	assert_non_null(s);
	s->opts = &opts;
	s->list.events = events;
	s->list.nevents = s->list.nshown = n;
	assert_int_equal(stream_narrow(s, &f), 0);
	return s;
}

static void calls(uint64_t reads_enter, uint64_t reads_leave, uint64_t enter, uint64_t leave)
{
	struct stream_event e[] = {
		tracepoint("raw_syscalls", "sys_enter", &enter_format, reads_enter),
		tracepoint("raw_syscalls", "sys_exit", &leave_format, reads_leave),
	};
	struct stream *s = with(e, 2);

	ARE(NUMBERS(e[0].layout.sample_type, e[1].layout.sample_type, s->choice.mixed),
	    NUMBERS(enter, leave, (enter & PERF_SAMPLE_IDENTIFIER) != 0));
	free(s);
}

/* Raw data tells samples apart: without it in one of them, all have identifiers. */
TEST(raw_data)
{
	const uint64_t raw = PERF_SAMPLE_RAW, id = PERF_SAMPLE_IDENTIFIER;

	calls(STREAM_READS_ALL, STREAM_READS_ALL, WHO | raw | PERF_SAMPLE_REGS_USER, WHO | raw);
	calls(raw, raw, WHO | raw, WHO | raw);
	calls(0, raw, WHO | id, WHO | raw | id);
	calls(0, 0, WHO | id, WHO | id);
}

/* Samples of one event are known by being there. */
TEST(one_event)
{
	struct stream_event e = tracepoint("raw_syscalls", "sys_enter", &enter_format, 0);
	struct stream *s = with(&e, 1);

	assert_int_equal(e.layout.sample_type, WHO);
	assert_false(s->choice.mixed);
	free(s);
}

TEST(recorded)
{
	struct stream_event e = tracepoint("raw_syscalls", "sys_enter", &enter_format, STREAM_READS_ALL);
	struct stream *s = with(&e, 1);
	struct fault f = { 0 };

	opts.record = "x.data";
	e.reads = 0;
	assert_int_equal(layouts_choose(s, &f), 0);
	opts.record = NULL;
	assert_int_equal(e.layout.sample_type, WHO | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_PERIOD | RECORDER_SAMPLE_TYPE);
	free(s);
}

/* The kernel makes a sample of each ns where a tracepoint counts these, and samples have no period. */
TEST(periods_of_tracepoints)
{
	static const struct {
		const char *sys, *name;
		uint64_t period;
	} rows[] = {
		{ "sched", "sched_switch", 0 }, { "sched", "sched_stat_runtime", PERF_SAMPLE_PERIOD },
		{ "schedule", "sched_switch", PERF_SAMPLE_PERIOD }, { "someones", "own", PERF_SAMPLE_PERIOD },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stream_event e = tracepoint(rows[i].sys, rows[i].name, &enter_format, 0);
		struct stream *s = with(&e, 1);

		assert_int_equal(e.layout.sample_type, WHO | rows[i].period);
		free(s);
	}
}

/* What one reads doesn't concern the other; a period is left out where it is known, or varies and isn't read. */
TEST(perf_events)
{
	static const struct {
		uint64_t period, reads;
		bool clock, freq;        /* opening may change the period of a clock */
		uint64_t type, each;
		bool mixed;
	} rows[] = {
		{ 1, STREAM_READS_ALL, false, false, WHO | PLACE | PERF_SAMPLE_IDENTIFIER, 1, true },
		{ 1, PERF_SAMPLE_IP, false, false, WHO | PERF_SAMPLE_IP, 1, false },
		{ 100, PERF_SAMPLE_PERIOD, false, false, WHO, 100, false },
		{ 100, 0, true, false, WHO | PERF_SAMPLE_PERIOD, 1, false }, { 100, 0, false, true, WHO, 1, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stream_sampling sampling = { 0 };
		struct stream_event e = perf_event(&sampling, rows[i].period, rows[i].reads);
		struct stream *s;

		if (rows[i].clock)
			sampling.attr.attr.config = PERF_COUNT_SW_CPU_CLOCK;
		sampling.attr.attr.freq = rows[i].freq;
		s = with(&e, 1);
		print_message("# row %zu\n", i);
		ARE(NUMBERS(e.layout.sample_type, e.each, s->choice.mixed), NUMBERS(rows[i].type, rows[i].each, rows[i].mixed));
		ARE(NUMBERS(sampling.attr.attr.sample_type, sampling.format.sample_type), NUMBERS(rows[i].type, rows[i].type));
		free(s);
	}
}

/* A filter that is evaluated here knows where the parts lie. */
TEST(filters)
{
	struct stream_event e[] = {
		tracepoint("raw_syscalls", "sys_enter", &enter_format, STREAM_READS_ALL),
		tracepoint("raw_syscalls", "sys_exit", &leave_format, STREAM_READS_ALL),
	};
	struct stream *s = with(e, 2);
	struct fault f = { 0 };

	e[0].reads = e[1].reads = 0;
	e[1].filter_here = true;
	assert_int_equal(stream_narrow(s, &f), 0);
	assert_int_equal(e[0].layout.sample_type, WHO | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER);
	free(s);
}
