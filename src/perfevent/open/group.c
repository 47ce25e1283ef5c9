/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups: attrs are collected first, then all opened on one target, so that a group is complete
 * or not open at all. Member 0 is the leader: the kernel schedules, enables and reads the other
 * members with it.
 */
#include "base/room.h"
#include "perfevent/open/event.h"

#include "perfevent/attr/complain.h"
#include "perfevent/open/explain.h"
#include "perfevent/open/self.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct member {
	union pev_attr_buf buf;
	char *label;                 /* NULL: the event's own name */
	struct pev_event *ev;
	struct pev_self *self;       /* after pev_group_map_self() */
};

struct pev_group {
	struct member *members;
	size_t n;
	bool open, mapped;
	enum pev_self_way way;       /* faster way to read, once mapped */
	bool begun;
	struct pev_count *before;    /* n of them, for end() and measure() */
	struct pev_count *scratch;   /* once mapped: n of them */
};

struct pev_group *pev_group_new(void)
{
	return calloc(1, sizeof(struct pev_group));
}

int pev_group_add(struct pev_group *g, const struct perf_event_attr *attr, const char *label)
{
	struct member new = { .label = NULL };
	int rc = g->open ? -EBUSY : pev_attr_buf_copy(&new.buf, attr);

	if (rc)
		return rc;
	if (!ROOM_FOR_ONE(g->members, g->n) || (label && !(new.label = strdup(label))))
		return -ENOMEM;
	g->members[g->n] = new;
	return (int)g->n++;
}

/* ---- opening ------------------------------------------------------------------- */

static int refuse(struct pev_error *err, const struct pev_group *g, size_t i, const char *said,
		  const char *remedy)
{
	pev_ask_(err, EINVAL, "open a group, member %zu%s%s", i,
		 i < g->n && g->members[i].label ? ", " : "",
		 i < g->n && g->members[i].label ? g->members[i].label : "");
	pev_say_(err, "%s", said);
	pev_advise_(err, "%s", remedy);
	return -EINVAL;
}

/* Checks rules for which the kernel gives a bare EINVAL, or no error. */
static int check_rules(const struct pev_group *g, struct pev_error *err)
{
	if (!g->n)
		return refuse(err, g, 0, "the group is empty", "add an event first");
	for (size_t i = 1; i < g->n; i++) {
		const struct perf_event_attr *a = &g->members[i].buf.attr;

		if (a->pinned || a->exclusive)
			return refuse(err, g, i, "only the leader can be pinned or exclusive",
				      "set the bit in the first member, or put this one first");
		if (a->inherit != g->members[0].buf.attr.inherit)
			return refuse(err, g, i, "inherit differs from the leader's",
				      "set or clear inherit in all members");
	}
	return 0;
}

enum { TIMES = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };

/* A member opened disabled would stay off when only the leader is enabled, so the leader's
 * disabled and enable_on_exec alone decide when the group counts. It is opened disabled in any case: members of
 * other PMUs that join a leader that is on would start too late (open/mixed.h). */
static void member_attr(const struct pev_group *g, size_t i, uint64_t lost,
			union pev_attr_buf *buf)
{
	*buf = g->members[i].buf;
	buf->attr.read_format |= PERF_FORMAT_ID | TIMES | lost;
	if (i == 0) {
		buf->attr.read_format |= PERF_FORMAT_GROUP;
		buf->attr.disabled |= g->n > 1;
		return;
	}
	/* keeps each member readable by pev_event_read() */
	buf->attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
	buf->attr.disabled = 0;
	buf->attr.enable_on_exec = 0;
}

static int open_member(struct pev_group *g, size_t i, struct pev_target target, uint64_t flags,
		       uint64_t lost, struct pev_error *err)
{
	struct pev_open_opts opts = {
		.size = sizeof(opts), .label = g->members[i].label, .flags = flags,
		.group = i ? g->members[0].ev : NULL,
	};
	union pev_attr_buf buf;

	member_attr(g, i, lost, &buf);
	return pev_event_open(&g->members[i].ev, &buf.attr, target, &opts, err);
}

static void close_members(struct pev_group *g)
{
	/* the leader last: closing it first would make each member a group of its own */
	for (size_t i = g->n; i-- > 0;) {
		pev_self_unmap(g->members[i].self);
		pev_event_close(g->members[i].ev);
		g->members[i].self = NULL;
		g->members[i].ev = NULL;
	}
}

/* Only sampling events can lose samples. */
static bool has_samples(const struct pev_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->members[i].buf.attr.sample_period)
			return true;
	return false;
}

static int open_members(struct pev_group *g, struct pev_target target, uint64_t flags,
			struct pev_error *err)
{
	uint64_t lost = has_samples(g) ? PEV_FORMAT_LOST : 0;
	int rc = open_member(g, 0, target, flags, lost, err);

	if (rc == -EINVAL && lost) {   /* before Linux 6.0 LOST is unknown */
		lost = 0;
		rc = open_member(g, 0, target, flags, lost, err);
	}
	for (size_t i = 1; !rc && i < g->n; i++)
		rc = open_member(g, i, target, flags, lost, err);
	return rc;
}

/* A leader that was to count from its opening on does so now. */
static int start_leader(struct pev_group *g, struct pev_error *err)
{
	struct pev_event *leader = g->members[0].ev;
	int rc;

	if (g->members[0].buf.attr.disabled || !leader->attr.disabled)
		return 0;
	leader->attr.disabled = 0;   /* as the caller knows it */
	rc = pev_event_enable(leader);
	if (!rc)
		return 0;
	pev_ask_(err, -rc, "enable the group of %s", pev_event_label(leader));
	pev_say_errno_(err, -rc);
	return rc;
}

int pev_group_open(struct pev_group *g, struct pev_target target, const struct pev_open_opts *opts,
		   struct pev_error *err)
{
	struct pev_open_opts own;
	int rc;

	if (g->open)
		return pev_refuse_(err, EBUSY, "open a group", "it is open", "close it, and make another");
	if (pev_take_opts_(&own, opts, target, err))
		return -EINVAL;
	if (own.group || own.label)
		return pev_refuse_(err, EINVAL, "open a group", "opts has a group or a label",
				   "leave both NULL: labels are those of pev_group_add()");
	rc = check_rules(g, err);
	if (rc)
		return rc;
	g->before = calloc(g->n, sizeof(*g->before));
	if (!g->before)
		return pev_no_memory_(err, "open a group");
	rc = open_members(g, target, own.flags, err);
	if (!rc)
		rc = start_leader(g, err);
	if (rc) {
		close_members(g);
		free(g->before);
		g->before = NULL;
		return rc;
	}
	if (err)
		*err = (struct pev_error){ 0 };
	g->open = true;
	return 0;
}

void pev_group_close(struct pev_group *g)
{
	if (!g)
		return;
	close_members(g);
	for (size_t i = 0; i < g->n; i++)
		free(g->members[i].label);
	free(g->members);
	free(g->before);
	free(g->scratch);
	free(g);
}

size_t pev_group_size(const struct pev_group *g)
{
	return g->n;
}

struct pev_event *pev_group_event(const struct pev_group *g, size_t i)
{
	return i < g->n ? g->members[i].ev : NULL;
}

const char *pev_group_label(const struct pev_group *g, size_t i)
{
	if (i >= g->n)
		return NULL;
	return g->members[i].ev ? pev_event_label(g->members[i].ev) : g->members[i].label;
}

/* ---- control ------------------------------------------------------------------- */

/* Only the leader is enabled: its members are enabled already. One ioctl for one event takes less
 * than half the time of one with the group flag. */
int pev_group_enable(struct pev_group *g)
{
	return g->open ? pev_event_enable(g->members[0].ev) : -EBADF;
}

int pev_group_disable(struct pev_group *g)
{
	return g->open ? pev_event_disable(g->members[0].ev) : -EBADF;
}

int pev_group_reset(struct pev_group *g)
{
	return g->open ? pev_event_reset_group(g->members[0].ev) : -EBADF;
}

/* ---- reading ------------------------------------------------------------------- */

enum { STACK_MEMBERS = 32, MEMBER_WORDS = 3, HEAD_WORDS = 3 };

/* Layout: nr, times, then value, id and lost of each member. */
static int parse_group(const uint64_t *v, size_t words, uint64_t format, struct pev_count *counts,
		       size_t n)
{
	size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PEV_FORMAT_LOST);
	uint64_t nr = *v++, enabled = 0, running = 0;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		enabled = *v++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		running = *v++;
	if (nr > n || nr * each > words)
		return -EINVAL;
	for (struct pev_count *c = counts; c < counts + nr; c++) {
		/* field by field: copying a whole struct would wait for these stores */
		c->value = *v++;
		c->time_enabled = enabled;
		c->time_running = running;
		c->id = format & PERF_FORMAT_ID ? *v++ : 0;
		c->lost = format & PEV_FORMAT_LOST ? *v++ : 0;
		c->timed = pev_reads_times_(format);
		c->stale = false;
	}
	return (int)nr;
}

static int read_into(const struct pev_event *ev, uint64_t *v, size_t room, struct pev_count *counts,
		     size_t n)
{
	ssize_t got = read(ev->fd, v, room);

	if (got < 0)   /* ENOSPC: the group is larger than the caller's array */
		return errno == ENOSPC ? -EINVAL : -errno;
	if (got == 0)
		return -ENODATA;
	return parse_group(v, (size_t)got / sizeof(*v), ev->attr.read_format, counts, n);
}

int pev_event_read_group(const struct pev_event *ev, struct pev_count *counts, size_t n)
{
	uint64_t few[HEAD_WORDS + STACK_MEMBERS * MEMBER_WORDS], *many;
	size_t room = (HEAD_WORDS + n * MEMBER_WORDS) * sizeof(*many);
	int rc;

	if (!(ev->attr.read_format & PERF_FORMAT_GROUP))
		return -EINVAL;
	if (room <= sizeof(few))
		return read_into(ev, few, sizeof(few), counts, n);
	many = malloc(room);
	if (!many)
		return -ENOMEM;
	rc = read_into(ev, many, room, counts, n);
	free(many);
	return rc;
}

static enum pev_self_how read_pages(const struct pev_group *g, struct pev_count *counts)
{
	enum pev_self_how all = SELF_FAST;

	for (size_t i = 0; i < g->n; i++) {
		enum pev_self_how how = pev_self_fast_read_(g->members[i].self, &counts[i]);

		if (!pev_self_is_fast_(how))
			return how;
		all = how > all ? how : all;
	}
	return all;
}

/* Result in g->scratch; only the time it takes matters. */
static bool by_pages(void *arg)
{
	const struct pev_group *g = arg;

	return pev_self_is_fast_(read_pages(g, g->scratch));
}

static void by_kernel(void *arg)
{
	const struct pev_group *g = arg;

	pev_event_read_group(g->members[0].ev, g->scratch, g->n);
}

static const struct pev_self_race race = { by_pages, by_kernel, pev_self_ns_ };

/* Reads all pages, unless one system call is faster. */
static enum pev_self_how fast_read(const struct pev_group *g, struct pev_count *counts)
{
	struct pev_group *own = (struct pev_group *)g;   /* the way is a cache */
	enum pev_self_how how;

	if (!g->mapped)
		return SELF_NOT_MAPPED;
	if (g->way == SELF_BY_KERNEL)
		return SELF_SLOWER;
	how = read_pages(g, counts);
	if (g->way != SELF_UNDECIDED || !pev_self_is_fast_(how))
		return how;
	own->way = pev_self_race_(&race, own);
	return g->way == SELF_BY_KERNEL ? SELF_SLOWER : how;
}

int pev_group_read(const struct pev_group *g, struct pev_count *counts, size_t n)
{
	if (!g->open)
		return -EBADF;
	if (n < g->n)
		return -EINVAL;
	if (pev_self_is_fast_(fast_read(g, counts)))
		return (int)g->n;
	return pev_event_read_group(g->members[0].ev, counts, n);
}

int pev_group_map_self(struct pev_group *g)
{
	int rc = 0;

	if (!g->open)
		return -EBADF;
	if (!g->scratch)
		g->scratch = calloc(g->n, sizeof(*g->scratch));
	if (!g->scratch)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < g->n; i++)
		if (!g->members[i].self)
			rc = pev_self_map_by_(&g->members[i].self, g->members[i].ev, &pev_self_this_cpu_);
	g->mapped = !rc;
	if (!rc)
		pev_group_fast(g);   /* measures both ways, if the group is on the PMU */
	return rc;
}

bool pev_group_fast(const struct pev_group *g)
{
	return pev_self_is_fast_(fast_read(g, g->scratch));
}

const char *pev_group_why(const struct pev_group *g)
{
	return pev_self_text_(fast_read(g, g->scratch));
}

void pev_group_forget_self_(struct pev_group *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->members[i].self)
			pev_self_forget_(g->members[i].self);
}

/* Stale times may be older than those of an earlier read(2). */
static uint64_t elapsed(uint64_t before, uint64_t after, bool stale)
{
	return stale && after < before ? 0 : after - before;
}

/* Leaves in c the difference to `before`. */
static void subtract(struct pev_count *c, const struct pev_count *before)
{
	bool stale = before->stale || c->stale;

	c->value -= before->value;
	c->time_enabled = elapsed(before->time_enabled, c->time_enabled, stale);
	c->time_running = elapsed(before->time_running, c->time_running, stale);
	c->lost -= before->lost;
	c->stale = stale;
}

struct pev_count pev_count_delta(const struct pev_count *before, const struct pev_count *after)
{
	struct pev_count delta = *after;

	subtract(&delta, before);
	return delta;
}

/* ---- measuring ----------------------------------------------------------------- */

int pev_group_begin(struct pev_group *g)
{
	int rc = pev_group_read(g, g->before, g->n);

	g->begun = rc >= 0;
	return rc < 0 ? rc : 0;
}

int pev_group_end(struct pev_group *g, struct pev_count *counts, size_t n)
{
	int rc = g->begun ? pev_group_read(g, counts, n) : -EINVAL;

	for (int i = 0; i < rc; i++)
		subtract(&counts[i], &g->before[i]);
	return rc;
}

int pev_group_measure(struct pev_group *g, void (*fn)(void *), void *arg, struct pev_count *counts,
		      size_t n)
{
	int rc;

	if (n < g->n)
		return -EINVAL;
	/* no reset: it would cost as much again, and cannot reset times */
	if ((rc = pev_group_disable(g)) || (rc = pev_group_begin(g)) || (rc = pev_group_enable(g)))
		return rc;
	fn(arg);
	rc = pev_group_disable(g);
	return rc ? rc : pev_group_end(g, counts, n);
}

/* The leader's values from a read(2) of the group, whose length the kernel limits. */
static int read_leader(const struct pev_event *ev, struct pev_count *count)
{
	uint64_t v[16384 / sizeof(uint64_t)];
	ssize_t got = read(ev->fd, v, sizeof(v));

	if (got < 0)
		return -errno;
	if (!got)
		return -ENODATA;
	v[0] = 1;
	return parse_group(v, (size_t)got / sizeof(*v), ev->attr.read_format, count, 1) == 1 ? 0 : -EINVAL;
}

static int read_own(const struct pev_event *ev, struct pev_count *count)
{
	return ev->attr.read_format & PERF_FORMAT_GROUP ? read_leader(ev, count)
							: pev_event_read(ev, count);
}

int pev_event_measure(struct pev_event *ev, void (*fn)(void *), void *arg, struct pev_count *count)
{
	struct pev_count before;
	int rc;

	if ((rc = pev_event_disable(ev)) || (rc = read_own(ev, &before)) ||
	    (rc = pev_event_enable(ev)))
		return rc;
	fn(arg);
	if ((rc = pev_event_disable(ev)) || (rc = read_own(ev, count)))
		return rc;
	*count = pev_count_delta(&before, count);
	return 0;
}

int pev_count_estimate(const struct pev_count *count, struct pev_estimate *est)
{
	uint64_t enabled = count->time_enabled, running = count->time_running;

	*est = (struct pev_estimate){ 0 };
	/* Without times, or with a value but no time enabled, nothing is known about the rest.
	 * Stale times belong to an event that has been on the PMU all the time. */
	if ((!count->timed && (!enabled || !running)) || (count->value && !enabled && !count->stale))
		return -EINVAL;
	if (enabled && !running)
		return -ENODATA;
	*est = (struct pev_estimate){ .value = (double)count->value, .share = 1, .exact = true };
	if (running >= enabled)
		return 0;
	est->share = (double)running / (double)enabled;
	est->value = (double)count->value / est->share;
	est->exact = false;
	return 0;
}
