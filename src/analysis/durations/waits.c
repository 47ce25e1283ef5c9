/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf-prof waits: who waits for whom. A wait begins when a thread goes to sleep and ends when another one wakes it:
 *
 *	sched_switch (prev sleeps)            sched_waking (runs in the waker)
 *	waiter: its stack ------------------> waker: its stack
 *
 * What follows, the wait for a CPU, is not the waker's: see rundelay.
 */
#include "analysis/durations/commands.h"
#include "analysis/durations/deadlocks.h"
#include "analysis/durations/earlywaits.h"
#include "analysis/durations/states.h"
#include "analysis/durations/waitargs.h"
#include "analysis/durations/waitedon.h"
#include "analysis/durations/waitkind.h"
#include "analysis/durations/waiton.h"
#include "base/escape.h"
#include "base/procstatus.h"
#include "base/textfile.h"
#include "base/units.h"
#include "engine/analysis.h"
#include "engine/callnames.h"
#include "engine/framefold.h"
#include "report/flame.h"
#include "report/folded.h"
#include "report/table.h"
#include "table/words.h"
#include "tracefmt/tracefmt.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/*
 * Waits by the stack that waited and the stack that woke it: the longest as text, and all as folded stacks for a picture.
 * There the waker stands on the waiter, upside down, so that the function that wakes is on the one that waits:
 *
 *	waker's main
 *	pthread_mutex_unlock
 *	[woken by waker]
 *	pthread_mutex_lock
 *	waiter's main
 *	waiter
 *
 * by_object: the lock or file that was waited on is at the bottom, below all its waiters.
 */

/* Two tasks and, with --on, the call and its lock or file, as numbers of words.h; and the stacks of both, which may be NULL. */
struct waitstacks_key {
	uint64_t waiter, waker, on;
	uint64_t object;             /* 1: `on` is a lock, file, pipe or socket; 0: only a call, or nothing */
	struct callstack *waits, *wakes;
};

/* Initialized by zeros. */
struct waitstacks {
	struct groups all;           /* of struct waitstack */
	uint64_t total;              /* ns */
	uint64_t refused;            /* ns that there was no memory for */
	const struct waitkinds *kinds;   /* of the last waitstacks_find_kinds(); NULL: none */
	bool because_of;             /* set by the caller: wakers are those that a thread waited for, not only those that woke it */
};

struct words;

enum { MAX_STACKS = 1 << 17, MAX_FRAMES = 256 };

struct waitstack {
	struct waitstacks_key key;
	uint64_t ns, waits;
};

static void waitstacks_add(struct waitstacks *w, const struct waitstacks_key *key, uint64_t ns)
{
	struct waitstack *one = groups_get(&w->all, key, sizeof(*key), sizeof(*one), MAX_STACKS);

	w->total += ns;
	if (!one) {
		w->refused += ns;
		return;
	}
	one->ns += ns;
	one->waits++;
}

static void waitstacks_free(struct waitstacks *w)
{
	groups_free(&w->all);
	*w = (struct waitstacks){ .because_of = w->because_of };
}

static int heavier(const void *a_, const void *b_)
{
	const struct waitstack *a = a_, *b = b_;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* Heaviest first, with the names that came late. */
static void prepare(struct analysis *a, struct waitstacks *w)
{
	groups_sort(&w->all, heavier);
	for (struct waitstack *one = groups_first(&w->all); one; one = groups_next(one)) {
		if (one->key.waits)
			callstacks_expand(a->stacks, one->key.waits);
		if (one->key.wakes)
			callstacks_expand(a->stacks, one->key.wakes);
	}
}

/* Names all stacks, and says what kind each `on` is, which is a number of words.h. */
static void waitstacks_find_kinds(struct analysis *a, struct waitstacks *w, struct waitkinds *kinds)
{
	prepare(a, w);
	w->kinds = kinds;
	for (const struct waitstack *one = groups_first(&w->all); one; one = groups_next(one))
		if (one->key.on)
			waitkinds_add(kinds, one->key.on, &(struct waitkinds_of){ .stacks = waitkind_of_stack(one->key.waits) });
}

static const char *shown(const struct words *words, uint64_t number, char *buf, size_t size)
{
	const char *text = words_text(words, number);

	escape_terminal(text, strlen(text), buf, size);
	return buf;
}

/* Waits with the same stacks on the same object, whatever their tasks are called. If it is not known, tasks tell waits apart: short
 * stacks (read() of the C library) are the same in all programs. */
struct merged {
	struct waitstacks_key key;   /* with the object, without tasks */
	uint64_t waiter, waker;      /* those with the longest wait */
	bool waiters, wakers;        /* there are others */
	uint64_t ns, waits;
};

/* A timer ended the wait, so that there is no task to look for. */
static bool is_sleep(const struct waitstack *one)
{
	enum { INNERMOST = 12 };
	const struct callstack *s = one->key.waits;

	for (uint32_t i = 0; s && i < s->n && i < INNERMOST; i++)
		if (s->frames[i]->symbol && strstr(s->frames[i]->symbol, "nanosleep"))
			return true;
	return false;
}

/* NULL: out of memory. */
static struct merged *merge(struct groups *all, const struct waitstack *one)
{
	const struct waitstacks_key of_object = { .on = one->key.on, .object = 1, .waits = one->key.waits, .wakes = one->key.wakes };
	const struct waitstacks_key key = one->key.object ? of_object : one->key;
	const uint32_t n = all->n;
	struct merged *m = groups_get(all, &key, sizeof(key), sizeof(*m), UINT32_MAX);

	if (!m)
		return NULL;
	if (all->n > n) {
		m->waiter = one->key.waiter;
		m->waker = one->key.waker;
	}
	m->waiters |= m->waiter != one->key.waiter;
	m->wakers |= m->waker != one->key.waker;
	m->ns += one->ns;
	m->waits += one->waits;
	return m;
}

/* A stack without callers, as by frame pointers in a library that has none, does not tell; then what is waited on may. */
static const char *kind_of(const struct waitstacks *w, const struct callstack *waits, uint64_t on, char *buf, size_t size)
{
	const waitkinds_set kinds = waitkind_of_stack(waits);

	return waitkind_text(kinds || !on || !w->kinds ? kinds : waitkinds_get(w->kinds, on), buf, size);
}

static int longer(const void *a_, const void *b_)
{
	const struct merged *a = a_, *b = b_;

	return (a->ns < b->ns) - (a->ns > b->ns);
}

/* of: of this time. A pair of an object has no number: waits are divided among pairs. */
static void print_merged(struct analysis *a, const struct waitstacks *w, const struct words *words, const struct merged *m, uint64_t of)
{
	char waiter[4 * WORD_SIZE], waker[4 * WORD_SIZE], on[4 * WORD_SIZE], buf[WAITKIND_SIZE];
	const char *kind = kind_of(w, m->key.waits, m->key.on, buf, sizeof(buf));

	printf("%6.2f%%  %s%s%s%s", 100 * (double)m->ns / (double)of, shown(words, m->waiter, waiter, sizeof(waiter)),
	       m->waiters ? " and others wait" : " waits", m->key.on ? " in " : "",
	       m->key.on ? shown(words, m->key.on, on, sizeof(on)) : "");
	if (kind)
		printf(" [%s]", kind);
	printf(", ");
	if (!m->key.object)
		printf("%llu time%s, ", (unsigned long long)m->waits, units_plural(m->waits));
	printf("%.3f ms\n", (double)m->ns / 1e6);
	if (!m->key.waits)
		puts("    (the stack is not known)");
	analysis_print_stack(a, m->key.waits);
	printf("         %s %s%s\n", w->because_of ? "because of" : "until woken by", shown(words, m->waker, waker, sizeof(waker)),
	       m->wakers ? " and others" : "");
	analysis_print_stack(a, m->key.wakes);
}

/* Stacks that are not printed. */
struct left_out {
	uint64_t stacks, sleeps, ns;
};

static struct groups merge_all(struct analysis *a, struct waitstacks *w, struct left_out *out)
{
	struct groups all = { 0 };   /* of struct merged */

	for (const struct waitstack *one = groups_first(&w->all); one; one = groups_next(one))
		if (is_sleep(one) && !a->opts->full) {
			out->sleeps += one->waits;
			out->ns += one->ns;
		} else if (!merge(&all, one)) {
			w->refused += one->ns;
		}
	groups_sort(&all, longer);
	return all;
}

/* Prints the n longest without sleeps, or all (--full). */
static void waitstacks_print(struct analysis *a, struct waitstacks *w, const struct words *words, unsigned int n)
{
	struct left_out out = { 0 };
	struct groups all;

	prepare(a, w);
	all = merge_all(a, w, &out);
	if (w->all.n)
		printf("\nlongest waits, by stack\n");
	for (const struct merged *m = groups_first(&all); m; m = groups_next(m))
		if (n || a->opts->full) {
			print_merged(a, w, words, m, w->total - out.ns);
			n -= n > 0;
		} else {
			out.stacks++;
		}
	if (out.sleeps)
		printf("sleeps are left out, also of the percentages: %llu, %.3f ms (--full shows them)\n",
		       (unsigned long long)out.sleeps, (double)out.ns / 1e6);
	if (out.stacks)
		printf("... %llu more (--full shows all)\n", (unsigned long long)out.stacks);
	groups_free(&all);
	if (w->refused)
		fprintf(stderr, "perf-prof: %s: %.2f %% of the time is missing from the stacks: too many different stacks\n",
			a->ops->name, 100 * (double)w->refused / (double)w->total);
}

/* ---- for programs ------------------------------------------------------------------------ */

static void put_folded(struct table *t, const struct callstack *stack)
{
	char *text = framefold_text(stack);

	table_text(t, text);
	free(text);
}

/* All of them as a JSON table with the stacks as folded text, outermost function first. */
static void waitstacks_json(struct analysis *a, struct waitstacks *w, const struct words *words)
{
	static const struct table_column columns[] = {
		{ "waiter", TABLE_TEXT }, { "waker", TABLE_TEXT }, { "on", TABLE_TEXT }, { "kind", TABLE_TEXT },
		{ "calls", TABLE_INTEGER }, { "total", TABLE_DURATION },
		{ "waits", TABLE_TEXT }, { "wakes", TABLE_TEXT },
	};
	char kind[WAITKIND_SIZE];
	struct table t;

	prepare(a, w);
	table_init(&t, "wait stacks", columns, sizeof(columns) / sizeof(*columns));
	for (const struct waitstack *one = groups_first(&w->all); one; one = groups_next(one)) {
		table_row(&t);
		table_text(&t, words_text(words, one->key.waiter));
		table_text(&t, words_text(words, one->key.waker));
		table_text(&t, one->key.on ? words_text(words, one->key.on) : NULL);
		table_text(&t, kind_of(w, one->key.waits, one->key.on, kind, sizeof(kind)));
		table_unsigned(&t, one->waits);
		table_unsigned(&t, one->ns);
		put_folded(&t, one->key.waits);
		put_folded(&t, one->key.wakes);
	}
	if (table_json(&t, NULL, stdout) == -ENOMEM)
		fprintf(stderr, "perf-prof: %s: out of memory for the table of stacks\n", a->ops->name);
	table_free(&t);
}

/* ---- the picture ------------------------------------------------------------------------- */

static void fold(const struct waitstacks *w, const struct waitstack *one, const struct words *words, bool by_object, struct folded *f)
{
	const struct callstack *waits = one->key.waits, *wakes = one->key.wakes;
	uint32_t frames[2 * MAX_FRAMES + 3];
	char text[WORD_SIZE + 32];
	size_t n = 0;

	if (by_object)
		frames[n++] = folded_frame(f, words_text(words, one->key.on), FOLDED_BLOCKED);
	frames[n++] = folded_frame(f, words_text(words, one->key.waiter), FOLDED_TASK);
	for (uint32_t i = waits ? waits->n < MAX_FRAMES ? waits->n : MAX_FRAMES : 0; i--;)
		frames[n++] = framefold(f, waits->frames[i]);
	if (one->key.on && !by_object)
		frames[n++] = folded_frame(f, words_text(words, one->key.on), FOLDED_BLOCKED);
	snprintf(text, sizeof(text), "[%s %s]", w->because_of ? "because of" : "woken by", words_text(words, one->key.waker));
	frames[n++] = folded_frame(f, text, FOLDED_BLOCKED);
	for (uint32_t i = 0; wakes && i < wakes->n && i < MAX_FRAMES; i++)
		frames[n++] = framefold(f, wakes->frames[i]);
	folded_add(f, frames, n, FOLDED_ROOT_FIRST, one->ns);
}

/* by_object: without sleeps. */
static void waitstacks_fold(struct analysis *a, struct waitstacks *w, const struct words *words, bool by_object, struct folded *f)
{
	prepare(a, w);
	for (const struct waitstack *one = groups_first(&w->all); one; one = groups_next(one))
		if (!by_object || !is_sleep(one))
			fold(w, one, words, by_object, f);
}

/* Who or what ended a wait. */

/* In which context the kernel woke the thread. An interrupt is not the work of the task that it interrupts. A soft
 * interrupt may be: the kernel runs it at the end of a system call that sends to a socket of this machine. But one that ends an
 * uninterruptible wait comes from a device, as from a disk. BY_TIMEOUT: the result of the call says so. BY_UNKNOWN: the kernel did
 * not deliver that event. BY_EXIT: the thread's process ended, and the thread with it: it never went on. */
enum context { BY_TASK_ITSELF, BY_SOFTIRQ, BY_INTERRUPT, BY_TIMEOUT, BY_UNKNOWN, BY_EXIT };

/* flags: of the event that woke it */
static enum context waitends_context(uint64_t flags, bool is_device)
{
	if (flags & (TRACE_HARDIRQ | TRACE_NMI) || (flags & TRACE_SOFTIRQ && is_device))
		return BY_INTERRUPT;
	return flags & TRACE_SOFTIRQ ? BY_SOFTIRQ : BY_TASK_ITSELF;
}

/* "task", "softirq", ... */
static const char *waitends_word(uint64_t context)
{
	static const char *const words[] = { "task", "softirq", "interrupt", "timeout", "unknown", "exit" };

	return words[context];
}

/* "[interrupt]"; NULL: a task did it. */
static const char *waitends_nobody(enum context context)
{
	static const char *const nobody[] = {
		[BY_INTERRUPT] = "[interrupt]", [BY_TIMEOUT] = "[timeout]", [BY_UNKNOWN] = "[not seen]", [BY_EXIT] = "[exit]",
	};

	return nobody[context];
}

/* Whether that task may have woken the thread by a signal, or by its own exit: what the thread does next tells whether it dies. */
/* A thread of the same process does so in these calls, or in none, if a signal kills it. */
static bool waitends_may_be_kill(const struct waiton *on, pid_t tid, pid_t waker_pid, pid_t waker)
{
	static const char *const kills[] = { "exit_group", "kill", "tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "execve",
					     "execveat", "pidfd_send_signal" };
	const char *call;

	if (waiton_pid(on, tid) != waker_pid)
		return true;
	call = waiton_call_name(on, waker);
	for (size_t i = 0; call && i < sizeof(kills) / sizeof(*kills); i++)
		if (!strcmp(call, kills[i]))
			return true;
	return !call;
}

/* Whether a signal ended the call with that result. Signals that kill a thread do so after it. */
static bool waitends_is_interrupt(int64_t result)
{
	enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516 };   /* of the kernel */

	return result == -EINTR || (result <= -ERESTARTSYS && result >= -ERESTARTNOHAND) || result == -ERESTART_RESTARTBLOCK;
}

/* Whether the thread has ended, or is about to. */
static bool waitends_is_dying(pid_t tid)
{
	enum { EXITING = 4 };   /* PF_EXITING of the kernel */
	unsigned long flags, pending;
	char path[64], text[1024];
	const char *rest;
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	if (textfile_read(path, text, sizeof(text)) <= 0 || !(rest = strrchr(text, ')')))
		return true;
	/* state, ppid, pgrp, session, tty, tpgid, flags; 21 numbers; signals that are pending */
	if (sscanf(rest, ") %c %*s %*s %*s %*s %*s %lu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
		   " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lu",
		   &state, &flags, &pending) != 3)
		return false;
	return state == 'Z' || state == 'X' || flags & EXITING || pending >> (SIGKILL - 1) & 1;
}

struct waits {
	struct states states;
	struct flame_config flame;
	bool shows_on;                   /* --on */
	bool by_object;                  /* --flame-by-lock */
	struct words words;              /* names of tasks, and what was waited on */
	struct waitkinds kinds;          /* of what was waited on */
	struct waitstacks stacks;        /* since the last table */
	struct waiton on;
	struct waitedon waited;          /* --on: of the whole run */
	struct earlywaits early;
	struct deadlocks deadlocks;
	struct pairs woken;              /* tids that were woken while they had no wait */
	struct groups ended;             /* of struct ended; --on: waits that ended by an interrupt or another process: the next event of the thread says
					  * if it was a timeout or its exit */
	struct {
		uint64_t n, ns, longest;
		pid_t tid;               /* of the longest one */
	} unstacked;                     /* waits of the table that have not ended, and are not in `stacks` */
	uint64_t looked;                 /* when long waits were looked at */
	uint64_t first, latest;          /* the times of the first and the last sample */
	bool found_none;                 /* the present table has no rows */
};

enum { SWITCH, WAKING, NEVENTS, ENTER = NEVENTS, LEAVE };
enum { FIELD_PREV, FIELD_STATE };
enum { FIELD_WOKEN, FIELD_FLAGS };
static const struct question_event events[] = {
	[SWITCH] = { "sched", "sched_switch", { [FIELD_PREV] = "prev_pid", [FIELD_STATE] = "prev_state" }, "prev_comm",
		     .filter = "prev_state&0xff" },   /* not preempted ones */
	[WAKING] = { "sched", "sched_waking", { [FIELD_WOKEN] = "pid", [FIELD_FLAGS] = "common_flags" }, "comm" },
	[ENTER] = { "raw_syscalls", "sys_enter", { "id" }, "args" },
	[LEAVE] = { "raw_syscalls", "sys_exit", { "id", "ret" } },
};
enum { FIELD_CALL, FIELD_RESULT };

/* ---- the waker ------------------------------------------------------------------------- */

static const char *context_text(struct question *q, uint64_t context, char *buf, size_t size)
{
	return waitends_word(context);
}

static uint64_t name_waker(struct question *q, const struct analysis_sample *s, enum context context)
{
	struct words *words = &((struct waits *)q)->words;
	char text[WORD_SIZE];

	if (!q->a)
		return 0;
	if (context >= BY_INTERRUPT)
		return words_number(words, waitends_nobody(context));
	snprintf(text, sizeof(text), "%s%s", analysis_comm(q->a, s->tid), context == BY_SOFTIRQ ? " [softirq]" : "");
	return words_number(words, text);
}

static const char *word(struct question *q, uint64_t number, char *buf, size_t size)
{
	return words_text(&((struct waits *)q)->words, number);
}

static const char *kind(struct question *q, uint64_t number, char *buf, size_t size)
{
	return waitkind_text(waitkinds_get(&((struct waits *)q)->kinds, number), buf, size);
}

enum { WAKER, WAKER_TID, CONTEXT, ON, KIND, WITH_HOLDER = 96 };   /* WITH_HOLDER: a lock, its file and its holder */
#define COLUMNS \
	[WAKER] = { "waker", COLUMN_TEXT, COLUMN_KEY, .text = word }, \
	[WAKER_TID] = { "waker_tid", COLUMN_TASK, COLUMN_PER_INSTANCE | COLUMN_FIELD }, \
	[CONTEXT] = { "context", COLUMN_TEXT, COLUMN_FIELD, 12, .text = context_text }
static const struct column columns[] = { COLUMNS };
static const struct column columns_on[] = {
	COLUMNS, [ON] = { "on", COLUMN_TEXT, COLUMN_KEY, .text = word, .most = WITH_HOLDER },
	[KIND] = { "kind", COLUMN_TEXT, COLUMN_ABOUT, .text = kind },
};

/* ---- samples --------------------------------------------------------------------------- */

/* A wait that has ended, and is in no row yet. */
struct ended {
	pid_t tid;
	struct analysis_sample s;    /* that ended it; its raw data and chain are only good during the sample */
	struct pair_end end;
	enum context context;
	struct callstack *wakes;
	bool left;                   /* its call has returned, interrupted by a signal, which may kill the thread */
};

static void add_ended(struct question *q, const struct ended *e);

/* The thread goes on. known: how the wait has ended, or the context of its wake-up if the result of its call does not tell. */
static void flush_ended(struct waits *w, struct ended *e, enum context known)
{
	struct ended one = *e;

	groups_drop(&w->ended, e);
	one.context = known;
	add_ended(&w->states.question, &one);
}

static struct ended *find_ended(const struct waits *w, pid_t tid)
{
	return groups_find(&w->ended, &tid, sizeof(tid));
}

/* Returns whether the thread was waiting. */
static bool cancel(struct pairs *p, pid_t tid)
{
	struct open_pair *o = pairs_find(p, (uint64_t)tid);

	if (o)
		pairs_cancel(p, o);
	return o;
}

/* A thread sleeps anew, so its open wait has ended, though no event said so. If it was woken shortly before it left its CPU,
 * that may have been the end of a wait without a length; and a thread that slept when the run began may have begun that wait just
 * now. Of all tasks, some are threads of the kernel that perf-prof wakes by what it does, and these events are left out. */
static void end_unseen(struct question *q, pid_t tid)
{
	struct waits *w = (struct waits *)q;
	struct open_pair *o = pairs_find(&q->pairs, (uint64_t)tid);

	if (!o)
		return;
	q->pairs.restarted += !w->states.switches.everybody && !o->may_have_ended && !earlywaits_has(&w->early, o);
	pairs_cancel(&q->pairs, o);
}

/* A pair is a wait. Its value: the stack that waits, or 0. */
static void start_wait(struct question *q, const struct analysis_sample *s, pid_t tid, bool is_device, struct callstack *stack)
{
	struct waits *w = (struct waits *)q;
	struct open_pair *o;

	end_unseen(q, tid);
	pairs_start(&q->pairs, s->time, (uint64_t)tid, (uint64_t)(uintptr_t)stack);
	o = pairs_find(&q->pairs, (uint64_t)tid);
	if (o)
		o->is_device = is_device;
	if (cancel(&w->woken, tid) && o)
		o->may_have_ended = true;
	if (w->shows_on)
		waitedon_begin(&w->on, tid, s->time);
}

/* The thread was kept in its call only until it is known how that ends. */
static void go_on(struct waits *w, struct ended *e, enum context known)
{
	const bool left = e->left;
	const pid_t tid = e->tid;

	flush_ended(w, e, known);
	if (left)
		waiton_leave(&w->on, tid);
}

static void begin_wait(struct question *q, const struct analysis_sample *s, pid_t tid)
{
	struct waits *w = (struct waits *)q;
	uint64_t state = question_number(q, s, SWITCH, FIELD_STATE);
	struct callstack *stack = q->a && s->event->layout.callchain ? analysis_stack(q->a, s) : NULL;
	struct ended *e = find_ended(w, tid);

	if (e)   /* else the call goes on: it was no timeout */
		go_on(w, e, state & SWITCH_LEAVES ? BY_EXIT : e->context);
	if (state & SWITCH_LEAVES) {
		cancel(&q->pairs, tid);   /* its last wait has ended, if no event said so */
		cancel(&w->woken, tid);
		waiton_forget(&w->on, tid);
		stream_task_ended(s->event, (pid_t)trace_field_sint(q->fields[SWITCH][FIELD_PREV], s->view.raw));
	} else if (state & 0xff) {
		start_wait(q, s, tid, (state & 0xff) == SWITCH_UNINTERRUPTIBLE, stack);
	}
}

/* A wait that is divided among the tasks that it was because of. */
struct division {
	struct waits *w;
	struct waitstacks_key key;
	uint64_t rest;
};

static void add_part(void *ctx, const struct handoff *because_of, uint64_t ns)
{
	struct division *d = ctx;
	struct waitstacks_key key = d->key;

	if (because_of->is_old)
		return;
	key.waker = because_of->name;
	key.wakes = because_of->stack;
	waitstacks_add(&d->w->stacks, &key, ns);
	d->rest -= ns;
}

static void add_stacks(struct waits *w, const struct happening *h, struct callstack *wakes, const struct handoffs *handoffs)
{
	struct division d = { w, {
		words_number(&w->words, h->comm), h->cells[WAKER].number, w->shows_on ? h->cells[ON].number : 0, handoffs != NULL,
		(struct callstack *)(uintptr_t)h->end.value, wakes,
	}, h->end.duration };

	if (handoffs)
		handoffs_divide(handoffs, h->end.start, h->end.start + h->end.duration, add_part, &d);
	if (d.rest || !h->end.duration)
		waitstacks_add(&w->stacks, &d.key, d.rest);
}

/* Tables have what was waited on, and stacks; sources have not. */
static void add_to_tables(struct waits *w, const struct happening *h, const struct ended *e)
{
	const struct question *q = &w->states.question;
	const struct analysis_sample *s = h->s;
	struct callstack *wakes = e->context < BY_INTERRUPT ? e->wakes : NULL;
	const struct handoff waker = { s->time, s->tid, h->cells[WAKER].number, wakes, false };
	const struct waitedon_wait wait = {
		h->tid, h->end.start, h->end.duration, e->context == BY_TASK_ITSELF ? &waker : NULL,
		e->context == BY_TASK_ITSELF ? analysis_comm(q->a, s->tid) : "", h->cells[ON].number,
		e->context == BY_TIMEOUT, e->context == BY_EXIT,
	};
	const struct handoffs *handoffs = w->shows_on && !q->csv ? waitedon_add(&w->waited, &w->on, &wait) : NULL;

	if (h->end.value || wakes)
		add_stacks(w, h, wakes, handoffs);
}

/* The number of the text, whose kind is noted. */
static uint64_t number_on(struct waits *w, pid_t tid, const char *text)
{
	const uint64_t number = words_number(&w->words, text);

	waitkinds_add(&w->kinds, number, &(struct waitkinds_of){ .calls = waiton_kinds(&w->on, tid) });
	return number;
}

static void add_ended(struct question *q, const struct ended *e)
{
	struct waits *w = (struct waits *)q;
	const struct analysis_sample *s = &e->s;
	struct happening h = { .s = s, .tid = e->tid, .end = e->end };
	char text[WORD_SIZE];

	h.cells[WAKER].number = name_waker(q, s, e->context);
	h.cells[WAKER_TID].number = e->context >= BY_INTERRUPT ? 0 : (uint64_t)s->tid;
	h.cells[CONTEXT].number = e->context;
	if (w->shows_on) {
		waiton_woken(&w->on, h.tid, e->context == BY_TASK_ITSELF ? s->tid : 0);
		h.cells[ON].number = number_on(w, h.tid, waiton_text(&w->on, h.tid, text, sizeof(text)));
	}
	h.comm = question_comm(q, s, h.tid, q->texts[WAKING]);
	if (q->a)
		add_to_tables(w, &h, e);
	question_emit(q, &h);
}

/* False: out of memory. */
static bool keep_ended(struct waits *w, const struct ended *e)
{
	struct ended *one = find_ended(w, e->tid);

	if (one)
		flush_ended(w, one, one->context);
	one = groups_get(&w->ended, &e->tid, sizeof(e->tid), sizeof(*one), UINT32_MAX);
	if (one)
		*one = *e;
	return one;
}

static void close_wait(struct question *q, const struct analysis_sample *s, struct open_pair *o, enum context context)
{
	struct waits *w = (struct waits *)q;
	struct ended e = { .tid = (pid_t)o->key, .s = *s, .context = context };

	w->early.ended += earlywaits_has(&w->early, o);
	pairs_close(&q->pairs, o, s->time, &e.end);
	/* an interrupt's chain goes on in the task that it interrupted */
	if (q->a && s->event->layout.callchain && context < BY_INTERRUPT)
		e.wakes = analysis_stack(q->a, s);
	if (w->shows_on && context <= BY_SOFTIRQ && waitends_may_be_kill(&w->on, e.tid, s->pid, s->tid) && keep_ended(w, &e))
		return;
	if ((context == BY_SOFTIRQ || context == BY_INTERRUPT) && waiton_may_time_out(&w->on, e.tid) && keep_ended(w, &e))
		return;
	add_ended(q, &e);
}

/* A thread that is woken before it sleeps has no pair yet. */
static void end_wait(struct question *q, const struct analysis_sample *s, pid_t tid)
{
	struct waits *w = (struct waits *)q;
	struct open_pair *o = pairs_find(&q->pairs, (uint64_t)tid);

	/* before /proc was asked, by which time the thread was asleep again */
	if (!o)
		pairs_open(&w->woken, (uint64_t)tid, s->time);
	if (o && s->time >= o->start)
		close_wait(q, s, o, waitends_context(question_number(q, s, WAKING, FIELD_FLAGS), o->is_device));
}

static void enter_call(struct waits *w, const struct analysis_sample *s)
{
	const struct question *q = &w->states.question;
	uint64_t args[WAITON_ARGS] = { 0 };
	const char *bytes;
	uint32_t len;

	if (!trace_field_data(q->texts[ENTER], s->view.raw, s->view.raw_size, &bytes, &len))
		memcpy(args, bytes, len < sizeof(args) ? len : sizeof(args));
	waiton_enter(&w->on, s->pid, s->tid, sampled_call(s, trace_field_sint(q->fields[ENTER][FIELD_CALL], s->view.raw)), args);
}

static void take_call(struct waits *w, const struct analysis_sample *s, size_t i)
{
	struct question *q = &w->states.question;
	struct open_pair *o;
	struct ended *e;
	int64_t result;
	bool timed_out;

	if (!switches_watch(&w->states.switches, s->tid))
		return;
	result = i == LEAVE ? trace_field_sint(q->fields[LEAVE][FIELD_RESULT], s->view.raw) : 0;
	timed_out = i == LEAVE && waiton_timed_out(&w->on, s->tid, result);
	if ((e = find_ended(w, s->tid)) && (e->left = waitends_is_interrupt(result)))
		return;
	if (e)
		flush_ended(w, e, timed_out ? BY_TIMEOUT : e->context);
	/* it runs, so that its wait has ended */
	if ((o = pairs_find(&q->pairs, (uint64_t)s->tid)) && s->time >= o->start)
		close_wait(q, s, o, timed_out ? BY_TIMEOUT : BY_UNKNOWN);
	if (i == ENTER)
		enter_call(w, s);
	else
		waiton_leave(&w->on, s->tid);
}

/* In a recording, a thread's first event may be its wake-up. Since when it waited is not known. */
static void begin_before(struct waits *w, pid_t tid)
{
	if (switches_slept_before(&w->states.switches, tid) && pairs_open(&w->states.question.pairs, (uint64_t)tid, w->first))
		w->early.ended++;
}

/* The end of the program may end these waits; then nobody could tell who held the locks. */
static void look_at_long(struct waits *w, uint64_t now)
{
	enum { LONG_NS = 100000000 };

	if (w->states.switches.everybody || w->states.switches.recorded || now < w->looked + LONG_NS)
		return;
	w->looked = now;
	for (struct open_pair *o = groups_first(&w->states.question.pairs.all); o; o = groups_next(o))
		if (o->is_open && !o->was_seen && o->start + LONG_NS <= now) {
			o->was_seen = true;
			if (w->shows_on)
				waitedon_look(&w->on, (pid_t)o->key);
			if (w->states.question.a)
				deadlocks_look(&w->deadlocks, (pid_t)o->key);
		}
}

/* A thread that ends in its call was not let go on. */
static void task(struct question *q, const struct pev_record *rec)
{
	struct waits *w = (struct waits *)q;
	struct ended *e = rec->type == PERF_RECORD_EXIT ? find_ended(w, (pid_t)rec->task.tid) : NULL;

	if (e)
		flush_ended(w, e, BY_EXIT);
	states_task(q, rec);
}

static void sample(struct question *q, const struct analysis_sample *s)
{
	struct waits *w = (struct waits *)q;
	size_t i = question_index(q, s);
	pid_t tid;

	if (!w->first)
		w->first = s->time;
	w->latest = s->time;
	look_at_long(w, s->time);
	switches_had_event(&w->states.switches, s->tid);
	if (i >= NEVENTS && i < q->ops->nevents) {
		take_call(w, s, i);
		return;
	}
	tid = states_named(q, s, &i);
	if (tid && i == WAKING)
		begin_before(w, tid);
	switches_had_event(&w->states.switches, tid);
	if (tid && i == SWITCH)
		begin_wait(q, s, tid);
	else if (tid)
		end_wait(q, s, tid);
}

/* ---- the run --------------------------------------------------------------------------- */

static int watch(struct question *q, struct fault *f)
{
	struct waits *w = (struct waits *)q;
	struct stream_opts *o = &q->common.stream;

	w->on.recorded = q->targets->input;
	w->stacks.because_of = w->shows_on;
	if (w->flame.path) {   /* a picture of stacks needs them */
		o->call_graph = true;
		o->user_callchain = o->user_callchain ? o->user_callchain : 1;
	}
	return states_targets(q, f);
}

/* Only the two events of a wait need call chains. */
static uint64_t reads(struct question *q, const struct stream_event *event)
{
	for (size_t i = 0; i < NEVENTS; i++)
		if (event == question_event(q, events[i].sys, events[i].name))
			return PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN;
	return PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER;
}

static int begin(struct question *q, struct fault *f)
{
	struct waits *w = (struct waits *)q;

	if (w->shows_on) {   /* never of a source. For the names of locks, now or when the recording is read */
		q->a->names.user = w->on.recorded || q->common.stream.record;
		w->on.names = &q->a->names;
	}

	return states_find_fork(q, f) || flame_begin(&w->flame, q->common.stream.verbose, f) ? -1 : 0;
}

/* Not before events are on: who sleeps then may sleep for another reason when they are. */
static void started(struct question *q)
{
	struct waits *w = (struct waits *)q;

	if (!w->states.switches.recorded)
		earlywaits_begin(&w->early, &w->states.switches, &q->pairs, &w->on, analysis_now(q->a), q->common.stream.command.pid);
}

/* ---- waits that have not ended ---------------------------------------------------------- */

static const char nobody[] = "[nobody yet]";

static void add_unstacked(struct waits *w, pid_t tid, uint64_t ns)
{
	w->unstacked.n++;
	w->unstacked.ns += ns;
	if (ns < w->unstacked.longest)
		return;
	w->unstacked.longest = ns;
	w->unstacked.tid = tid;
}

/* The number of a lock, which is the same in all stacks, with the text of waits that have ended. full: with its holder. */
static uint64_t number_for_stacks(struct waits *w, pid_t tid, const char *full)
{
	char text[WORD_SIZE];

	waiton_text(&w->on, tid, text, sizeof(text));
	return number_on(w, tid, strncmp(full, text, strlen(text)) ? full : text);
}

/* full: another number than that of the stack, whose kind it has, too. */
static void add_unfinished_stack(struct waits *w, const struct waitstacks_key *key, uint64_t full, uint64_t ns)
{
	waitstacks_add(&w->stacks, key, ns);
	if (!w->shows_on)
		return;
	callstacks_expand(w->states.question.a->stacks, key->waits);
	waitkinds_add(&w->kinds, full, &(struct waitkinds_of){ .stacks = waitkind_of_stack(key->waits) });
}

static void add_unfinished(struct question *q, const struct open_pair *o, uint64_t now)
{
	struct waits *w = (struct waits *)q;
	const pid_t tid = (pid_t)o->key;
	struct happening h = {
		.tid = tid, .comm = analysis_comm(q->a, tid),
		.end = { .start = o->start, .duration = now > o->start ? now - o->start : 0, .value = o->value },
		.cells = { [WAKER] = { words_number(&w->words, nobody) } },
	};
	struct waitstacks_key key = {
		words_number(&w->words, h.comm), h.cells[WAKER].number, 0, 0, (struct callstack *)(uintptr_t)o->value, NULL,
	};
	char text[WORD_SIZE];

	if (w->shows_on) {
		h.cells[ON].number = number_on(w, tid, waitargs_now(&w->on, tid, text, sizeof(text)));
		key.on = number_for_stacks(w, tid, text);
	}
	if (w->shows_on && !q->csv && (q->ending || q->common.stream.interval_ms))
		waitedon_add_unfinished(&w->waited, &w->on, &(struct waitedon_wait){ tid, o->start, h.end.duration, NULL, "", key.on, false, false },
					q->ending);
	if (o->value && q->ending)   /* once: each table has the time so far */
		add_unfinished_stack(w, &key, h.cells[ON].number, h.end.duration);
	else
		add_unstacked(w, tid, h.end.duration);
	question_add_unfinished(q, &h);
}

/* Until when it is known who waits. What happened since the last sample may wait in the rings, but not for long. */
static uint64_t known_until(const struct question *q)
{
	enum { READ_NS = 1000000000 };
	const uint64_t now = analysis_now(q->a), latest = ((const struct waits *)q)->latest;

	if (now < latest)   /* a recording does not always say when it ended */
		return latest;
	return q->ending || !latest || now > latest + READ_NS ? now : latest;
}

static void add_early(void *ctx, pid_t tid)
{
	struct question *q = ctx;
	const struct open_pair *o = pairs_find(&q->pairs, (uint64_t)tid);

	if (o && earlywaits_has(&((struct waits *)q)->early, o))
		add_unfinished(q, o, analysis_now(q->a));   /* /proc says so now */
}

static void add_all_unfinished(struct question *q)
{
	struct waits *w = (struct waits *)q;
	const uint64_t now = known_until(q);

	for (const struct open_pair *o = groups_first(&q->pairs.all); o; o = groups_next(o))
		if (o->is_open && !earlywaits_has(&w->early, o))
			add_unfinished(q, o, now);
	earlywaits_each(&w->early, add_early, q);
}

/* Most tasks of a machine wait at any time: only those of targets have a row each. */
static void before_table(struct question *q)
{
	struct waits *w = (struct waits *)q;
	struct ended *e;

	while ((e = groups_first(&w->ended)))
		flush_ended(w, e, !w->on.recorded && waitends_is_dying(e->tid) ? BY_EXIT : e->context);
	w->found_none = !q->rows.rows.n;
	if (!w->states.switches.everybody)
		add_all_unfinished(q);
	if (w->shows_on)
		waitstacks_find_kinds(q->a, &w->stacks, &w->kinds);
	waitedon_learn(&w->waited, &w->kinds);
}

static void print_unfinished(struct question *q)
{
	struct waits *w = (struct waits *)q;

	if (!w->states.switches.everybody) {
		earlywaits_print(&w->early, &w->on);
		if (!w->states.switches.recorded)
			deadlocks_print(&w->deadlocks, &q->pairs);
	}
	else if (q->ending && q->pairs.nopen && w->found_none)   /* otherwise it is no news: most threads of a machine wait */
		printf("%zu thread%s still wait%s: -p PID or -t TID adds rows for their waits\n", q->pairs.nopen,
		       units_plural(q->pairs.nopen), q->pairs.nopen == 1 ? "s" : "");
}

/* Keeps the stacks of threads that wait now, which may have begun in earlier intervals. */
static void keep_stacks(void *ctx)
{
	const struct question *q = ctx;

	for (const struct open_pair *o = groups_first(&q->pairs.all); o; o = groups_next(o))
		if (o->is_open && o->value)
			callstacks_keep((struct callstack *)(uintptr_t)o->value);
}

enum { STACKS_SHOWN = 10 };

static void print_stacks(struct question *q)
{
	struct waits *w = (struct waits *)q;
	const uint64_t n = w->unstacked.n;
	long pid;

	waitstacks_print(q->a, &w->stacks, &w->words, STACKS_SHOWN);
	if (!n)
		return;
	printf("%llu wait%s not ended %s not in these stacks (%.3f ms)", (unsigned long long)n, n == 1 ? " that has" : "s that have",
	       n == 1 ? "is" : "are", (double)w->unstacked.ns / 1e6);
	pid = w->states.switches.recorded ? 0 : procstatus_of(w->unstacked.tid, "\nTgid:");
	if (pid > 0)
		printf(": `perf-prof dump %d` shows where %s is now", pidmap_shown((pid_t)pid), n == 1 ? "it" : "the longest");
	putchar('\n');
}

static void after_table(struct question *q, uint64_t from)
{
	struct waits *w = (struct waits *)q;

	if (!q->common.json && !q->csv)
		print_unfinished(q);
	if (q->ending && !q->common.json && !q->csv) {
		earlywaits_print_ended(&w->early, w->states.switches.recorded);
		switches_print_eventless(&w->states.switches);
		waiton_print_nameless(&w->on);
	}
	if (q->common.stream.interval_ms)
		waitedon_print_interval(&w->waited, q->a);
	if (q->ending)
		waitedon_print_run(&w->waited, q->a);
	if (w->flame.folded)
		waitstacks_fold(q->a, &w->stacks, &w->words, w->by_object, w->flame.folded);
	if (q->common.json && w->stacks.all.n)
		waitstacks_json(q->a, &w->stacks, &w->words);
	else if (!q->csv && w->stacks.all.n)
		print_stacks(q);
	waitstacks_free(&w->stacks);
	waitedon_rest(&w->waited);
	memset(&w->unstacked, 0, sizeof(w->unstacked));
	if (w->words.full)
		fprintf(stderr, "perf-prof: waits: more than %d names of tasks and of what they waited on since the last table: those after "
			"these are [others]; -i prints tables more often\n", WORDS_MOST);
	words_free(&w->words);   /* keys of rows, which begin anew, too */
	waitkinds_free(&w->kinds);
	callstacks_rest(q->a->stacks, keep_stacks, q);
}

/* Events of all tasks are read, so that the stream finds some whatever was selected. */
static int check_absent(const struct question *q, struct fault *f)
{
	const struct stream_opts *o = &q->common.stream;
	bool none;

	switches_without_event(&((const struct waits *)q)->states.switches, &none);
	if (!none || o->time.from || o->time.to || stream_was_interrupted(q->a->stream))
		return 0;
	return fault_set(f, EXIT_FAILED, "the recording has no event from the tasks and CPUs that -p, -t and -C select; `perf-prof "
			 "script -F pid,tid,cpu` shows its tasks and CPUs");
}

static int draw(struct question *q, struct fault *f)
{
	struct waits *w = (struct waits *)q;
	const struct flame_title title = {
		w->by_object ? "perf-prof waits: locks, files and calls, and above each what waits for it" :
			       "perf-prof waits: what waits, and above it what wakes it", "ns",
	};

	return analysis_draw(q->a, &w->flame, &title, f) || check_absent(q, f) ? -1 : 0;
}

static void release(struct question *q)
{
	struct waits *w = (struct waits *)q;

	waitstacks_free(&w->stacks);
	waiton_free(&w->on);
	waitedon_free(&w->waited);
	earlywaits_free(&w->early);
	deadlocks_free(&w->deadlocks);
	pairs_free(&w->woken);
	groups_free(&w->ended);
	words_free(&w->words);
	waitkinds_free(&w->kinds);
	flame_free(&w->flame);
	states_release(q);
}

static void title(struct question *q, const struct happening *h, char *buf, size_t size)
{
	const struct waits *w = (const struct waits *)q;

	snprintf(buf, size, "%s %d: asleep%s%s until woken by %s", h->comm, pidmap_shown(h->tid),
		 w->shows_on ? " in " : "", w->shows_on ? words_text(&w->words, h->cells[ON].number) : "",
		 words_text(&w->words, h->cells[WAKER].number));
}

#define QUESTION \
	STATES_QUESTION_WITH(watch, begin, sample, task, release), .name = "waits", .durations = "waits", .title = title, \
	.if_missing = "waits may be left out, and times be too low", .everywhere = true, .stacks = true, \
	.reads = reads, .started = started, .before_table = before_table, .after_table = after_table, .draw = draw, .events = events, \
	.print = "\"%s:%d waited %llu.%03llu us for %d (%s)\", REC->comm, REC->tid, REC->duration / 1000, " \
		 "REC->duration % 1000, REC->waker_tid, REC->context"
static const struct question_ops question = {
	QUESTION, QUESTION_COLUMNS_ARE(columns), .nevents = NEVENTS, .if_unseen = "; --on shows how long they lasted at most",
};
static const struct question_ops question_on = {
	QUESTION, QUESTION_COLUMNS_ARE(columns_on), .nevents = sizeof(events) / sizeof(*events),
};

static int run(void *config, const struct opt_parser *args, struct fault *f)
{
	struct opt_parser chosen = *args;
	struct waits *w = config;

	if (w->by_object && !w->flame.path)
		return fault_usage(f, "waits: --flame-by-lock needs --flame-graph FILE");
	if (flame_open_before(&w->flame, f))
		return -1;
	w->shows_on |= w->by_object;
	chosen.subject = w->shows_on ? &question_on : &question;
	return question_run(config, &chosen, f);
}

/* ---- the command ------------------------------------------------------------------------ */

static const struct opt waits_opts[] = {
	{ "on", 0, NULL, OPT_FLAG, offsetof(struct waits, shows_on), NULL,
	  "Also show what was waited on: the system call, with the variable of its lock (futex), or its file, pipe or "
	  "socket; and below, how long the run waited on each of them, and with -i also each interval. This traces all system "
	  "calls of the machine.", false, NULL },
};

static const struct opt picture_opts[] = {
	{ "flame-by-lock", 0, NULL, OPT_FLAG, offsetof(struct waits, by_object), NULL,
	  "Draw the locks, files and calls that were waited on (--on) as root frames of the flame graph, and above each the tasks "
	  "and stacks that waited for it. Sleeps are left out.", false, NULL },
};

static const struct opt duration_opts[] = QUESTION_DURATIONS_OPTS("thread and waking thread");
static const struct opt by_opts[] = QUESTION_BY_OPTS(QUESTION_BY_TARGET);

const struct command waits_command = {
	.usual = "on than by call-graph flame-graph pids all-cpus interval rows input json",
	.mode = OPT_MODE_COMMAND, .config_size = sizeof(struct waits), .defaults = analysis_defaults, .release = analysis_release,
	.run = run,
	OPT_GROUP_ROWS(
		{ "Waits", waits_opts, sizeof(waits_opts) / sizeof(*waits_opts), 0 },
		QUESTION_DURATIONS_GROUP(duration_opts), QUESTION_BY_GROUP(by_opts),
		{ "Flame graphs", flame_opts, FLAME_OPTS, offsetof(struct waits, flame) },
		{ "Flame graphs by lock", picture_opts, sizeof(picture_opts) / sizeof(*picture_opts), 0 }, QUESTION_RUN_GROUPS),
	.name = "waits", .usage = QUESTION_USAGE,
	.description = COMMAND_TEXT(
		"Who waits for whom, and how long? A wait lasts from the moment a thread goes to sleep until another one wakes it. Prints "
		"a row for each thread and waker; the time until the thread gets a CPU is not included (see rundelay).",
		"The waker is the task that woke the waiting thread. [interrupt]: a timer or a device (disk) woke it, whatever task was "
		"interrupted. NAME [softirq]: a soft interrupt woke it, while NAME was on the CPU; for sockets of this machine, NAME is the "
		"sender.",
		"With --on, [timeout]: the timeout of the call ended the wait. [exit]: the process ended or was killed. A wait whose end the kernel did not deliver ends with the "
		"thread's next system call: the waker is [not seen].",
		"A wait of a target that has not ended has the waker [nobody yet] and, in each table, the time so far. Waits that began "
		"earlier count from the start of the run or the recording. A program in which nothing but such rows is left may be in a deadlock: dump shows "
		"its stacks.",
		"-g adds the stacks that waited, and those that woke them, without sleeps (--full: all). --flame-graph "
		"draws them all: the waker's stack, "
		"upside down, above the waiter's.",
		"--on also shows the lock, file, pipe or socket of each wait, and its kind: mutex, condvar, rwlock, semaphore, barrier, join, "
		"pipe, ... With -g, the stack shows the kind of each lock; without, some have none. A second table has a row for each of "
		"them; `because of` names the task that kept the threads waiting: for a lock, the task that held it, not the next "
		"one in its queue. A lock (futex) has the name of its static variable, or its address. A descriptor has the "
		"name of its file or socket or, if it was closed at once or in a recording, its number. Which of several descriptors "
		"ended a poll or select is not known. Waits that have not ended also show the path, child or descriptors that the thread "
		"waits for, and which thread holds its lock, if that is a mutex of glibc, or a read-write lock that has a writer.",
		"-p, -t and a command after -- select the threads that wait; their wakers can be any tasks. --perins shows each waker by "
		"its id. --than prints each longer wait.",
		"Some kernels do not deliver all events. Lines below the table say how many waits have no known end, and how many events are "
		"missing. Another line names threads that wait for each other's locks (a deadlock), if their holders are known."),
	.summary = "show which threads wait for which, and how long",
	.examples = COMMAND_EXAMPLES(
		{ "perf-prof waits -p 1234 -i 1000", "show which tasks the threads of a process wait for, each second" },
		{ "perf-prof waits --on -- ./job", "show the locks, files and sockets that a command waits on" },
		{ "perf-prof waits --flame-graph waits.svg -- ./job", "draw what waits, and above it what wakes it" },
		{ "perf-prof waits --flame-by-lock --flame-graph waits.svg -- ./job", "draw the locks, and above each what waits for it" },
		{ "perf-prof waits -g --than 100ms -p 1234", "print each wait over 100 ms, with both stacks" }),
};

const struct source_ops waits_source = {
	QUESTION_SOURCE(question, struct waits), OPT_GROUPS(question_source_groups), .name = "waits",
	.summary = "each time a thread was asleep, when it is woken",
};
