/* SPDX-License-Identifier: Apache-2.0 */
#include "session/branches.h"

#include "base/nearest.h"
#include "columns/part.h"
#include "columns/selection.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A batch that waits. */
struct waiting {
	struct batch *batch;
	struct waiting *next;
};

struct branches {
	_Atomic unsigned int refs;
	struct session *session;
	pthread_mutex_t lock;
	/* Under the lock. */
	struct branch *first;
	bool begun;                     /* a branch was read */
	bool over, failed;              /* no more batches come; because of `fault` */
	struct fault fault;
};

struct branch {
	_Atomic unsigned int refs;
	struct branches *all;
	size_t limit;
	int epoll, ready;               /* the session's descriptor and `ready`, an eventfd */
	/* Under the lock. */
	struct branch *next;
	struct part part;
	struct waiting *head, **tail;
	size_t bytes;                   /* of those that wait */
	uint64_t dropped, dropped_time; /* since the last row lost:stream: rows, and the time of the last one; 0: not known */
	bool watches;                   /* the session's descriptor is in `epoll` */
	bool reported;                  /* all->fault */
	bool closed;
	struct branch_stats stats;
};

/* ---- beginning and end --------------------------------------------------------------- */

struct branches *branches_new(struct session *s)
{
	struct branches *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->refs = 1;
	all->session = session_keep(s);
	pthread_mutex_init(&all->lock, NULL);
	return all;
}

void branches_release(struct branches *all)
{
	if (!all || atomic_fetch_sub_explicit(&all->refs, 1, memory_order_acq_rel) != 1)
		return;
	session_release(all->session);
	pthread_mutex_destroy(&all->lock);
	free(all);
}

static void drop_waiting(struct branch *b)
{
	struct waiting *next;

	for (struct waiting *w = b->head; w; w = next) {
		next = w->next;
		batch_release(w->batch);
		free(w);
	}
	b->head = NULL;
	b->tail = &b->head;
	b->bytes = b->stats.waiting = b->dropped = 0;
}

void branches_drop(struct branches *all)
{
	if (session_is_forked(all->session))   /* the lock may be locked, too */
		return;
	pthread_mutex_lock(&all->lock);
	for (struct branch *b = all->first; b; b = b->next)
		drop_waiting(b);
	pthread_mutex_unlock(&all->lock);
}

static int unknown(const struct branches *all, const char *event, struct fault *f)
{
	const char *const *names = session_events(all->session);
	struct nearest n;
	char has[1024] = "";
	size_t used = 0;

	nearest_begin(&n, event);
	for (size_t i = 0; names[i]; i++) {
		const char *behind = strchr(names[i], ':');

		if (behind && !strcmp(behind + 1, event))   /* sched_switch */
			nearest_begin(&n, names[i]);
		nearest_offer(&n, names[i]);
		if (used < sizeof(has))
			used += (size_t)snprintf(has + used, sizeof(has) - used, "%s%s", i ? ", " : "", names[i]);
	}
	return fault_usage(f, "stream: the session has no event %s%s%s%s; it has: %s", event, nearest_get(&n) ? "; did you mean " : "",
			   nearest_get(&n) ? nearest_get(&n) : "", nearest_get(&n) ? "?" : "", has);
}

static int begin(struct branch *b, const char *event, struct fault *f)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int rc = part_begin(&b->part, session_plans(b->all->session), (const char *const[]){ event, NULL }, true);

	if (rc)
		return rc == -ENOENT ? unknown(b->all, event, f) : fault_set(f, EXIT_FAILED, "out of memory");
	b->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (b->ready < 0 || b->epoll < 0 || epoll_ctl(b->epoll, EPOLL_CTL_ADD, b->ready, &ev))
		return fault_set(f, EXIT_FAILED, "cannot make a stream of %s: %s", event, strerror(errno));
	return 0;
}

/* Once it may be read. */
static int join(struct branch *b, struct fault *f)
{
	struct branches *all = b->all;
	bool late;

	pthread_mutex_lock(&all->lock);
	late = all->begun;
	if (!late) {
		b->next = all->first;
		all->first = b;
	}
	pthread_mutex_unlock(&all->lock);
	return !late ? 0 : fault_usage(f, "stream: another stream of the session was read already, so this one would lack rows: "
				       "make all streams first, and then read them");
}

static void leave(struct branch *b)
{
	pthread_mutex_lock(&b->all->lock);
	for (struct branch **at = &b->all->first; *at; at = &(*at)->next)
		if (*at == b) {
			*at = b->next;
			break;
		}
	b->closed = true;
	drop_waiting(b);
	pthread_mutex_unlock(&b->all->lock);
}

static void free_branch(struct branch *b)
{
	if (b->epoll >= 0)
		close(b->epoll);
	if (b->ready >= 0)
		close(b->ready);
	part_end(&b->part);
	branches_release(b->all);
	free(b);
}

struct branch *branch_new(struct branches *all, const char *event, size_t limit, struct fault *f)
{
	struct branch *b = calloc(1, sizeof(*b));

	if (!b) {
		fault_set(f, EXIT_FAILED, "out of memory");
		return NULL;
	}
	*b = (struct branch){ .refs = 1, .all = all, .limit = limit, .epoll = -1, .ready = -1 };
	b->tail = &b->head;
	atomic_fetch_add_explicit(&all->refs, 1, memory_order_relaxed);
	if (!begin(b, event, f) && !join(b, f))
		return b;
	free_branch(b);
	return NULL;
}

struct branch *branch_keep(struct branch *b)
{
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	return b;
}

void branch_release(struct branch *b)
{
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (session_is_forked(b->all->session))
		return;
	leave(b);
	free_branch(b);
}

struct columns *branch_columns(struct branch *b)
{
	return b->part.columns;
}

/* ---- losses -------------------------------------------------------------------------- */

static bool name_loss(struct batch *row, size_t column)
{
	static const char name[] = "lost:stream";
	struct dictionary d = { 0 };

	if (!dictionary_number(&d, name, strlen(name)))
		row->v[column].texts = dictionary_take(&d);
	dictionary_end(&d);
	return row->v[column].texts;
}

static void set_number(struct batch *row, const char *name, uint64_t value)
{
	ssize_t column = columns_find(row->columns, name);

	if (column < 0)
		return;
	*(uint64_t *)batch_values(row, (size_t)column) = value;
	row->v[column].valid = NULL;
	row->v[column].nulls = 0;
}

/* A row of nulls. NULL: no memory. */
static struct batch *empty_row(struct columns *columns)
{
	struct batch *row = batch_new_rows(columns, 1);
	bool whole = row;

	for (size_t i = 0; row && i < columns->n; i++) {
		if (columns->v[i].type == COLUMN_TEXT)
			whole &= name_loss(row, i);
		if (columns->v[i].type == COLUMN_BYTES)
			whole &= (row->v[i].bytes = calloc(1, 1)) != NULL;
		batch_set_null(row, i, 0);
	}
	if (whole)
		return row;
	batch_release(row);
	return NULL;
}

/* The row for what was dropped; NULL: nothing, or no memory, and then it stays. */
static struct batch *take_dropped(struct branch *b)
{
	struct batch *row = b->dropped ? empty_row(b->part.columns) : NULL;
	ssize_t event = row ? columns_find(row->columns, "_event") : -1;

	if (!row)
		return NULL;
	row->v[event].valid = NULL;
	row->v[event].nulls = 0;
	set_number(row, "_lost", b->dropped);
	if (b->dropped_time)
		set_number(row, "_time", b->dropped_time);
	b->dropped = b->dropped_time = 0;
	return row;
}

/* ---- what waits ---------------------------------------------------------------------- */

static void set_ready(struct branch *b, bool ready)
{
	uint64_t n = 1;
	ssize_t rc = ready ? write(b->ready, &n, sizeof(n)) : read(b->ready, &n, sizeof(n));

	(void)rc;   /* it is so already */
}

static bool append(struct branch *b, struct batch *batch)
{
	struct waiting *w = malloc(sizeof(*w));

	if (!w)
		return false;
	*w = (struct waiting){ batch, NULL };
	*b->tail = w;
	b->tail = &w->next;
	b->bytes += batch_size(batch);
	b->stats.waiting += batch->rows;
	return true;
}

static uint64_t last_time(const struct batch *whole)
{
	ssize_t column = columns_find(whole->columns, "_time");

	for (size_t row = whole->rows; column >= 0 && row > 0; row--)
		if (!batch_is_null(whole, (size_t)column, row - 1))
			return batch_number(whole, (size_t)column, row - 1);
	return 0;
}

/* Losses that the rows report are lost with them. */
static uint64_t count_losses(const struct batch *whole)
{
	ssize_t column = columns_find(whole->columns, "_lost");
	uint64_t n = 0;

	for (size_t row = 0; whole->v[column].nulls < whole->rows && row < whole->rows; row++)
		n += batch_is_null(whole, (size_t)column, row) ? 0 : batch_number(whole, (size_t)column, row);
	return n;
}

static void drop(struct branch *b, const struct batch *whole, size_t events)
{
	uint64_t n = events + count_losses(whole);

	b->dropped += n;
	b->stats.dropped += n;
	b->dropped_time = last_time(whole);
}

static bool has_room(const struct branch *b, const struct batch *rows)
{
	return b->bytes < b->limit && batch_size(rows) <= b->limit - b->bytes;
}

/* Its rows of a batch of the session. What was dropped before stands before them. */
static void put(struct branch *b, struct batch *whole)
{
	struct batch *rows = NULL, *loss = NULL;
	size_t events;
	bool kept = !part_take(&b->part, whole, 0, whole->rows, &rows, &events);

	if (!rows && kept)
		return;
	kept = kept && (!b->head || has_room(b, rows));
	if (kept && b->dropped) {
		loss = take_dropped(b);
		kept = loss && append(b, loss);
	}
	if (loss && !kept) {
		b->dropped += batch_number(loss, (size_t)columns_find(loss->columns, "_lost"), 0);
		batch_release(loss);
	}
	if (!kept || !append(b, rows)) {
		drop(b, whole, events);
		batch_release(rows);
	}
	set_ready(b, true);
}

static struct batch *take(struct branch *b)
{
	struct waiting *w = b->head;
	struct batch *batch = w ? w->batch : take_dropped(b);

	if (w) {
		b->head = w->next;
		b->tail = w->next ? b->tail : &b->head;
		b->bytes -= batch_size(batch);
		b->stats.waiting -= batch->rows;
		free(w);
	}
	if (batch)
		b->stats.rows += batch->rows;
	if (!b->head)
		set_ready(b, b->all->over || b->dropped);
	return batch;
}

/* ---- reading ------------------------------------------------------------------------- */

/* Under the lock. */
static void watch(struct branch *b)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (!b->watches)
		b->watches = !epoll_ctl(b->epoll, EPOLL_CTL_ADD, session_fd(b->all->session), &ev);
}

int branch_fd(const struct branch *b)
{
	return b->epoll;
}

void branch_watch(struct branch *b)
{
	if (session_is_forked(b->all->session))
		return;
	pthread_mutex_lock(&b->all->lock);
	watch(b);
	pthread_mutex_unlock(&b->all->lock);
}

/* The next batch of the session, for all. */
static enum session_answer read_session(struct branches *all)
{
	struct batch *whole = NULL;
	enum session_answer answer = session_next(all->session, &whole, &all->fault);

	all->failed |= answer == SESSION_FAILED;
	all->over |= answer == SESSION_FAILED || answer == SESSION_END;
	for (struct branch *b = all->first; b; b = b->next) {
		if (answer == SESSION_BATCH)
			put(b, whole);
		else if (all->over)
			set_ready(b, true);
	}
	batch_release(whole);
	return answer;
}

static enum session_answer end(struct branch *b, struct fault *f)
{
	bool failed = b->all->failed && !b->reported && !b->closed;

	b->reported = true;
	if (failed)
		*f = b->all->fault;
	return failed ? SESSION_FAILED : SESSION_END;
}

static enum session_answer step(struct branch *b, struct batch **out, struct fault *f)
{
	b->all->begun = true;
	while (!b->closed) {
		enum session_answer answer;

		*out = take(b);
		if (*out)
			return SESSION_BATCH;
		if (b->all->over)
			break;
		watch(b);
		answer = read_session(b->all);
		if (answer == SESSION_WAIT || answer == SESSION_FORKED)
			return answer;
	}
	return end(b, f);
}

enum session_answer branch_next(struct branch *b, struct batch **out, struct fault *f)
{
	enum session_answer answer;

	if (session_is_forked(b->all->session))   /* the lock may be locked, too */
		return SESSION_FORKED;
	pthread_mutex_lock(&b->all->lock);
	answer = step(b, out, f);
	pthread_mutex_unlock(&b->all->lock);
	return answer;
}

void branch_close(struct branch *b)
{
	if (session_is_forked(b->all->session))
		return;
	leave(b);
	set_ready(b, true);
}

bool branch_stats(struct branch *b, struct branch_stats *stats)
{
	if (session_is_forked(b->all->session))
		return false;
	pthread_mutex_lock(&b->all->lock);
	*stats = b->stats;
	pthread_mutex_unlock(&b->all->lock);
	return true;
}
