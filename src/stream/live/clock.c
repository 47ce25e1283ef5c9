/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/clock.h"

#include "base/now.h"
#include "perfevent/rings/ring_private.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { TRIES = 5 };
#define SECOND UINT64_C(1000000000)

int perf_clock_open(struct perf_clock *c)
{
	struct perf_event_attr attr;
	int rc;

	pev_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	attr.exclude_kernel = attr.exclude_hv = 1;
	attr.comm = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TIME;
	perf_clock_attr(c, &attr);
	pev_format_from_attr(&c->format, &attr);
	c->owner = gettid();
	rc = pev_event_open(&c->ev, &attr, pev_target_self(), NULL, NULL);
	if (!rc)
		rc = pev_ring_map(&c->ring, c->ev, 1, NULL);
	if (rc)
		perf_clock_close(c);
	return rc;
}

void perf_clock_close(struct perf_clock *c)
{
	pev_ring_unmap(c->ring);
	pev_event_close(c->ev);
	c->ring = NULL;
	c->ev = NULL;
}

void perf_clock_attr(const struct perf_clock *c, struct perf_event_attr *attr)
{
	if (c->kind != CLOCK_MONO)
		return;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

int perf_clock_learn_tsc(struct perf_clock *c)
{
	const struct perf_event_mmap_page *page = c->ring->page;

	if (!page->cap_user_time_zero || !page->time_mult)
		return -EOPNOTSUPP;
	c->zero = page->time_zero;
	c->mult = page->time_mult;
	c->shift = page->time_shift;
	return 0;
}

/* The page defines ns = zero + (tsc * mult >> shift); this is the inverse. */
static uint64_t to_tsc(const struct perf_clock *c, uint64_t ns)
{
	uint64_t since = ns - c->zero;

	return (since / c->mult << c->shift) + (since % c->mult << c->shift) / c->mult;
}

uint64_t perf_clock_show(const struct perf_clock *c, uint64_t time)
{
	return (c->kind == CLOCK_TSC ? to_tsc(c, time) : time) + (uint64_t)c->added;
}

/* Time of the last COMM record in the ring; 0 if there was none. */
static uint64_t last_comm_time(struct perf_clock *c)
{
	const struct perf_event_header *rec;
	struct pev_record r;
	uint64_t t = 0;

	pev_ring_begin(c->ring);
	while ((rec = pev_ring_next(c->ring)))
		if (rec->type == PERF_RECORD_COMM && !pev_decode(rec, rec->size, &c->format, &r))
			t = r.sample_id.time;
	pev_ring_end(c->ring);
	return t;
}

static void measure(struct perf_clock *c)
{
	uint64_t best = UINT64_MAX;
	char name[16];

	prctl(PR_GET_NAME, name);
	for (int i = 0; i < TRIES; i++) {
		uint64_t before = now_ns(CLOCK_REALTIME), after, perf;

		prctl(PR_SET_NAME, name);
		after = now_ns(CLOCK_REALTIME);
		perf = last_comm_time(c);
		if (!perf || after - before >= best)
			continue;
		best = after - before;
		c->offset = (int64_t)(before + best / 2 - perf);
	}
}

/* The perf clock is near CLOCK_MONOTONIC on all machines: better than no date if it cannot be measured. */
static void estimate(struct perf_clock *c)
{
	c->offset = (int64_t)(now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC));
}

int64_t perf_clock_offset(struct perf_clock *c)
{
	/* takes a few ns: called for each event of which a script wants all fields */
	uint64_t now = now_ns(CLOCK_MONOTONIC_COARSE);

	if (!c->measured_at)
		estimate(c);
	if (!c->measured_at || now - c->measured_at > SECOND) {
		if (c->ring && c->owner == gettid())   /* a forked child does not have the ring */
			measure(c);
		c->measured_at = now;
	}
	return c->offset;
}
