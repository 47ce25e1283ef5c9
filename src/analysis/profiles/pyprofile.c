/* SPDX-License-Identifier: Apache-2.0 */
/*
 *	timer -> for each process: pystack_read() -> callstacks_script() -> hotspots: the tables and pictures of profile
 *
 * A sample is a thread that runs (with --idle: that exists; with --gil: that holds the GIL) at a tick of the timer. It weighs as
 * much as the thread was on CPUs since its last sample, so that the time for which it waits for a CPU does not count: shares are
 * of CPU time. With --idle, it weighs the time since the thread's last sample, however late the tick is. With --gil, each sample
 * weighs the same. Shares are of elapsed time then. A process of -p that is not readable yet, or has just called exec(2), is
 * looked at again at later ticks.
 */
#include "analysis/profiles/pyprofile.h"

#include "analysis/profiles/hotspots.h"
#include "analysis/profiles/pending.h"
#include "analysis/profiles/tasknames.h"
#include "base/note.h"
#include "base/now.h"
#include "base/room.h"
#include "base/textfile.h"
#include "pystack/pystack.h"
#include "report/terminal.h"
#include "stream/stream.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { DEFAULT_HZ = 199, MAX_HZ = 10000, MAX_FRAMES = 1024, RETRY_MS = 10, FAILURES = 5, MAX_TARGETS = 4096, LOOKS = 16 };
enum { FUNCTIONS_SHOWN = 30, STACKS_SHOWN = 5, NAME_SIZE = 128 };
#define SECOND UINT64_C(1000000000)

#define AT(member) offsetof(struct pyprofile_opts, member)

const struct opt pyprofile_opts[] = {
	{ "python", 0, NULL, OPT_TRI, AT(python), NULL,
	  "Show the Python functions of -p PID or of a command, with file and line. This is the default if all processes of -p "
	  "run python (python3, python3.12, ...); --no-python shows the interpreter's own functions.", true, NULL },
	{ "gil", 0, NULL, OPT_FLAG, AT(gil), NULL,
	  "With Python functions: sample only the thread that holds the GIL, and show shares of elapsed time. Default: each thread that "
	  "runs, and shares of CPU time.", false, NULL },
	{ "idle", 0, NULL, OPT_FLAG, AT(idle), NULL,
	  "With Python functions: also sample threads that wait, and show shares of elapsed time.", false, NULL },
	{ "tasks", 0, NULL, OPT_FLAG, AT(tasks), NULL,
	  "With Python functions: begin the stack of an asyncio task with a frame `task NAME` (CPython 3.14). A task without a name "
	  "of its own has that of its function.", false, NULL },
};

/* A process. */
struct target {
	pid_t pid;
	struct pystack *p;           /* NULL: it could not be read yet */
	unsigned int failures;       /* readings since the last good one */
	uint64_t good;               /* tick of that one */
	uint64_t wait, retry;        /* ticks until it is looked at again; that tick */
	dev_t device;                /* of its program, as last seen */
	ino_t inode;
	uint64_t number;             /* of this opening: numbers of its functions are unique in it */
	bool child;                  /* of a process that the user named */
	bool over;                   /* it has ended */
};

struct pyprofile {
	const struct pyprofile_opts *opts;
	struct target *targets;
	size_t n, room;
	uint64_t look;               /* time at which children are looked for, CLOCK_MONOTONIC */
	uint64_t opening;            /* time until which this tick may open children, CLOCK_MONOTONIC */
	size_t turn;                 /* the target with which a tick begins: the first that the last one had no time to open */
	bool waits;                  /* there is such a target */
	int timer;
	uint64_t hz, tick;           /* ticks so far */
	uint64_t next;               /* time of the next one, CLOCK_MONOTONIC */
	uint64_t chance;             /* the last random number */
	uint64_t opened;             /* how often a process was opened */
	struct hotspots hot;
	uint64_t torn, late;
	struct fault why;            /* why the last process could not be read */
	struct fault refused;        /* why the last one that this user may not read could not be */
	pid_t refused_pid;           /* that one: it may be read later, after exec(2) */
	bool full;                   /* MAX_TARGETS */
	bool told;                   /* that tasks of a process are not known */
	bool was_read;               /* at least one of them could */
	bool is_open;                /* one of them is, as far as this tick has come */
	struct analysis *analysis;   /* while targets are read */
	struct target *reading;
	struct groups tasks;         /* of tasknames.h */
	bool timed;                  /* samples weigh ns on CPUs; with --idle, of elapsed time */
	struct groups pending;
	struct script_frame frames[MAX_FRAMES];
};

/* ---- processes that the targets start -------------------------------------------------- */

static int add_target(struct pyprofile *p, pid_t pid, bool child)
{
	if (p->n == MAX_TARGETS || !ROOM_FOR(p->targets, p->room, p->n, 1))
		return -1;
	p->targets[p->n++] = (struct target){ .pid = pid, .child = child };
	return 0;
}

/* In the place of a child that has ended, if there is one: some programs start very many. */
static void add_child(struct pyprofile *p, pid_t pid)
{
	struct target *ended = NULL;

	for (size_t i = 0; i < p->n; i++) {
		if (p->targets[i].pid == pid && !p->targets[i].over)
			return;
		if (p->targets[i].child && p->targets[i].over)
			ended = &p->targets[i];
	}
	if (ended)
		*ended = (struct target){ .pid = pid, .child = true };
	else if (add_target(p, pid, true) && !p->full) {
		p->full = true;
		fprintf(stderr, "perf-prof: profile: more than %d processes at a time: further ones are not sampled\n", MAX_TARGETS);
	}
}

/* "12 34 ": the children that this thread has started. */
static void add_children_of(struct pyprofile *p, pid_t pid, const char *thread)
{
	char path[64];
	FILE *list;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%.20s/children", (int)pid, thread);
	list = fopen(path, "re");
	while (list && fscanf(list, "%d", &child) == 1)
		add_child(p, child);
	if (list)
		fclose(list);
}

/* Ten times a second, a hundred times as long as no Python program runs, which may be just starting; less often if it takes more than
 * a hundredth of the time, but once a second at least. Kernels without CONFIG_PROC_CHILDREN have no such file. */
static void look_for_children(struct pyprofile *p)
{
	const uint64_t start = now_ns(CLOCK_MONOTONIC);
	const size_t n = p->n;
	const uint64_t least = p->is_open ? SECOND / 10 : SECOND / 100;
	uint64_t end, pause;

	if (start < p->look)
		return;
	for (size_t i = 0; i < n; i++) {
		char path[64];
		struct dirent *d;
		DIR *tasks;

		snprintf(path, sizeof(path), "/proc/%d/task", (int)p->targets[i].pid);
		tasks = p->targets[i].over ? NULL : opendir(path);
		while (tasks && (d = readdir(tasks)))
			if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
				add_children_of(p, p->targets[i].pid, d->d_name);
		if (tasks)
			closedir(tasks);
	}
	end = now_ns(CLOCK_MONOTONIC);
	pause = (end - start) * 100;
	p->look = end + (pause < least ? least : pause > SECOND ? SECOND : pause);
}

/* ---- samples ----------------------------------------------------------------------------- */

static const struct script_frame none = { .name = "[no Python function]" };

/* Number of frames, innermost first. */
static size_t take_frames(struct pyprofile *p, const struct pystack_thread *t)
{
	const uint64_t process = p->reading->number << 40;
	const size_t most = t->task ? MAX_FRAMES - 1 : MAX_FRAMES;
	size_t n = t->n < most ? t->n : most;

	for (size_t i = 0; i < n; i++) {
		const struct code *code = t->frames[i].code;

		p->frames[i] = (struct script_frame){ process | code->id, code->name, code->file, code->first_line,
						      t->frames[i].line };
	}
	if (!n)
		p->frames[n++] = none;
	if (t->task)
		p->frames[n++] = tasknames_frame(&p->tasks, t->task);
	return n;
}

struct taken {
	struct pyprofile *profile;
	struct analysis_sample sample;
};

static void add_sample(void *ctx, struct callstack *stack, uint64_t weight)
{
	const struct taken *t = ctx;
	struct pyprofile *p = t->profile;

	if (!stack)
		return;
	hotspots_see(&p->hot, p->analysis, &t->sample);
	hotspots_add(&p->hot, analysis_comm(p->analysis, t->sample.tid), stack, weight, false);
}

/* The tick before, if the time of a thread is not known: it is just starting or ending. */
static uint64_t period_of(const struct pyprofile *p)
{
	return p->timed ? SECOND / p->hz : 1;
}

static bool is_among(const struct opt_strings *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strcmp(names->v[i], name))
			return true;
	return false;
}

/* --without: callers that --below cuts off do not count. */
static bool is_left_out(const struct pyprofile *p, size_t n)
{
	const struct analysis_opts *o = &p->opts->profile->common;

	for (size_t i = 0; i < n && o->without.n; i++) {
		if (is_among(&o->below, p->frames[i].name))
			return false;
		if (is_among(&o->without, p->frames[i].name))
			return true;
	}
	return false;
}

static void take(void *ctx, const struct pystack_thread *t)
{
	struct pyprofile *p = ctx;
	const pid_t pid = p->reading->pid, tid = t->tid ? t->tid : pid;
	struct taken taken = { p, { .pid = pid, .tid = tid } };
	struct callstack *stack;
	size_t n;

	if (t->torn) {
		p->torn++;
		return;
	}
	n = take_frames(p, t);
	/* the time of one that is left out is nobody else's */
	stack = is_left_out(p, n) ? NULL : callstacks_script(p->analysis->stacks, p->frames, n);
	if (*t->name)   /* no event says that it has changed */
		comms_set(p->analysis->names.comms, tid, t->name, strlen(t->name));
	if (p->opts->idle)
		add_sample(&taken, stack, p->timed && t->elapsed ? t->elapsed : period_of(p));
	else if (!t->timed)
		add_sample(&taken, stack, period_of(p));
	else if (t->cpu)
		add_sample(&taken, stack, pending_share(&p->pending, pid, tid, t->turns, t->cpu, add_sample, &taken));
	else
		pending_add(&p->pending, pid, tid, t->turns, stack);
}

/* Other programs may have an interpreter, too (gdb, vim), and do most of their work without it. */
static bool is_interpreter(pid_t pid)
{
	char exe[4096];
	const char *name = textfile_link(exe, sizeof(exe), "/proc/%d/exe", (int)pid) ? strrchr(exe, '/') : NULL;

	return name && !strncmp(name, "/python", strlen("/python"));
}

/* Opening takes long for programs that are no Python, and a target can start hundreds of them: a tick opens children for half a
 * period, and the next one goes on from there. Interpreters need not wait for their turn. */
static bool has_time(struct pyprofile *p, struct target *t)
{
	const size_t i = (size_t)(t - p->targets);

	if (!t->child || now_ns(CLOCK_MONOTONIC) < p->opening || (!t->wait && is_interpreter(t->pid)))
		return true;
	if (!p->waits)
		p->turn = i;
	p->waits = true;
	return false;
}

static void opened(struct pyprofile *p, struct target *t)
{
	t->wait = 0;
	if (!p->opts->tasks || pystack_has_tasks(t->p) || p->told)
		return;
	p->told = true;
	fprintf(stderr, "perf-prof: profile: --tasks: process %d runs Python %s, which does not say where its asyncio tasks are: expected "
		"3.14\n", (int)t->pid, pystack_version(t->p));
}

/* What shows something of a process that has no Python functions. */
static void suggest_native(struct fault *f)
{
	const size_t n = strlen(f->text);

	if (f->error == ENOENT)
		snprintf(f->text + n, sizeof(f->text) - n, "; without --python, --gil, --idle and --tasks, profile shows the functions of "
			 "any program");
}

/* A script may start the interpreter by exec(2) at any time. A tick looks at about LOOKS processes. */
static bool has_called_exec(const struct pyprofile *p, struct target *t)
{
	const size_t i = (size_t)(t - p->targets), every = p->n / LOOKS + 1;
	char path[64];
	struct stat s;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)t->pid);
	if ((p->tick + i) % every || stat(path, &s) || (s.st_dev == t->device && s.st_ino == t->inode))
		return false;
	t->device = s.st_dev;
	t->inode = s.st_ino;
	return true;
}

/* Tried after 10 ms, then ever less often, down to once a second. An interpreter that is not readable is just starting. */
static void try_later(struct pyprofile *p, struct target *t, const struct fault *why)
{
	const uint64_t first = p->hz * RETRY_MS / 1000 + 1;

	t->wait = t->wait && !(why->error == ENOENT && is_interpreter(t->pid)) ? t->wait * 2 : first;
	t->wait = t->wait < p->hz ? t->wait : p->hz;
	t->retry = p->tick + t->wait;
}

/* Children come and go: why there is no profile is said of what the user named, as long as it runs. */
static void explain(struct pyprofile *p, const struct target *t, struct fault *why)
{
	const bool has_ended = why->error == ESRCH && (t->child || p->why.exit_code), is_other = t->child && why->error == ENOENT;

	suggest_native(why);
	if (why->error == EACCES || why->error == EPERM) {
		p->refused = *why;
		p->refused_pid = t->pid;
	}
	if (!has_ended && !is_other)
		p->why = *why;
}

/* Opens a process. */
static bool is_open(struct pyprofile *p, struct target *t)
{
	struct fault why = { 0 };

	if (!t->p && has_called_exec(p, t))
		t->wait = t->retry = 0;
	if (t->p || p->tick < t->retry || !has_time(p, t))
		return t->p;
	t->p = pystack_open(t->pid, "profile", &why);
	try_later(p, t, &why);
	if (!t->p)
		explain(p, t, &why);
	else
		p->why = why;
	if (t->p && t->pid == p->refused_pid)
		p->refused = (struct fault){ 0 };
	t->over = !t->p && kill(t->pid, 0) && errno == ESRCH;
	t->number = t->p ? ++p->opened : 0;
	t->failures = 0;
	t->good = p->tick;
	if (t->p)
		opened(p, t);
	return t->p;
}

static void close_target(struct target *t)
{
	pystack_close(t->p);
	t->p = NULL;
}

/* The others are still sampled. If there are none, the run fails with that message. */
static void refuse(struct pyprofile *p, const struct target *t)
{
	pystack_too_many("profile", t->pid, &p->why);
	if (p->n > 1)
		fprintf(stderr, "perf-prof: %s\n", p->why.text);
}

static void read_target(struct pyprofile *p, struct target *t)
{
	const struct pystack_opts o = { .idle = p->opts->idle, .only_gil = p->opts->gil, .names_task = p->opts->tasks,
					.cpu_time = p->timed && !p->opts->idle };
	int rc;

	if (t->over || !is_open(p, t))
		return;
	p->reading = t;
	rc = pystack_read(t->p, &o, take, p);
	t->failures = rc ? t->failures + 1 : 0;
	t->good = rc ? t->good : p->tick;
	p->was_read |= rc != -EOVERFLOW;
	if (rc == -EOVERFLOW)
		refuse(p, t);
	p->torn += rc != 0 && rc != -ESRCH && rc != -EOVERFLOW;
	t->over = rc == -ESRCH || rc == -EOVERFLOW;
	/* for a quarter of a second: another program, by exec(2) */
	if (t->over || (t->failures >= FAILURES && p->tick - t->good >= p->hz / 4))
		close_target(t);
}

static void read_targets(struct pyprofile *p)
{
	const size_t first = p->turn;

	p->opening = now_ns(CLOCK_MONOTONIC) + SECOND / p->hz / 2;
	p->waits = p->is_open = false;
	for (size_t i = 0; i < p->n; i++) {
		read_target(p, &p->targets[(first + i) % p->n]);
		p->is_open |= p->targets[(first + i) % p->n].p != NULL;
	}
}

static bool all_over(const struct pyprofile *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->targets[i].over && (p->targets[i].p || !p->targets[i].child))
			return false;
	return true;
}

/* A linear congruential generator: its upper bits are random enough. */
static uint64_t chance_below(struct pyprofile *p, uint64_t n)
{
	p->chance = p->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (p->chance >> 32) % n;
}

/* Half a period to one and a half from now, at random: a program that does the same at each period of a regular timer would
 * always be seen at the same places. */
static int set_timer(struct pyprofile *p)
{
	const uint64_t period = SECOND / p->hz;
	struct itimerspec spec = { 0 };

	p->next = now_ns(CLOCK_MONOTONIC) + period / 2 + chance_below(p, period);
	spec.it_value = (struct timespec){ (time_t)(p->next / SECOND), (long)(p->next % SECOND) };
	return timerfd_settime(p->timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

static void ready(struct analysis *a)
{
	struct pyprofile *p = a->config;
	uint64_t n = 0;

	if (read(p->timer, &n, sizeof(n)) != sizeof(n) || !n)
		return;
	n = (now_ns(CLOCK_MONOTONIC) - p->next) * p->hz / SECOND;
	p->late += n;
	p->tick += n + 1;
	set_timer(p);
	p->analysis = a;
	if (a->opts->stream.inherit >= 0)
		look_for_children(p);
	read_targets(p);
	if (all_over(p))
		stream_finish(a->stream);
}

/* ---- tables -------------------------------------------------------------------------- */

/* A hint for programs whose threads all slept. */
static const char *hint_if_none(const struct pyprofile_opts *o)
{
	const struct stream_opts *s = &o->profile->common.stream;

	return s->pids.n && !o->idle && !o->gil && !o->profile->common.without.n && (o->refreshes || !s->interval_ms) ?
	       "no samples: all threads slept nearly all the time; --idle also shows those that wait, `perf-prof dump PID` shows where they are now" : NULL;
}

/* Names the samples in folded stacks, so that times on CPUs and elapsed times are not compared. */
static const char *event_of(const struct pyprofile *p)
{
	return p->timed && p->opts->idle ? PYPROFILE_ELAPSED : "python";
}

/* name: NAME_SIZE bytes, for the view. */
static struct hotspots_view view_of(const struct analysis *a, char *name)
{
	const struct pyprofile *p = a->config;

	snprintf(name, NAME_SIZE, "Python stacks%s, %llu Hz", p->opts->gil ? " with the GIL" : "", (unsigned long long)p->hz);
	return (struct hotspots_view){
		.name = a->ops->name, .what = "python", .sampled = name, .functions = FUNCTIONS_SHOWN,
		.stacks = a->opts->stream.call_graph ? STACKS_SHOWN : 0,
		.counted = p->timed, .count = p->hot.weight, .in_ns = p->timed, .elapsed = p->opts->idle, .torn = p->torn,
		.if_none = p->was_read ? hint_if_none(p->opts) : NULL, .late = p->late > p->tick / 20 ? p->late : 0,
	};
}

static void show(struct analysis *a, uint64_t now)
{
	struct pyprofile *p = a->config;
	char name[NAME_SIZE];
	const struct hotspots_view view = view_of(a, name);

	hotspots_draw(a, &p->hot, p->opts->flame, p->opts->refreshes ? 0 : now, event_of(p));
	hotspots_print(a, &p->hot, &view, now);
	hotspots_free(&p->hot);
	groups_free(&p->pending);
	callstacks_rest(a->stacks, NULL, NULL);
	p->torn = p->late = 0;
}

static void interval(struct analysis *a, uint64_t now)
{
	struct pyprofile *p = a->config;
	char name[NAME_SIZE];

	if (p->opts->refreshes)
		hotspots_refresh(a, &p->hot, view_of(a, name), now);
	else
		show(a, now);
}

/* ---- the run ------------------------------------------------------------------------- */

static int start_timer(struct pyprofile *p, struct fault *f)
{
	p->chance = now_ns(CLOCK_MONOTONIC);
	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (p->timer < 0 || set_timer(p))
		return fault_set(f, EXIT_FAILED, "profile: cannot start a timer: %s", strerror(errno));
	return 0;
}

static int begin(struct analysis *a, struct fault *f)
{
	struct pyprofile *p = a->config;
	const struct numlist *pids = &a->opts->stream.pids;

	for (size_t i = 0; i < pids->n; i++) {
		if (add_target(p, pids->v[i], false))
			return fault_set(f, EXIT_FAILED, "profile: -p: too many processes, or out of memory");
		/* a command is a Python program only after exec(2) */
		if (!a->job.is_target && !is_open(p, &p->targets[i]))
			return fault_set(f, EXIT_FAILED, "%s", p->why.text);
	}
	if (flame_begin(p->opts->flame, a->opts->stream.verbose, f) || start_timer(p, f))
		return -1;
	stream_watch(a->stream, p->timer);
	return 0;
}

static int end(struct analysis *a, struct fault *f)
{
	struct pyprofile *p = a->config;
	char text[256], name[NAME_SIZE];
	const struct flame_title title = { text, p->timed ? "ns" : "samples" };

	if (p->opts->refreshes)
		terminal_clear();
	show(a, analysis_now(a));
	if (p->refused.exit_code && p->was_read)
		note(1, "%s", p->refused.text);
	else if (p->refused.exit_code)   /* the others are no Python programs, which is usual for what starts one */
		p->why = p->refused;
	/* a process of -p could be read at the beginning: the run was short */
	if (!p->was_read && (a->job.is_target || p->why.exit_code))
		return fault_set(f, EXIT_FAILED, "%s", p->why.exit_code ? p->why.text : "profile: the command ended at once");
	if (hotspots_found(a, "Python stacks", f))
		return -1;
	view_of(a, name);
	snprintf(text, sizeof(text), "perf-prof profile: %s", name);
	if (p->opts->flame->folded && p->timed && a->job.is_target && !stream_was_interrupted(a->stream))
		folded_of_command(p->opts->flame->folded, folded_total(p->opts->flame->folded));
	return flame_write(p->opts->flame, p->opts->flame->folded, &title, f);
}

static void release(struct analysis *a)
{
	struct pyprofile *p = a->config;

	for (size_t i = 0; i < p->n && p->targets; i++)
		close_target(&p->targets[i]);
	free(p->targets);
	hotspots_free(&p->hot);
	groups_free(&p->pending);
	tasknames_free(&p->tasks);
	flame_free(p->opts->flame);
	if (p->timer >= 0)
		close(p->timer);
}

static const struct analysis_ops ops = {
	.name = "profile", .begin = begin, .ready = ready, .interval = interval, .end = end, .release = release,
};

/* ---- whether ---------------------------------------------------------------------------- */

/* An option that only samples of events know; NULL: none was given. */
static const char *unfit_option(const struct pyprofile_opts *o)
{
	const struct analysis_opts *a = &o->profile->common;
	const struct stream_opts *s = &a->stream;
	const struct {
		bool given;
		const char *name;
	} all[] = {
		{ s->input, "-I" }, { s->events.n, "-e" }, { o->profile->period, "-c" }, { s->tids.n, "-t" }, { s->cpus.n, "-C" },
		{ s->ncontainers, "--container" }, { s->cgroups.n, "--cgroups" }, { a->annotate.n, "--annotate" },
		{ a->everybody, "-a" }, { s->chains.said && s->chains.stack_bytes, "--call-graph dwarf" },
		{ s->record, "--record" }, { s->exit_n, "-N" }, { a->sort & SORT_CPU, "--sort cpu" },
		{ a->sort & SORT_CGROUP, "--sort cgroup" }, { o->other, o->other },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

static bool are_python(const struct numlist *pids, int verbose)
{
	for (size_t i = 0; i < pids->n; i++) {
		int rc = is_interpreter(pids->v[i]) ? pystack_look(pids->v[i]) : -ENOENT;

		if (rc == -ENOTSUP)
			note(verbose, "process %d runs a Python whose functions cannot be shown (3.9 to 3.14 with a GIL can): the "
			     "interpreter's own functions are", (int)pids->v[i]);
		if (rc)
			return false;
	}
	return pids->n;
}

int pyprofile_is_wanted(const struct pyprofile_opts *o, const struct opt_parser *args, struct fault *f)
{
	const struct stream_opts *s = &o->profile->common.stream;
	const char *unfit = unfit_option(o);
	const char *asks = o->gil ? "--gil" : o->idle ? "--idle" : o->tasks ? "--tasks" : NULL;
	const bool asked = o->python > 0 || asks;

	if (o->python < 0 && asks)
		return fault_usage(f, "profile: %s is about Python functions, which --no-python leaves out", asks);
	if (asked && unfit && !strcmp(unfit, "--off-cpu"))
		return fault_usage(f, "profile: --off-cpu does not show Python functions: "
				   "expected --idle, which shows the time of threads that run and of those that wait");
	if ((asked && unfit) || (unfit && !strcmp(unfit, "--annotate") && !o->python && are_python(&s->pids, s->verbose)))
		return fault_usage(f, "%s: it needs samples of an event, but Python functions are read from the interpreter's "
				   "memory: leave it out, or use --no-python", unfit);
	if (asked && !s->pids.n && !args->noperands)
		return fault_usage(f, "profile: --python: expected a process (-p PID) or a command");
	if (o->profile->freq > MAX_HZ && asked)
		return fault_usage(f, "profile: Python functions can be sampled at most %d times a second", MAX_HZ);
	if (asked)
		return 1;
	return o->python >= 0 && !unfit && !args->noperands && o->profile->freq <= MAX_HZ && are_python(&s->pids, s->verbose);
}

int pyprofile_run(const struct pyprofile_opts *o, const struct opt_parser *args, struct fault *f)
{
	struct pyprofile *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return fault_set(f, EXIT_FAILED, "out of memory");
	p->opts = o;
	p->timer = -1;
	p->hz = o->profile->freq ? o->profile->freq : DEFAULT_HZ;
	p->timed = !o->gil && (o->idle || pystack_has_cpu_time());
	rc = analysis_run_of(&ops, p, &o->profile->common, args, f);
	free(p);
	return rc;
}
