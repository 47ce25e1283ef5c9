/* SPDX-License-Identifier: Apache-2.0 */
/* perf-prof stat: runs a command once or several times, or counts targets until they end. */
#include "stat/stat.h"

#include "base/descriptors.h"
#include "base/note.h"
#include "base/now.h"
#include "base/output.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { OPEN_TRIES = 5 };

static double now(void)
{
	return (double)now_ns(CLOCK_MONOTONIC) / 1e9;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* ---- the end of targets, an interval, a signal ------------------------------------ */

enum stat_woke { WOKE_END, WOKE_INTERVAL, WOKE_SIGNAL, WOKE_SECOND_SIGNAL };

struct stat_wait {
	int signals;             /* signalfd of SIGINT, SIGTERM, SIGHUP, SIGUSR2 */
	int timer;               /* timerfd, or -1 */
	int over;                /* timerfd of --seconds, or -1 */
	int reader;              /* stdout, if it gets the counts and there is no command; else -1 */
	struct unwatched_event events;   /* of the command: reports their end, which the kernel may bring about before its own */
	sigset_t before;         /* original signal mask, restored for the command and at the end */
	int signaled;            /* number of signals received */
	int task;                /* pidfd of a watched task, or -1 */
	bool gone;               /* all watched tasks have ended */
};

/* Before Linux 6.9, threads other than the first of their process have no pidfd. */
enum { LOOK_AGAIN_MS = 50 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Restarts the interval and --seconds: both begin when counting does. */
static void restart_wait(struct stat_wait *w, uint64_t interval_ms, uint64_t run_ns)
{
	struct itimerspec it = {
		.it_interval = { (time_t)(interval_ms / 1000), (long)(interval_ms % 1000) * 1000000 },
	};
	const struct itimerspec end = { .it_value = { (time_t)(run_ns / 1000000000), (long)(run_ns % 1000000000) } };

	it.it_value = it.it_interval;
	if (w->timer >= 0)
		timerfd_settime(w->timer, 0, &it, NULL);
	if (w->over >= 0)
		timerfd_settime(w->over, 0, &end, NULL);
}

static void end_wait(struct stat_wait *w)
{
	close_fd(&w->signals);
	close_fd(&w->timer);
	close_fd(&w->over);
	close_fd(&w->task);
	unwatched_close(&w->events);
	sigprocmask(SIG_SETMASK, &w->before, NULL);
}

/* Blocks the signals. 0, or -1 with f. */
static int begin_wait(struct stat_wait *w, uint64_t interval_ms, uint64_t run_ns, struct fault *f)
{
	sigset_t set;

	*w = (struct stat_wait){ .signals = -1, .timer = -1, .over = -1, .reader = -1, .task = -1, .events = { .fd = -1 } };
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &w->before);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (interval_ms)
		w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (run_ns)
		w->over = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->signals >= 0 && (!interval_ms || w->timer >= 0) && (!run_ns || w->over >= 0))
		return 0;
	fault_set(f, EXIT_FAILED, "stat: cannot set up signals and timer: %s", strerror(errno));
	end_wait(w);
	return -1;
}

/* Forwards a signal sent by kill(2). The command gets signals from the terminal itself. */
static void hand_on(const struct signalfd_siginfo *info, const struct workload *child)
{
	if (child && child->pid > 0 && info->ssi_code <= 0)
		kill(child->pid, (int)info->ssi_signo);
}

/* SIGUSR2: the counts so far, unless they are printed anyway; and reading them would end an interval. */
static void tell_counts(struct counting *s)
{
	fprintf(stderr, "stat: events %zu", s->nevents);
	if (!s->config->interval_ms)
		stat_read(s);
	for (size_t i = 0; !s->config->interval_ms && i < s->nevents * s->nwheres; i++)
		fprintf(stderr, "%s%s%s%s %.0f", i ? ", " : ": ", s->rows[i].where ? s->rows[i].where : "", s->rows[i].where ? " " : "",
			s->rows[i].event, s->rows[i].value);
	fputc('\n', stderr);
}

static bool take_signal(struct stat_wait *w, struct counting *s, const struct workload *child)
{
	struct signalfd_siginfo info;

	if (read(w->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	if (info.ssi_signo == SIGUSR2) {
		tell_counts(s);
		return false;
	}
	w->signaled++;
	hand_on(&info, child);
	return true;
}

static bool has_tasks(const struct counting *s)
{
	return s->targets.ntasks && s->targets.tasks[0].tid >= 0;
}

/* Chooses a running watched task to wait for; sets w->gone if there is none. */
static void choose_task(struct stat_wait *w, const struct counting *s)
{
	close_fd(&w->task);
	for (size_t i = 0; i < s->targets.ntasks; i++) {
		pid_t tid = s->targets.tasks[i].tid;
		struct pollfd p;

		if (kill(tid, 0) && errno == ESRCH)
			continue;
		p = (struct pollfd){ (int)syscall(SYS_pidfd_open, tid, 0), POLLIN, 0 };
		if (p.fd >= 0 && poll(&p, 1, 0) > 0) {   /* a zombie */
			close(p.fd);
			continue;
		}
		w->task = p.fd;
		return;
	}
	w->gone = true;
}

/* The command itself may go on: it is reported once, and not in each of several runs. */
static void events_ended(struct stat_wait *w, struct counting *s, const struct workload *child)
{
	unwatched_close(&w->events);
	if (!unwatched_check(child->pid, child->name, s->unwatched, sizeof(s->unwatched)) || s->told_unwatched)
		return;
	s->told_unwatched = true;
	if (!s->counts_say_why)
		fprintf(stderr, "perf-prof: %s\n", s->unwatched);
}

/* Reports CPUs that came or went, and counts on them again, if events count on CPUs; tasks are counted on any CPU. */
static void mind_hotplug(struct counting *s)
{
	const bool tasks = s->nplaces && (s->places[0].cpu < 0 || s->targets.tasks[0].tid >= 0);
	char line[1200];

	if (hotplug_look(&s->hotplug, &s->targets.cpus, s->config->common.cpus.n, tasks, true, line, sizeof(line)) &&
	    s->nplaces && s->places[0].cpu >= 0)
		note(1, "%s", line);
	for (size_t i = 0; i < s->hotplug.back.n && !tasks; i++) {
		struct pev_error err = { 0 };
		int rc = stat_reopen(s, s->hotplug.back.v[i], &err);

		pev_error_text(&err, line, sizeof(line));
		if (rc)
			fprintf(stderr, "perf-prof: CPU %d was offline, and is not counted since it came back: %s\n", s->hotplug.back.v[i], line);
		else
			note(1, "CPU %d was offline: it is counted again", s->hotplug.back.v[i]);
	}
	numlist_free(&s->hotplug.back);
}

/* Waits. child: the command, or NULL; then for the end of the watched tasks, if there are any.
 * Signals that the command did not get from the terminal are forwarded to it. */
static enum stat_woke wait_for(struct stat_wait *w, struct counting *s, const struct workload *child)
{
	bool tasks = !child && has_tasks(s);
	uint64_t ticks;

	for (;;) {
		struct pollfd p[7] = {
			{ w->signals, POLLIN, 0 }, { w->timer, POLLIN, 0 }, { -1, POLLIN, 0 }, { w->over, POLLIN, 0 },
			{ w->reader, 0, 0 }, { w->events.fd, 0, 0 }, { s->hotplug.messages, POLLIN, 0 },
		};

		if (tasks && w->task < 0)
			choose_task(w, s);
		if (tasks && w->gone)
			return WOKE_END;
		p[2].fd = child ? child->pidfd : w->task;
		poll(p, 7, tasks && w->task < 0 ? LOOK_AGAIN_MS : -1);
		if (p[6].revents)
			mind_hotplug(s);
		if (p[5].revents)
			events_ended(w, s, child);
		if ((p[2].revents && child) || p[3].revents || p[4].revents & (POLLERR | POLLHUP))
			return WOKE_END;
		if (p[4].revents & POLLNVAL)
			w->reader = -1;
		if (p[2].revents)
			close_fd(&w->task);
		if (p[0].revents && take_signal(w, s, child))
			return w->signaled > 1 ? WOKE_SECOND_SIGNAL : WOKE_SIGNAL;
		if (p[1].revents && read(w->timer, &ticks, sizeof(ticks)) == sizeof(ticks))
			return WOKE_INTERVAL;
	}
}

/* ---- output --------------------------------------------------------------------- */

struct printing {
	struct stat_output to;
	bool printed;            /* the titles were printed */
	bool unread;             /* the reader of the pipe has closed it: a normal end */
	char *title;
	const char *const *command;
	double start;
	double last;             /* end of the previous interval */
};

static char *title_of_command(char *const *argv)
{
	char *words = stat_words(argv), *text = NULL;
	int n = words ? asprintf(&text, "'%s'", words) : -1;

	free(words);
	return n < 0 ? NULL : text;
}

static char *title_of_targets(const struct counting *s)
{
	const struct stream_opts *o = &s->config->common;
	const struct numlist *list = o->pids.n ? &o->pids : o->tids.n ? &o->tids : &o->cpus;
	const char *what = o->pids.n ? "process id" : o->tids.n ? "thread id" : "CPU(s)";
	char numbers[512], *text = NULL;

	if (o->cgroups.n)
		return asprintf(&text, "%s %s%s", stream_cgroup_label(o, 0) == o->cgroups.v[0] ? "control group" : "container",
				stream_cgroup_label(o, 0),
				o->cgroups.n > 1 ? " and others" : "") < 0 ? NULL : text;
	if (!list->n)
		return strdup("'system wide'");
	numlist_text(list, numbers, sizeof(numbers));
	return asprintf(&text, "%s '%s'", what, numbers) < 0 ? NULL : text;
}

static int print_table(const struct counting *s, struct printing *p, struct count_table *t,
		       struct fault *f)
{
	static const char *const words[] = {
		[BY_ALL] = "all", [BY_CPU] = "cpu", [BY_CORE] = "core", [BY_THREAD] = "thread",
		[BY_CGROUP] = "cgroup",
	};
	const struct stat_config *c = s->config;
	int rc = 0, error;

	if (p->unread)
		return 0;
	t->title = p->title;
	t->command = p->command;
	t->where_word = words[s->by];
	t->n = s->nevents * s->nwheres;
	if (c->json)
		rc = counts_json(t, p->to.out);
	else if (c->csv)
		counts_csv(t, (struct csv_form){ c->separator[0], c->csv_safe }, !p->printed, p->to.out);
	else
		counts_text(t, !p->printed, p->to.out);
	p->printed = true;
	error = output_flush(p->to.out);
	p->unread = error == EPIPE;
	if (error && !p->unread)
		return fault_set(f, EXIT_FAILED, "cannot write to %s: %s", p->to.path, strerror(error));
	return rc == -ENOMEM ? fault_set(f, EXIT_FAILED, "stat: out of memory") : 0;
}

/* Sorts threads by the count of the first event, the largest first. */
static int by_count(const void *a, const void *b)
{
	const struct count_row *x = a, *y = b;
	const double more = x->state == COUNT_GOOD ? x->value : -1, than = y->state == COUNT_GOOD ? y->value : -1;

	return more != than ? (more < than ? 1 : -1) : strcmp(x->where ? x->where : "", y->where ? y->where : "");
}

/* Programs compare intervals and runs: for them, threads stay in one order. */
static bool is_by_count(const struct counting *s)
{
	const struct stat_config *c = s->config;

	return s->by == BY_THREAD && s->nevents && !c->json && !c->csv && !c->interval_ms;
}

/* Rows are stored by event; this puts those of a core, thread or cgroup next to each other. */
static struct count_row *ordered(const struct counting *s, const struct count_row *rows)
{
	struct count_row *v = calloc(s->nevents * s->nwheres + 1, sizeof(*v));
	bool by_event = s->by == BY_CPU || s->by == BY_ALL;

	for (size_t i = 0; v && i < s->nevents; i++)
		for (size_t w = 0; w < s->nwheres; w++)
			v[by_event ? i * s->nwheres + w : w * s->nevents + i] =
				rows[i * s->nwheres + w];
	if (v && is_by_count(s))
		qsort(v, s->nwheres, s->nevents * sizeof(*v), by_count);
	return v;
}

static int print_rows(const struct counting *s, struct printing *p, struct count_table *t,
		      struct fault *f)
{
	int rc;

	t->rows = ordered(s, s->rows);
	if (!t->rows)
		return fault_set(f, EXIT_FAILED, "stat: out of memory");
	rc = print_table(s, p, t, f);
	free(t->rows);
	return rc;
}

/* Prints the rows just read. */
static int print_interval(struct counting *s, struct printing *p, struct fault *f)
{
	struct count_table t = { .is_interval = true, .exit_status = -1 };
	double at = now();

	stat_metrics(s, at - p->last);
	p->last = at;
	t.time = at - p->start;
	return print_rows(s, p, &t, f);
}

/* ---- counting ---------------------------------------------------------------------- */


/* Waits for the end; prints intervals if p is not NULL. *woke: the reason for the end. */
static int count_until_end(struct counting *s, struct stat_wait *w, const struct workload *child,
			   struct printing *p, enum stat_woke *woke, struct fault *f)
{
	for (;;) {
		*woke = wait_for(w, s, child);
		if (*woke == WOKE_END || *woke == WOKE_SECOND_SIGNAL)
			return 0;
		/* a command itself decides what a signal means */
		if (*woke == WOKE_SIGNAL && !child)
			return 0;
		if (*woke != WOKE_INTERVAL || !p)
			continue;
		stat_children_tell(s, child ? child->pid : 0);
		stat_read(s);
		mind_hotplug(s);
		if (print_interval(s, p, f))
			return -1;
		if (p->unread && !child)
			return 0;
	}
}

/* A thread created while its process's events are opened is inherited by some of them only. Then
 * all are opened again, a few times. */
static int open_until_stable(struct counting *s, pid_t child, bool needs_one, struct fault *f)
{
	for (int tries = 1;; tries++) {
		if (stat_places_make(s, child, f) || stat_open(s, needs_one, f))
			return -1;
		if (!s->config->common.pids.n || !targets_moved(&s->targets, &s->config->common))
			return 0;
		if (tries == OPEN_TRIES)
			break;
		stat_close(s);
		free(s->rows);
		s->rows = NULL;
		targets_free(&s->targets);
		if (targets_resolve(&s->targets, &s->config->common, f))
			return -1;
	}
	note(1, "-p: new threads kept starting while events were opened: some of their counts "
	     "may be missing; --cgroups counts all");
	return 0;
}

/* For --vs, the command's stdout is discarded: that of many runs would hide the table. */
static int prepare_command(struct counting *s, struct workload *child, char *const *argv, const struct stat_wait *w,
			   struct fault *f)
{
	int own = s->config->vs.n ? descriptors_hide_stdout() : -1;
	int rc = workload_prepare(child, argv, &w->before, &s->files, 0, f);

	descriptors_show_stdout(own);
	return rc;
}

static int prepare(struct counting *s, struct workload *child, char *const *argv,
		   const struct stat_wait *w, struct fault *f)
{
	if (argv && prepare_command(s, child, argv, w, f))
		return -1;
	if (open_until_stable(s, child->pid, !argv, f))
		return -1;
	if (!s->on_command)
		stat_enable(s);
	return 0;
}

static void finish(struct workload *child, char *const *argv, double start, const struct stat_scheduled *before,
		   struct stat_run_times *times, int *status)
{
	struct stat_scheduled ended;

	times->usage = (struct rusage){ .ru_maxrss = 0 };
	times->elapsed = now() - start;
	if (!argv)
		return;
	ended = stat_scheduled(child->pid);
	*status = workload_collect(child, &times->usage);
	times->signal = child->signal;
	times->user = seconds(times->usage.ru_utime);
	times->sys = seconds(times->usage.ru_stime);
	times->delayed = stat_delayed(&ended, before, times->user + times->sys);
}

/* One run from opening to closing the events; argv NULL: only targets. The command's status, or
 * -1 with f. */
static int run_once(struct counting *s, char *const *argv, struct stat_wait *w, struct printing *p,
		    struct stat_run_times *times, enum stat_woke *woke, struct fault *f)
{
	struct workload child = { .pidfd = -1, .go = -1, .trouble = -1 };
	double start = now();
	struct stat_scheduled scheduled = { 0 };
	uint64_t before = 0;
	int status = 0, rc;
	pid_t pid;

	s->unwatched[0] = '\0';
	hotplug_begin(&s->hotplug);
	stat_input_rewind(&s->input);
	rc = prepare(s, &child, argv, w, f);
	pid = child.pid;
	if (!rc) {
		start = now();
		restart_wait(w, s->config->interval_ms, s->config->common.run_ns);
		if (p)
			p->start = p->last = start;
		if (argv && s->on_command)
			unwatched_open(&w->events, child.pid);
		stat_children_open(s, pid);
		before = argv ? stat_switches_of(child.pid) : 0;
		scheduled = stat_scheduled(child.pid);
		rc = argv ? workload_start(&child, f) : 0;
	}
	if (!rc)
		rc = count_until_end(s, w, argv ? &child : NULL, p, woke, f);
	if (!rc && *woke == WOKE_SECOND_SIGNAL)
		workload_abandon(&child);
	if (!rc) {
		if (!s->on_command)
			stat_disable(s);
		finish(&child, child.pid ? argv : NULL, start, &scheduled, times, &status);
		stat_children_tell(s, pid);
		stat_read(s);
		if (s->on_command)
			stat_take_account(s, &times->usage, before);
		mind_hotplug(s);
		stat_metrics(s, times->elapsed);
	}
	hotplug_end(&s->hotplug);
	stat_children_close(s);
	unwatched_close(&w->events);
	workload_abandon(&child);
	if (s->config->vs.n || s->config->runs > 1)
		stat_input_tell(&s->input);
	/* of several runs, a line at the end has the number that failed */
	if (!rc && *woke == WOKE_END && !s->counts_say_why && !s->config->vs.n && s->config->runs < 2)
		workload_tell(&child, s->config->common.verbose);
	stat_close(s);
	return rc ? -1 : *woke == WOKE_SECOND_SIGNAL ? EXIT_INTERRUPTED : status;
}

int stat_run_once(struct counting *s, char *const *argv, struct stat_run_times *times,
		  bool *interrupted, struct fault *f)
{
	enum stat_woke woke = WOKE_END;
	struct stat_wait w;
	int status;

	if (begin_wait(&w, 0, 0, f))
		return -1;
	status = run_once(s, argv, &w, NULL, times, &woke, f);
	*interrupted = w.signaled > 0;
	end_wait(&w);
	return status;
}

/* ---- several runs ---------------------------------------------------------------------- */

static void add_run(struct counting *s, struct count_table *t, struct count_row *sum,
		    const struct stat_run_times *times, bool command)
{
	for (size_t i = 0; i < s->nevents * s->nwheres; i++) {
		struct count_row *r = &sum[i], old = *r;

		*r = s->rows[i];
		r->runs = old.runs;
		r->counted += old.counted;
		r->enabled += old.enabled;
		r->running += old.running;
		if (old.state != COUNT_GOOD)
			r->state = old.state;
		stats_add(&r->runs, r->value);
	}
	stats_add(&t->elapsed, times->elapsed);
	if (command) {
		stats_add(&t->user, times->user);
		stats_add(&t->sys, times->sys);
	}
}

static void average(struct counting *s, const struct count_table *t, struct count_row *sum)
{
	for (size_t i = 0; i < s->nevents * s->nwheres; i++) {
		struct count_row *r = &sum[i];

		r->value = r->runs.mean;
		r->counted /= (double)t->elapsed.n;
		if (r->enabled > r->running)
			r->share = (double)r->running / (double)r->enabled;
		s->rows[i] = *r;
	}
	stat_metrics(s, t->elapsed.mean);
}

int stat_no_runs(struct fault *f)
{
	return fault_set(f, EXIT_INTERRUPTED, "stat: interrupted while commands ran to warm up (--warmup): nothing was counted");
}

/* Uses the first run's places for all rows: those of each run are the same. */
static int run_all(struct counting *s, char **argv, struct stat_wait *w, struct printing *p,
		   struct count_table *t, struct fault *f)
{
	uint64_t runs = s->config->runs ? s->config->runs : 1;
	struct count_row *sum = NULL;
	struct stat_run_times times = { 0 };
	enum stat_woke woke = WOKE_END;
	int status = 0, one = 0;

	for (uint64_t i = 0; i < s->config->warmup && one >= 0 && !w->signaled; i++)
		one = run_once(s, argv, w, NULL, &times, &woke, f);
	if (s->config->warmup && one >= 0 && w->signaled)
		return stat_no_runs(f);
	for (uint64_t i = 0; i < runs && one >= 0 && !w->signaled; i++) {
		one = run_once(s, argv, w, s->config->interval_ms ? p : NULL, &times, &woke, f);
		if (!sum)
			sum = calloc(s->nevents * s->nwheres + 1, sizeof(*sum));
		if (one < 0 || !sum)
			break;
		status = one ? one : status;
		if (one && !w->signaled) {
			t->signal = times.signal;
			t->failed++;
		}
		add_run(s, t, sum, &times, s->on_command);
	}
	if (one >= 0 && sum)
		average(s, t, sum);
	free(sum);
	return one < 0 ? -1 : status;
}

static int report(struct counting *s, struct printing *p, struct count_table *t, int status,
		  struct fault *f)
{
	t->exit_status = p->command ? status : -1;
	if (s->config->interval_ms)
		return print_interval(s, p, f);
	return print_rows(s, p, t, f);
}

static void tell_failures(const struct counting *s, const struct count_table *t, int status)
{
	char how[128];

	if (t->failed && t->elapsed.n > 1 && !s->counts_say_why)
		fprintf(stderr, "perf-prof: %zu of %zu runs failed, %s%s; the means include them\n", t->failed, t->elapsed.n,
			t->failed > 1 ? "the last one " : "", count_failure(status, t->signal, how, sizeof(how)));
}

static void tell_interrupted(const struct counting *s, const struct count_table *t, const struct stat_wait *w)
{
	if (w->signaled && t->elapsed.n < s->config->runs && !s->counts_say_why)
		fprintf(stderr, "perf-prof: interrupted: only %zu of %llu runs began, and the last one may be incomplete\n", t->elapsed.n,
			(unsigned long long)s->config->runs);
}

/* Says why, if all counts are 0. */
static void tell_empty(const struct counting *s)
{
	for (size_t i = 0; i < s->nevents * s->nwheres; i++)
		if (s->rows[i].state == COUNT_GOOD && s->rows[i].value > 0)
			return;
	if (stat_any_open(s) && !s->counts_say_why && !s->config->interval_ms)   /* an interval may well be empty */
		targets_tell_idle(&s->targets, &s->config->common);
}

int stat_run(struct counting *s, char **argv, struct fault *f)
{
	struct printing p = { .command = (const char *const *)argv };
	struct count_table t = { .n = 0 };
	struct stat_wait w;
	int status;

	if (stat_output_open(&p.to, s, argv, f))
		return f->exit_code;
	s->counts_say_why = p.to.out == stderr && (s->config->csv || s->config->json);
	p.title = s->on_command ? title_of_command(argv) : title_of_targets(s);
	status = !p.title ? fault_set(f, EXIT_FAILED, "stat: out of memory")
			  : begin_wait(&w, s->config->interval_ms, s->config->common.run_ns, f);
	if (!status) {
		w.reader = argv || s->config->common.output.path ? -1 : STDOUT_FILENO;
		status = run_all(s, argv, &w, &p, &t, f);
		end_wait(&w);
		if (status >= 0 && report(s, &p, &t, status, f))
			status = -1;
		if (status >= 0) {
			tell_failures(s, &t, status);
			tell_interrupted(s, &t, &w);
			tell_empty(s);
		}
	}
	free(p.title);
	stat_output_close(&p.to, status >= 0, f);
	if (status < 0 || f->exit_code)
		return f->exit_code;
	return status || stat_any_open(s) ? status : EXIT_FAILED;   /* reported at the opening */
}
