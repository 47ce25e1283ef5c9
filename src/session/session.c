/* SPDX-License-Identifier: Apache-2.0 */
#include "session/session.h"

#include "base/note.h"
#include "base/now.h"
#include "base/room.h"
#include "columns/batch.h"
#include "columns/builder.h"
#include "engine/job.h"
#include "stream/replay/replay.h"
#include "stream/summary.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Batches on their way from the thread of a session to whoever takes them, with an eventfd that is
 * readable while something is there, and after the end. */

/* The thread waits if so many batches are not taken. */
enum { QUEUE_BATCHES = 4 };

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t room;
	struct batch **v;               /* a ring of `size` entries */
	size_t size, first, n;
	int fd;
	bool open;                      /* batches may come */
	bool unbounded;                 /* nobody waits for room any more */
	bool poked;                     /* queue_wait() is to return */
	uint64_t refused;               /* rows that found no memory */
};

/* 0 or -errno. */
static int queue_begin(struct queue *q)
{
	*q = (struct queue){ .lock = PTHREAD_MUTEX_INITIALIZER, .room = PTHREAD_COND_INITIALIZER, .open = true };
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0)
		return -errno;
	q->v = calloc(QUEUE_BATCHES, sizeof(*q->v));
	q->size = QUEUE_BATCHES;
	return q->v ? 0 : -ENOMEM;
}

static struct batch *queue_get(struct queue *q, bool *ended);

static void queue_drop(struct queue *q)
{
	struct batch *b;
	bool ended;

	while (q->v && (b = queue_get(q, &ended)))
		batch_release(b);
}

static void queue_free(struct queue *q)
{
	queue_drop(q);
	free(q->v);
	if (q->fd >= 0)
		close(q->fd);
	q->fd = -1;
	q->v = NULL;
	pthread_cond_destroy(&q->room);
	pthread_mutex_destroy(&q->lock);
}

/* Under lock. */
static void set_readable(struct queue *q)
{
	uint64_t one = 1;
	ssize_t rc = write(q->fd, &one, sizeof(one));

	(void)rc;   /* it is readable already */
}

static void set_unreadable(struct queue *q)
{
	uint64_t n;
	ssize_t rc = read(q->fd, &n, sizeof(n));

	(void)rc;   /* it was not readable */
}

/* Only once nobody waits for room: what the rings held, at most. */
static bool grow(struct queue *q)
{
	struct batch **more = calloc(2 * q->size, sizeof(*more));

	if (!more)
		return false;
	for (size_t i = 0; i < q->n; i++)
		more[i] = q->v[(q->first + i) % q->size];
	free(q->v);
	q->v = more;
	q->first = 0;
	q->size *= 2;
	return true;
}

/* Takes over the batch. Waits for room. */
static void queue_put(struct queue *q, struct batch *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&q->lock);
	while (q->n >= QUEUE_BATCHES && !q->unbounded)
		pthread_cond_wait(&q->room, &q->lock);
	if (q->n < q->size || grow(q)) {
		q->v[(q->first + q->n++) % q->size] = b;
		set_readable(q);
		b = NULL;
	} else {
		q->refused += b->rows;
	}
	pthread_mutex_unlock(&q->lock);
	batch_release(b);
}

static size_t queue_count(struct queue *q)
{
	size_t n;

	pthread_mutex_lock(&q->lock);
	n = q->n;
	pthread_mutex_unlock(&q->lock);
	return n;
}

static bool queue_is_full(struct queue *q)
{
	return queue_count(q) >= QUEUE_BATCHES;
}

/* Until there is room, or queue_poke() was called. Whether there is room. */
static bool queue_wait(struct queue *q)
{
	bool full;

	pthread_mutex_lock(&q->lock);
	while (q->n >= QUEUE_BATCHES && !q->unbounded && !q->poked)
		pthread_cond_wait(&q->room, &q->lock);
	q->poked = false;
	full = q->n >= QUEUE_BATCHES && !q->unbounded;
	pthread_mutex_unlock(&q->lock);
	return !full;
}

static void queue_poke(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->poked = true;
	pthread_cond_broadcast(&q->room);
	pthread_mutex_unlock(&q->lock);
}

/* The next one, or NULL; *ended: none will come. */
static struct batch *queue_get(struct queue *q, bool *ended)
{
	struct batch *b = NULL;

	pthread_mutex_lock(&q->lock);
	if (q->n) {
		b = q->v[q->first];
		q->first = (q->first + 1) % q->size;
		if (!--q->n && q->open)
			set_unreadable(q);
		pthread_cond_signal(&q->room);
	}
	*ended = !b && !q->open;
	pthread_mutex_unlock(&q->lock);
	return b;
}

/* queue_put() does not wait any more. */
static void queue_release(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->unbounded = true;
	pthread_cond_broadcast(&q->room);
	pthread_mutex_unlock(&q->lock);
}

/* No more batches come. */
static void queue_end(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->open = false;
	set_readable(q);
	pthread_mutex_unlock(&q->lock);
}

static bool queue_has_ended(struct queue *q)
{
	bool open;

	pthread_mutex_lock(&q->lock);
	open = q->open;
	pthread_mutex_unlock(&q->lock);
	return !open;
}

/* A row waits at most this long for its batch to be full (ns); the loop looks 20 times a second. */
#define PATIENCE UINT64_C(40000000)

enum phase { OPENING, HELD, RUNNING, NAMING, OVER };

struct session {
	_Atomic unsigned int refs;
	pid_t pid;                      /* of the process that made it */
	struct session_asked asked;
	struct queue queue;
	struct plans plans;
	pthread_t thread;

	/* The thread's own. */
	struct stream *stream;
	struct builder *builder;
	struct job job;
	struct note_sink sink;
	struct stacktable *stacks;      /* NULL: no column _stack. Others read it once the run has begun */
	uint64_t began_ns;              /* when the first row of the present batch came */
	int timer, ends;                /* timerfd of asked.ns; what ends the run: it and the command. -1: none */

	pthread_mutex_t lock;
	pthread_cond_t changed;         /* phase */
	/* Under the lock. */
	enum phase phase;
	bool closing, joining, joined;
	bool failed;                    /* `fault` is not reported yet */
	struct fault fault;
	bool choosing;                  /* while HELD: `chosen` and asked.fields are to be applied */
	char **chosen;                  /* names of events; NULL: all */
	struct session_stats stats;
	char **notes;
	size_t nnotes;
	struct session_gap *gaps;
	size_t ngaps;
};

/* ---- the thread: batches ------------------------------------------------------------ */

/* What session_stats() shows, as the thread knows it now. */
static void publish(struct session *s)
{
	struct stream_totals totals;

	stream_totals(s->stream, &totals);
	pthread_mutex_lock(&s->lock);
	s->stats.totals = totals;
	s->stats.decoded = builder_decoded(s->builder);
	s->stats.short_of_memory = builder_dropped(s->builder) + s->queue.refused;
	pthread_mutex_unlock(&s->lock);
}

static bool is_closing(struct session *s)
{
	bool closing;

	pthread_mutex_lock(&s->lock);
	closing = s->closing;
	pthread_mutex_unlock(&s->lock);
	return closing;
}

/* While nobody takes batches, somebody may ask for stacks. */
static void put(struct session *s, struct batch *b)
{
	if (s->stacks)
		stacktable_answer(s->stacks);
	while (s->stacks && !queue_wait(&s->queue))
		stacktable_answer(s->stacks);
	queue_put(&s->queue, b);
}

static void hand_over(struct session *s)
{
	struct batch *b = builder_take(s->builder);

	s->began_ns = 0;
	if (b) {
		pthread_mutex_lock(&s->lock);
		s->stats.batches++;
		s->stats.rows += b->rows;
		pthread_mutex_unlock(&s->lock);
		put(s, b);
	}
	publish(s);
	/* the rest of a recording is not wanted */
	if (s->asked.stream.input && is_closing(s))
		stream_stop(s->stream);
}

static void on_sample(void *ctx, const struct stream_event *event, const struct perf_event_header *rec, const void *raw,
		      uint32_t raw_size, uint32_t cpu)
{
	struct session *s = ctx;

	if (__builtin_expect(builder_add(s->builder, event->consumer, rec, raw, raw_size, cpu), 0))
		hand_over(s);
}

static void on_samples(void *ctx, const struct stream_samples *v, size_t n)
{
	struct session *s = ctx;

	for (size_t i = 0; i < n;) {
		size_t room = builder_room(s->builder), most = n - i < room ? n - i : room;

		i += most;
		if (builder_add_samples(s->builder, v, i - most, most))
			hand_over(s);
	}
}

static void on_alike(void *ctx, const struct stream_alike *v)
{
	struct session *s = ctx;

	for (size_t i = 0; i < v->n;) {
		size_t room = builder_room(s->builder), most = v->n - i < room ? v->n - i : room;

		i += most;
		if (builder_add_alike(s->builder, v, i - most, most))
			hand_over(s);
	}
}

static void count_loss(struct session *s, const struct stream_loss *loss)
{
	struct session_stats *t = &s->stats;
	size_t i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < t->nlosses; i++)
		if (t->losses[i].cpu == loss->cpu && t->losses[i].cause == loss->cause)
			break;
	if (i == t->nlosses && ROOM_FOR_ONE(t->losses, t->nlosses))
		t->losses[t->nlosses++] = (struct session_loss){ .cpu = loss->cpu, .cause = loss->cause };
	if (i < t->nlosses) {
		t->losses[i].count += loss->count;
		t->losses[i].times++;
	}
	if (s->ngaps < SESSION_GAPS && ROOM_FOR_ONE(s->gaps, s->ngaps))
		s->gaps[s->ngaps++] = (struct session_gap){ loss->start ? stream_time(s->stream, loss->start) : 0,
			loss->end ? stream_time(s->stream, loss->end) : 0, loss->count, loss->cpu, loss->cause };
	pthread_mutex_unlock(&s->lock);
}

static void on_lost(void *ctx, const struct stream_loss *loss)
{
	struct session *s = ctx;

	count_loss(s, loss);
	if (builder_add_loss(s->builder, loss))
		hand_over(s);
}

/* A batch that is not full stays here while nobody takes batches: waiting would lose events. */
static void on_idle(void *ctx)
{
	struct session *s = ctx;
	uint64_t now;

	if (s->stacks)
		stacktable_answer(s->stacks);
	if (!builder_rows(s->builder)) {
		publish(s);
		return;
	}
	now = now_ns(CLOCK_MONOTONIC);
	if (!s->began_ns)
		s->began_ns = now;
	if ((now - s->began_ns >= PATIENCE || s->asked.stream.input) && !queue_is_full(&s->queue))
		hand_over(s);
}

static void on_task(void *ctx, const struct pev_record *rec)
{
	struct session *s = ctx;

	if (s->stacks)
		stacktable_take(s->stacks, rec);
}

/* ---- the thread: the run ------------------------------------------------------------ */

static void take_note(void *ctx, const char *text)
{
	struct session *s = ctx;
	char *copy = strdup(text);

	pthread_mutex_lock(&s->lock);
	if (copy && ROOM_FOR_ONE(s->notes, s->nnotes))
		s->notes[s->nnotes++] = copy;
	else
		free(copy);
	pthread_mutex_unlock(&s->lock);
}

static void set_phase(struct session *s, enum phase phase)
{
	pthread_mutex_lock(&s->lock);
	s->phase = phase;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static int on_started(void *ctx, struct fault *f)
{
	struct session *s = ctx;

	if (job_start(&s->job, f))
		return -1;
	set_phase(s, RUNNING);
	if (is_closing(s))
		stream_stop(s->stream);   /* session_close() came before there was something to interrupt */
	return 0;
}

static int watch_ends(struct session *s, struct fault *f)
{
	struct itimerspec when = {
		.it_value = { (time_t)(s->asked.ns / 1000000000), (long)(s->asked.ns % 1000000000) },
	};
	struct epoll_event ev = { .events = EPOLLIN };

	if (!s->asked.ns)
		return 0;
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	s->ends = epoll_create1(EPOLL_CLOEXEC);
	if (s->timer < 0 || s->ends < 0 || timerfd_settime(s->timer, 0, &when, NULL) ||
	    epoll_ctl(s->ends, EPOLL_CTL_ADD, s->timer, &ev) ||
	    (s->job.is_there && epoll_ctl(s->ends, EPOLL_CTL_ADD, s->job.workload.pidfd, &ev)))
		return fault_set(f, EXIT_FAILED, "cannot set the end of the session: %s", strerror(errno));
	stream_end_with(s->stream, s->ends);
	return 0;
}

static int make_plans(struct session *s, struct fault *f)
{
	plans_free(&s->plans);
	return plans_make(&s->plans, s->stream, (const char *const *)s->asked.fields, s->asked.nfields, f);
}

static bool is_among(char *const *names, const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void want(struct session *s, char *const *names)
{
	const struct stream_opts *o = &s->asked.stream;
	bool chains = o->call_graph || o->user_callchain > 0 || o->kernel_callchain > 0;
	size_t n;
	struct stream_event *events = stream_events(s->stream, &n);

	for (size_t i = 0; i < n; i++) {
		events[i].wanted = !names || is_among(names, events[i].name);
		events[i].stacks = chains || (s->asked.stacks && events[i].layout.callchain) ? STACKS_ALWAYS : STACKS_NAMED;
	}
}

/* Before stream_open(). */
static int open_stacks(struct session *s, struct fault *f)
{
	if (s->plans.stack < 0)
		return 0;
	s->stacks = stacktable_new();
	return s->stacks ? stacktable_open(s->stacks, s->stream, s->asked.stream.opener, f) :
			   fault_set(f, EXIT_FAILED, "out of memory");
}

/* With the tables of names of stacks, if there are any. */
static int open_events(struct session *s, struct fault *f)
{
	return open_stacks(s, f) || stream_open(s->stream, f) || (s->stacks && stacktable_watch(s->stacks, f)) ? -1 : 0;
}

/* Stops here until the session is read or closed. What is chosen meanwhile changes the plans. */
static int hold(struct session *s, struct fault *f)
{
	bool chosen;
	int rc = 0;

	do {
		pthread_mutex_lock(&s->lock);
		s->phase = HELD;
		pthread_cond_broadcast(&s->changed);
		while (s->phase == HELD && !s->closing)
			pthread_cond_wait(&s->changed, &s->lock);
		chosen = s->choosing;
		s->choosing = false;
		pthread_mutex_unlock(&s->lock);
		if (!chosen)
			return 0;
		want(s, s->chosen);
		rc = make_plans(s, f);
	} while (!rc);
	return rc;
}

/* False: it was closed before anybody read it. */
static bool is_begun(struct session *s)
{
	bool begun;

	pthread_mutex_lock(&s->lock);
	begun = s->phase != HELD;
	pthread_mutex_unlock(&s->lock);
	return begun;
}

/* The plans are made twice: they say what to sample, and then where that lies. */
static int open_live(struct session *s, struct fault *f)
{
	if (s->asked.hold && hold(s, f))
		return -1;
	if (!is_begun(s))
		return 0;
	if (stream_narrow(s->stream, f) || make_plans(s, f))
		return -1;
	job_attach(&s->job, s->stream);
	if (open_events(s, f))
		return -1;
	job_end_with(&s->job, s->stream);
	return watch_ends(s, f);
}

static int open_stream(struct session *s, struct fault *f)
{
	s->stream = stream_new(&s->asked.stream, f);
	if (!s->stream || stream_check_chains(s->stream, f))
		return -1;
	want(s, NULL);
	if (make_plans(s, f))
		return -1;
	if (s->asked.stream.input ? open_events(s, f) || hold(s, f) : open_live(s, f))
		return -1;
	s->builder = builder_new(&s->plans, s->stream, 0);
	if (!s->builder)
		return fault_set(f, EXIT_FAILED, "out of memory");
	if (s->stacks)
		builder_set_stacks(s->builder, stacktable_number, s->stacks);
	return 0;
}

static const struct stream_ops ops = {
	.started = on_started, .sample = on_sample, .samples = on_samples, .alike = on_alike, .lost = on_lost, .idle = on_idle, .task = on_task,
};

static uint64_t thread_ns(void)
{
	return now_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The rest of the rows, then the end: with f, if it failed. Who reads the batches gets it before the stacks have their names,
 * which can take long: only who reads these waits for them. */
static void finish(struct session *s, const struct fault *f, bool failed)
{
	int status = s->stream ? job_collect(&s->job, s->stream) : -1;

	if (s->builder)
		hand_over(s);
	if (s->stacks)
		stacktable_end(s->stacks);
	pthread_mutex_lock(&s->lock);
	s->failed = failed;
	s->fault = *f;
	s->stats.status = s->job.is_there && !s->job.workload.unknown ? status : -1;
	pthread_mutex_unlock(&s->lock);
	queue_end(&s->queue);
	if (s->stacks)
		stacktable_finish(s->stacks);
	pthread_mutex_lock(&s->lock);
	s->phase = OVER;
	s->stats.cpu_ns = thread_ns();
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A recording of which nothing was asked for: an error for commands, a note for programs, which may ask for many parts. */
static bool has_nothing(struct session *s, struct fault *f)
{
	if (!summary_check(s->stream, f))
		return false;
	if (s->asked.hold)
		return true;
	take_note(s, f->text);
	*f = (struct fault){ 0 };
	return false;
}

static void *run(void *arg)
{
	struct session *s = arg;
	struct fault f = { 0 };
	bool failed;

	note_redirect(&s->sink);
	failed = open_stream(s, &f) || (is_begun(s) && (stream_run(s->stream, &ops, s, &f) || has_nothing(s, &f)));
	pthread_mutex_lock(&s->lock);
	s->phase = s->phase == RUNNING ? NAMING : s->phase;   /* there is nothing to interrupt any more */
	pthread_mutex_unlock(&s->lock);
	finish(s, &f, failed);
	builder_free(s->builder);
	s->builder = NULL;
	stream_free(s->stream);
	s->stream = NULL;
	job_abandon(&s->job);
	close_fd(&s->ends);
	close_fd(&s->timer);
	note_redirect(NULL);
	return NULL;
}

/* ---- beginning and end -------------------------------------------------------------- */

static int start_thread(struct session *s, struct fault *f)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc ? fault_set(f, EXIT_FAILED, "cannot start the thread of the session: %s", strerror(rc)) : 0;
}

static void free_all(struct session *s)
{
	queue_free(&s->queue);
	stacktable_free(s->stacks);
	plans_free(&s->plans);
	session_asked_free(&s->asked);
	session_free_words(s->chosen);
	for (size_t i = 0; i < s->nnotes; i++)
		free(s->notes[i]);
	free(s->notes);
	free(s->stats.losses);
	free(s->gaps);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct session *make(struct session_asked *asked)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->refs = 1;
	s->pid = getpid();
	s->asked = *asked;
	memset(asked, 0, sizeof(*asked));
	asked->stream.input_fd = -1;
	s->job = (struct job)JOB_NONE;
	s->sink = (struct note_sink){ take_note, s };
	s->timer = s->ends = -1;
	s->stats.status = -1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	return s;
}

struct session *session_new(struct session_asked *asked, struct fault *f)
{
	struct session *s = make(asked);
	bool failed;

	if (!s || queue_begin(&s->queue) || job_prepare(&s->job, s->asked.command, s->asked.everybody, &s->asked.stream, f) ||
	    start_thread(s, f)) {
		if (!f->exit_code)
			fault_set(f, EXIT_FAILED, "cannot begin a session: %s", strerror(errno));
		if (s) {
			job_abandon(&s->job);
			free_all(s);
		} else {
			session_asked_free(asked);
		}
		return NULL;
	}
	pthread_mutex_lock(&s->lock);
	while (s->phase == OPENING)
		pthread_cond_wait(&s->changed, &s->lock);
	failed = s->phase == OVER && s->failed && !s->stats.rows;
	if (failed)
		*f = s->fault;
	pthread_mutex_unlock(&s->lock);
	if (!failed)
		return s;
	session_release(s);
	return NULL;
}

/* A held session begins; its plans may change until the run has begun. */
static void go(struct session *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->phase == HELD && !s->closing) {
		s->phase = OPENING;
		pthread_cond_broadcast(&s->changed);
	}
	while (s->phase == OPENING)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

static size_t count_words(char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

/* Under the lock, while HELD: makes the thread change its plans, and waits for it. */
static int choose(struct session *s, char ***events, char ***fields, struct fault *f)
{
	session_free_words(s->chosen);
	session_free_words(s->asked.fields);
	s->chosen = *events;
	s->asked.fields = *fields;
	s->asked.nfields = count_words(*fields);
	*events = *fields = NULL;
	s->choosing = true;
	s->phase = OPENING;
	pthread_cond_broadcast(&s->changed);
	while (s->phase == OPENING)
		pthread_cond_wait(&s->changed, &s->lock);
	if (!s->failed)
		return 0;
	*f = s->fault;
	s->failed = false;
	return -1;
}

int session_choose(struct session *s, char **events, char **fields, struct fault *f)
{
	int rc = 1;

	if (!session_is_forked(s)) {
		pthread_mutex_lock(&s->lock);
		if (s->phase == HELD && !s->closing)
			rc = choose(s, &events, &fields, f);
		pthread_mutex_unlock(&s->lock);
	}
	session_free_words(events);
	session_free_words(fields);
	return rc;
}

struct session *session_keep(struct session *s)
{
	atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

void session_release(struct session *s)
{
	if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
		return;
	/* a fork has no thread to end, and what it would free, the thread may have been changing */
	if (session_is_forked(s))
		return;
	session_close(s);
	free_all(s);
}

void session_close(struct session *s)
{
	bool mine;

	if (session_is_forked(s))
		return;
	pthread_mutex_lock(&s->lock);
	s->closing = true;
	mine = !s->joining;
	s->joining = true;
	if (s->phase == RUNNING)
		stream_interrupt(s->stream);
	if (s->phase == RUNNING || s->phase == NAMING)
		stream_hurry(s->stream);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	queue_release(&s->queue);
	if (mine)
		pthread_join(s->thread, NULL);
	pthread_mutex_lock(&s->lock);
	s->joined |= mine;
	pthread_cond_broadcast(&s->changed);
	while (!s->joined)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

bool session_is_forked(const struct session *s)
{
	return getpid() != s->pid;
}

bool session_is_closed(struct session *s)
{
	return !session_is_forked(s) && is_closing(s);
}

void session_drop(struct session *s)
{
	if (!session_is_forked(s))
		queue_drop(&s->queue);
}

/* ---- what others ask ---------------------------------------------------------------- */

struct columns *session_columns(struct session *s)
{
	return s->plans.columns;
}

const char *const *session_events(const struct session *s)
{
	return (const char *const *)s->plans.events;
}

const struct plans *session_plans(const struct session *s)
{
	return &s->plans;
}

int session_fd(struct session *s)
{
	if (!session_is_forked(s))
		go(s);
	return s->queue.fd;
}

enum session_answer session_next(struct session *s, struct batch **out, struct fault *f)
{
	bool ended, failed;

	if (session_is_forked(s))
		return SESSION_FORKED;
	go(s);
	*out = queue_get(&s->queue, &ended);
	if (*out)
		return SESSION_BATCH;
	if (!ended)
		return SESSION_WAIT;
	pthread_mutex_lock(&s->lock);
	failed = s->failed;
	s->failed = false;
	if (failed)
		*f = s->fault;
	pthread_mutex_unlock(&s->lock);
	return failed ? SESSION_FAILED : SESSION_END;
}

void session_fail(struct session *s, const struct fault *f)
{
	pthread_mutex_lock(&s->lock);
	s->failed = true;
	s->fault = *f;
	pthread_mutex_unlock(&s->lock);
}

static uint64_t cpu_time(struct session *s)
{
	struct timespec t;
	clockid_t clock;

	if (s->joining || s->phase == OVER || pthread_getcpuclockid(s->thread, &clock) || clock_gettime(clock, &t))
		return s->stats.cpu_ns;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

bool session_stats(struct session *s, struct session_stats *stats)
{
	size_t bytes;

	if (session_is_forked(s))
		return false;
	pthread_mutex_lock(&s->lock);
	*stats = s->stats;
	stats->cpu_ns = cpu_time(s);
	bytes = stats->nlosses * sizeof(*stats->losses);
	stats->losses = malloc(bytes + 1);
	if (stats->losses && bytes)
		memcpy(stats->losses, s->stats.losses, bytes);
	pthread_mutex_unlock(&s->lock);
	stats->waiting = queue_count(&s->queue);
	if (s->stacks) {
		stats->stacks = stacktable_count(s->stacks);
		stats->no_stack = stacktable_refused(s->stacks);
	}
	return stats->losses;
}

bool session_gap(struct session *s, size_t i, struct session_gap *gap)
{
	bool there;

	pthread_mutex_lock(&s->lock);
	there = i < s->ngaps;
	if (there)
		*gap = s->gaps[i];
	pthread_mutex_unlock(&s->lock);
	return there;
}

struct stacktable *session_stacktable(struct session *s)
{
	return s->stacks;
}

bool session_wait_for_stack(struct session *s, size_t stack, unsigned int ms)
{
	queue_poke(&s->queue);
	return stacktable_wait(s->stacks, stack, ms);
}

/* Under the lock. */
static bool is_naming(struct session *s)
{
	return s->phase == NAMING && !s->closing && queue_has_ended(&s->queue);
}

bool session_wait_for_names(struct session *s, unsigned int ms)
{
	struct timespec until;
	bool there;

	if (session_is_forked(s))
		return true;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&s->lock);
	while (is_naming(s) && !pthread_cond_timedwait(&s->changed, &s->lock, &until))
		;
	there = !is_naming(s);
	pthread_mutex_unlock(&s->lock);
	return there;
}

void session_add_note(struct session *s, const char *text)
{
	if (!session_is_forked(s))
		take_note(s, text);
}

const char *session_note(struct session *s, size_t i)
{
	const char *text;

	if (session_is_forked(s))
		return NULL;
	pthread_mutex_lock(&s->lock);
	text = i < s->nnotes ? s->notes[i] : NULL;
	pthread_mutex_unlock(&s->lock);
	return text;
}
