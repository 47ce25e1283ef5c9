/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events × places: opening, enabling, reading and adding up.
 *
 * An event that cannot be opened does not affect others: its row is "not supported" or "not
 * permitted", and a line on stderr has the reason. If a group's leader cannot be opened, its
 * members follow the first member that can; a weak group that does not fit is split.
 */
#include "stat/stat.h"

#include "base/descriptors.h"
#include "base/holder.h"
#include "base/note.h"
#include "perfevent/attr/attr_fields.h"
#include "perfevent/open/explain.h"
#include "stream/list/useronly.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct stat_counter *counter(const struct counting *s, size_t event, size_t place)
{
	return &s->counters[event * s->nplaces + place];
}

enum { SPARE_FILES = 16 };

/* ---- opening ------------------------------------------------------------------- */

static bool runs_on(const struct stat_event *e, int cpu)
{
	if (!e->cpus || cpu < 0)
		return true;
	for (size_t i = 0; i < e->ncpus; i++)
		if (e->cpus[i] == cpu)
			return true;
	return false;
}

/* The first member of the event's group that is open in this place. */
static struct pev_event *leader_of(const struct counting *s, size_t event, size_t place)
{
	for (size_t i = s->events[event].leader; i < event; i++)
		if (s->events[i].leader == s->events[event].leader && counter(s, i, place)->ev)
			return counter(s, i, place)->ev;
	return NULL;
}

static void fill_attr(const struct counting *s, const struct stat_event *e, bool leads,
		      union pev_attr_buf *buf)
{
	bool tasks = s->on_command || s->config->common.pids.n || s->config->common.tids.n;

	*buf = e->buf;
	/* a member opened disabled would not follow its leader */
	buf->attr.disabled = leads;
	buf->attr.enable_on_exec = leads && s->on_command;
	buf->attr.inherit = tasks && s->config->common.inherit >= 0;
	if (e->user_only)
		buf->attr.exclude_kernel = buf->attr.exclude_hv = 1;
}

static int try_open(const struct counting *s, size_t event, size_t place, struct pev_event *leader,
		    struct pev_error *err)
{
	struct stat_event *e = &s->events[event];
	struct pev_open_opts opts = { .size = sizeof(opts), .group = leader, .label = e->label };
	union pev_attr_buf buf;

	fill_attr(s, e, !leader, &buf);
	return pev_event_open(&counter(s, event, place)->ev, &buf.attr, s->places[place].target, &opts,
			      err);
}

static bool is_denial(int rc)
{
	return rc == -EACCES || rc == -EPERM;
}

/* Whether `rc`, from opening for user space only, means missing privilege. Event sources that
 * count user space and the kernel together only return EINVAL for :u. */
static bool takes_privilege(const struct stat_event *e, int rc)
{
	return is_denial(rc) || (rc == -EINVAL && e->buf.attr.type >= PERF_TYPE_MAX);
}

static const char always_0[] = "always 0: this happens in the kernel only, which :u leaves out";
/* kernel/events/core.c: a clock's count is the time in which it was enabled, whatever the attributes exclude. */
static const char all_time[] = "counts user and kernel time together: the kernel ignores :u and :k for clocks";
static const char of_host[] =
	"counts the host, not guests: the kernel ignores :G for software events, tracepoints and breakpoints";

static bool is_part_of_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK || attr->config == PERF_COUNT_SW_TASK_CLOCK) &&
	       (attr->exclude_kernel || attr->exclude_user);
}

/* Where the count is not what the modifiers say; else NULL. The user did not ask for those of user_only. */
static const char *why_opened(const struct stat_event *e)
{
	if (e->buf.attr.exclude_kernel && e->of_kernel)
		return always_0;
	if (e->buf.attr.exclude_host && pev_is_of_host_alone_(&e->buf.attr))
		return of_host;
	return is_part_of_clock(&e->buf.attr) && !e->user_only ? all_time : NULL;
}

/* Without privilege the kernel's part is left out, which is shown in the name: ":u". */
static int try_user_only(struct counting *s, size_t event, size_t place, struct pev_event *leader,
			 struct pev_error *err)
{
	struct stat_event *e = &s->events[event];
	struct pev_error second;
	char *label;
	int rc;

	if (e->opened || e->user_only || e->buf.attr.exclude_kernel || e->buf.attr.exclude_user ||
	    e->of_kernel || !useronly_is_meant(e->label))
		return -EACCES;
	e->user_only = true;
	rc = try_open(s, event, place, leader, &second);
	label = rc ? NULL : useronly_label(e->label);
	if (!label) {
		e->user_only = false;
		if (rc && takes_privilege(e, rc))   /* the first error is the better reason */
			return -EACCES;
		if (rc)
			*err = second;
		return rc ? rc : -ENOMEM;
	}
	free(e->label);
	e->label = label;
	return 0;
}

enum { BROKEN_UP = 1 };

static void drop_event(struct counting *s, size_t event)
{
	s->events[event].opened = false;
	for (size_t p = 0; p < s->nplaces; p++) {
		pev_event_close(counter(s, event, p)->ev);
		counter(s, event, p)->ev = NULL;
	}
}

/* Makes each event of the group one without a group. */
static void break_up(struct counting *s, size_t leader)
{
	for (size_t i = leader; i < s->nevents; i++)
		if (s->events[i].leader == leader) {
			drop_event(s, i);
			s->events[i].leader = i;
		}
}

/* A member that opens alone does not fit into the group: with :W the whole group is split,
 * without it this event is not counted. */
static int on_misfit(struct counting *s, size_t event, size_t place, struct pev_error *err)
{
	struct stat_event *e = &s->events[event];
	struct pev_error second;

	if (try_open(s, event, place, NULL, &second))
		return -EINVAL;
	pev_event_close(counter(s, event, place)->ev);
	counter(s, event, place)->ev = NULL;
	if (e->weak) {
		break_up(s, e->leader);
		return BROKEN_UP;
	}
	snprintf(err->said, sizeof(err->said), "it does not fit into its group");
	snprintf(err->remedy, sizeof(err->remedy), "make the group shorter, or let it be broken up: "
		 "{...}:W");
	return -EINVAL;
}

static int open_one(struct counting *s, size_t event, size_t place, struct pev_error *err)
{
	struct pev_event *leader = leader_of(s, event, place);
	int rc = try_open(s, event, place, leader, err);

	if (is_denial(rc))
		return try_user_only(s, event, place, leader, err);
	return rc == -EINVAL && leader ? on_misfit(s, event, place, err) : rc;
}

static const char no_pmu[] =
	"this machine has no hardware counters (a virtual machine may not pass them on), so cycles, instructions per cycle and cache "
	"misses cannot be measured; task-clock, page-faults, context-switches, and user and sys time can";

static bool needs_pmu(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW;
}

static void remember(struct stat_event *e, int rc, const struct pev_error *err)
{
	char *why;

	if (e->why)
		return;
	if (rc == -ENOENT && needs_pmu(&e->buf.attr) && !pev_has_pmu_())
		e->why = strdup(no_pmu);
	else if (asprintf(&why, "%s%s%s", err->said, err->remedy[0] ? "; " : "",
				err->remedy) >= 0)
		e->why = why;
}

/* An error of one CPU, not of the event. */
static bool is_of_place(const struct counting *s, size_t place, int rc)
{
	return rc == -ENODEV && s->places[place].cpu >= 0 && place;
}

static size_t files_of(const struct counting *s)
{
	return s->nevents * (s->nplaces + 1) + SPARE_FILES;   /* and their anchors */
}

/* Reserves descriptors for all events, though some may not open; a refusal does not matter yet.
 * The command gets the original limit. */
static void reserve_descriptors(const struct counting *s)
{
	descriptors_reserve(files_of(s));
}

static int too_few_descriptors(const struct counting *s, const struct stat_event *e, struct fault *f)
{
	size_t opened = 0;
	char remedy[256];

	for (size_t i = 0; i < s->nevents * s->nplaces; i++)
		opened += s->counters[i].ev != NULL;
	return fault_set(f, EXIT_FAILED, "stat: %s: %zu events in %zu places (threads, CPUs) take up to "
			 "%zu open files in addition to stat's own, but %s, or count fewer events, threads or CPUs", e->label,
			 s->nevents, s->nplaces, s->nevents * s->nplaces,
			 descriptors_remedy(files_of(s) - opened, remedy, sizeof(remedy)));
}

/* 0, BROKEN_UP, or -1 with f. */
static int open_event(struct counting *s, size_t event, struct fault *f)
{
	struct stat_event *e = &s->events[event];
	struct pev_error err = { 0 };
	size_t tried = 0, ended = 0;
	char text[1200];

	for (size_t p = 0; p < s->nplaces; p++) {
		bool here = runs_on(e, s->places[p].cpu);
		int rc = here ? open_one(s, event, p, &err) : 0;

		tried += here;
		if (!rc) {
			e->opened |= counter(s, event, p)->ev != NULL;
			continue;
		}
		if (rc == -ESRCH) {   /* this thread has ended */
			ended++;
			continue;
		}
		if (rc == BROKEN_UP)
			return rc;
		if (rc == -EMFILE)
			return too_few_descriptors(s, e, f);
		if (rc == -ENFILE || rc == -ENOMEM) {
			pev_error_text(&err, text, sizeof(text));
			return fault_set(f, EXIT_FAILED, "stat: %s", text);
		}
		if (s->places[p].cpu >= 0 && !s->config->common.cgroups.n && s->targets.tasks[0].tid < 0 &&
		    (!e->asked || !e->of_kernel))
			useronly_advise(&err, &e->buf, true);
		remember(e, rc, &err);
		e->denied = is_denial(rc);
		if (is_of_place(s, p, rc))
			continue;
		drop_event(s, event);   /* in some of the places only, the sum would be wrong */
		break;
	}
	return ended == tried && (tried || !s->nplaces) ? targets_ended(f) : 0;
}

/* An event that was not given by -e and is not supported is only reported with -v: its row is sufficient. --vs has no such row. */
static bool is_to_tell(const struct counting *s, const struct stat_event *e, const char *fatal)
{
	const struct stat_config *c = s->config;
	const bool wanted = e->asked || e->denied || c->vs.n || c->common.verbose > 0;
	const bool counted = e->opened || stat_is_accounted(s, (size_t)(e - s->events));

	return !counted && !e->told && e->why && wanted && (!fatal || strcmp(e->why, fatal));
}

struct names {
	char text[512];
	size_t n;
};

static void add_name(struct names *names, const struct stat_event *e)
{
	if (names->n < sizeof(names->text))
		names->n += (size_t)snprintf(names->text + names->n, sizeof(names->text) - names->n, "%s%s",
					     names->n ? ", " : "", e->label);
}

static const char *dots(const struct names *names)
{
	return names->n < sizeof(names->text) ? "" : "...";
}

/* Events with the same reason share a line. */
static void tell(struct counting *s, size_t first, const char *fatal)
{
	const char *why = s->events[first].why, *advice = "";
	struct names names = { .n = 0 };

	for (size_t i = first; i < s->nevents; i++) {
		struct stat_event *e = &s->events[i];

		if (!is_to_tell(s, e, fatal) || strcmp(e->why, why))
			continue;
		e->told = true;
		add_name(&names, e);
		advice = *advice ? advice : stat_account_advice(s, i);
	}
	if (!s->counts_say_why)
		note(1, "%s%s: not counted: %s%s", names.text, dots(&names), why, advice);
}

static void hint_opened(const struct counting *s, const char *why)
{
	struct names names = { .n = 0 };

	for (size_t i = 0; i < s->nevents; i++)
		if (s->events[i].opened && why_opened(&s->events[i]) == why)
			add_name(&names, &s->events[i]);
	if (names.n && s->config->common.verbose >= 0 && !s->counts_say_why)
		note(1, "%s%s: %s", names.text, dots(&names), why);
}

/* Printed once, whatever the number of runs. */
static void hint(struct counting *s)
{
	struct names user_only = { .n = 0 };
	int verbose = s->config->common.verbose;

	for (size_t i = 0; i < s->nevents && !s->hinted; i++) {
		const struct stat_event *e = &s->events[i];

		if (e->opened && e->user_only)
			add_name(&user_only, e);
	}
	if (!s->hinted) {
		hint_opened(s, always_0);
		hint_opened(s, of_host);
		hint_opened(s, all_time);
	}
	s->hinted = true;
	if (user_only.n && verbose > 0)
		useronly_note(verbose, user_only.text, dots(&user_only));
}

static int make_tables(struct counting *s, struct fault *f)
{
	s->counters = calloc(s->nevents * s->nplaces + 1, sizeof(*s->counters));
	if (!s->rows)
		s->rows = calloc(s->nevents * s->nwheres + 1, sizeof(*s->rows));
	if (s->counters && s->rows)
		return 0;
	return fault_set(f, EXIT_FAILED, "stat: out of memory");
}

static int open_events(struct counting *s, struct fault *f)
{
	for (size_t i = 0; i < s->nevents; i++) {
		struct stat_event *e = &s->events[i];
		size_t leader = e->leader;
		int rc;

		if (e->why && !e->opened)   /* found in an earlier run */
			continue;
		e->opened = false;
		rc = open_event(s, i, f);
		if (rc < 0)
			return -1;
		if (rc == BROKEN_UP)
			i = leader - 1;
	}
	return 0;
}

bool stat_any_open(const struct counting *s)
{
	for (size_t i = 0; i < s->nevents; i++)
		if (s->events[i].opened || stat_is_accounted(s, i))
			return true;
	return false;
}

int stat_open(struct counting *s, bool needs_one, struct fault *f)
{
	const char *fatal, *advice = "";

	if (make_tables(s, f))
		return -1;
	reserve_descriptors(s);
	if (open_events(s, f))
		return -1;
	fatal = needs_one && !stat_any_open(s) ? s->nevents && s->events[0].why ? s->events[0].why
			: "there is none" : NULL;
	for (size_t i = 0; i < s->nevents; i++)
		if (is_to_tell(s, &s->events[i], fatal))
			tell(s, i, fatal);
	hint(s);
	for (size_t i = 0; fatal && i < s->nevents && !*advice; i++)
		advice = stat_account_advice(s, i);
	return fatal ? fault_set(f, EXIT_FAILED, "stat: no event can be counted: %s%s", fatal, advice) : 0;
}

static void each(struct counting *s, int (*control)(struct pev_event *))
{
	for (size_t i = 0; i < s->nevents; i++)
		for (size_t p = 0; p < s->nplaces; p++)
			if (counter(s, i, p)->ev && !leader_of(s, i, p))
				control(counter(s, i, p)->ev);
}

void stat_enable(struct counting *s)
{
	each(s, pev_event_enable);
}

void stat_disable(struct counting *s)
{
	each(s, pev_event_disable);
}

static struct pev_event *first_open(const struct counting *s, size_t event)
{
	for (size_t p = 0; p < s->nplaces; p++)
		if (counter(s, event, p)->ev)
			return counter(s, event, p)->ev;
	return NULL;
}

/* A copy of a disabled event of each tracepoint stays open: none that is closed after a run is then the last one, for whose
 * end the kernel waits (base/holder.h). */
static void make_anchors(struct counting *s)
{
	if (!s->anchors)
		s->anchors = calloc(s->nevents + 1, sizeof(*s->anchors));
	for (size_t i = 0; s->anchors && i < s->nevents; i++) {
		struct pev_event *ev = s->events[i].buf.attr.type == PERF_TYPE_TRACEPOINT && !s->anchors[i] ? first_open(s, i) : NULL;
		int fd = ev ? fcntl(pev_event_fd(ev), F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : 0;

		s->anchors[i] = fd > 0 ? fd : s->anchors[i];
	}
}

void stat_close(struct counting *s)
{
	if (s->counters)
		make_anchors(s);
	if (s->counters)
		for (size_t i = s->nevents * s->nplaces; i-- > 0;)
			pev_event_close(s->counters[i].ev);
	free(s->counters);
	s->counters = NULL;
}

void stat_close_all(struct counting *s)
{
	size_t n = 0;
	int holder;

	stat_close(s);
	for (size_t i = 0; s->anchors && i < s->nevents; i++)
		n += s->anchors[i] > 0;
	holder = n < HOLDER_WORTH ? -1 : holder_start();
	for (size_t i = 0; s->anchors && i < s->nevents; i++)
		if (s->anchors[i] > 0)
			close(s->anchors[i]);
	holder_release(holder);
	free(s->anchors);
}

/* What the closed event has counted and was not read stays in the difference to the next count. */
static void close_removed(struct stat_counter *c)
{
	struct pev_count ended;

	pev_event_disable(c->ev);
	if (!pev_event_read(c->ev, &ended))
		c->last = pev_count_delta(&ended, &c->last);
	pev_event_close(c->ev);
	c->ev = NULL;
}

static int reopen_place(struct counting *s, size_t place, struct pev_error *err)
{
	int rc = 0;

	for (size_t i = s->nevents; i-- > 0;)
		if (counter(s, i, place)->ev)
			close_removed(counter(s, i, place));
	for (size_t i = 0; i < s->nevents && !rc; i++)
		if (s->events[i].opened && runs_on(&s->events[i], s->places[place].cpu))
			rc = try_open(s, i, place, leader_of(s, i, place), err);
	for (size_t i = 0; i < s->nevents; i++)
		if (counter(s, i, place)->ev && !leader_of(s, i, place))
			pev_event_enable(counter(s, i, place)->ev);
	return rc;
}

int stat_reopen(struct counting *s, int cpu, struct pev_error *err)
{
	int rc = 0;

	for (size_t p = 0; p < s->nplaces && !rc; p++)
		if (s->places[p].cpu == cpu)
			rc = reopen_place(s, p, err);
	return rc;
}

/* ---- reading ------------------------------------------------------------------- */

static void add_count(struct count_row *r, const struct pev_count *c)
{
	struct pev_estimate est;
	int rc = pev_count_estimate(c, &est);

	r->counters++;
	r->counted += (double)c->value;
	r->enabled += c->time_enabled;
	r->running += c->time_running;
	if (rc == -ENODATA)
		r->state = COUNT_NEVER_RAN;   /* a sum with an unknown part is unknown */
	else
		r->value += rc ? (double)c->value : est.value;
}

static void begin_row(const struct counting *s, const struct stat_event *e, size_t where,
		      struct count_row *r)
{
	*r = (struct count_row){
		.event = e->label, .where = s->wheres[where], .unit = e->unit, .scale = e->scale,
		.state = e->opened ? COUNT_GOOD : e->denied ? COUNT_NOT_PERMITTED : COUNT_NOT_SUPPORTED,
		.share = 1,
		.why = e->opened ? why_opened(e) : e->why, .runs = r->runs,
	};
}

static void read_place(struct counting *s, size_t event, size_t place)
{
	struct stat_counter *c = counter(s, event, place);
	struct count_row *r = &s->rows[event * s->nwheres + s->places[place].where];
	struct pev_count now, since;
	int rc;

	if (!c->ev)
		return;
	rc = pev_event_read(c->ev, &now);
	c->lost = rc || counter(s, s->events[event].leader, place)->lost;
	if (c->lost) {   /* the kernel reports an error of the leader only: members just stop */
		r->state = COUNT_NEVER_RAN;
		return;
	}
	since = pev_count_delta(&c->last, &now);
	if (s->events[event].snapshot)
		since.value = now.value;
	c->last = now;
	add_count(r, &since);
}

/* A pinned event that never ran had no counter. Once its tasks have ended, the kernel does not
 * report that any more, and the count is 0. */
static void judge_row(const struct counting *s, const struct stat_event *e, struct count_row *r)
{
	if (r->enabled > r->running)
		r->share = (double)r->running / (double)r->enabled;
	if (r->state == COUNT_GOOD && r->counters && !r->running &&
	    s->events[e->leader].buf.attr.pinned)
		r->state = COUNT_NEVER_RAN;
	r->partial = *s->partial ? s->partial : NULL;
	if (*s->unwatched && r->state == COUNT_GOOD) {   /* counts end at the exec */
		r->state = COUNT_NEVER_RAN;
		r->why = s->unwatched;
	}
}

void stat_read(struct counting *s)
{
	for (size_t i = 0; i < s->nevents; i++) {
		struct count_row *rows = &s->rows[i * s->nwheres];

		for (size_t w = 0; w < s->nwheres; w++)
			begin_row(s, &s->events[i], w, &rows[w]);
		for (size_t p = 0; p < s->nplaces; p++)
			read_place(s, i, p);
		for (size_t w = 0; w < s->nwheres; w++)
			judge_row(s, &s->events[i], &rows[w]);
	}
}
