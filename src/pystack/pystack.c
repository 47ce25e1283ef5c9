/* SPDX-License-Identifier: Apache-2.0 */
#include "pystack/pystack.h"

#include "base/hash.h"
#include "base/now.h"
#include "base/procstatus.h"
#include "base/room.h"
#include "pystack/asyncio.h"
#include "pystack/frames.h"
#include "pystack/memory.h"
#include "pystack/runtime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The threads of a process, as the kernel has them: which one is a thread of the interpreter, does it run? */

struct tids;

enum { TIDS_NAME = 64 };

enum { PTHREAD_BYTES = 1024, NOT_FOUND = -1 };

struct task {
	pid_t tid, inner;                /* inner: in the namespace of the process */
};

struct tids {
	const struct memory *memory;
	struct task *v;
	size_t n, room;
	bool fresh;                      /* read in this round */
	int offset;                      /* of the id in what pthread_t points to */
};

/* NULL: out of memory */
static struct tids *tids_new(const struct memory *m)
{
	struct tids *t = calloc(1, sizeof(*t));

	if (t)
		*t = (struct tids){ .memory = m, .offset = NOT_FOUND };
	return t;
}

static void tids_free(struct tids *t)
{
	if (t)
		free(t->v);
	free(t);
}

/* From now on threads are looked up again, if they are not known. */
static void tids_round(struct tids *t)
{
	t->fresh = false;
}

static void add(struct tids *t, int folder, const char *name)
{
	char path[64];
	long inner;

	snprintf(path, sizeof(path), "%.20s/status", name);
	inner = procstatus_in(folder, path, "\nNSpid:", -1);
	if (inner <= 0 || !ROOM_FOR(t->v, t->room, t->n, 1))
		return;
	t->v[t->n++] = (struct task){ (pid_t)atoi(name), (pid_t)inner };
}

static void look(struct tids *t)
{
	char path[64];
	struct dirent *d;
	DIR *tasks;

	t->n = 0;
	t->fresh = true;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->memory->pid);
	tasks = opendir(path);
	while (tasks && (d = readdir(tasks)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			add(t, dirfd(tasks), d->d_name);
	if (tasks)
		closedir(tasks);
}

static pid_t find(const struct tids *t, uint64_t inner)
{
	for (size_t i = 0; i < t->n; i++)
		if ((uint64_t)t->v[i].inner == inner)
			return t->v[i].tid;
	return 0;
}

/* The thread that has that id in its own PID namespace. 0: there is none. */
static pid_t tids_native(struct tids *t, uint64_t id)
{
	pid_t tid = find(t, id);

	if (tid || t->fresh)
		return tid;
	look(t);
	return find(t, id);
}

/* Whether each thread has a number of a thread there, and each another one. */
static bool is_offset(struct tids *t, const uint64_t *all, size_t n, uint64_t offset)
{
	uint64_t first = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t id;

		if (memory_get(t->memory, all[i] + offset, &id, sizeof(id)) || !find(t, id) || (i && id == first))
			return false;
		first = i ? first : id;
	}
	return true;
}

static int find_offset(struct tids *t, const uint64_t *all, size_t n)
{
	for (int offset = 0; n && offset < PTHREAD_BYTES; offset += 4)
		if (is_offset(t, all, n, (uint64_t)offset))
			return offset;
	return NOT_FOUND;
}

/* The thread with that pthread_t, in whose memory the C library keeps its id. all: those of all threads of the
 * interpreter, by which the place is found. 0: not known. */
static pid_t tids_pthread(struct tids *t, uint64_t pthread, const uint64_t *all, size_t n)
{
	uint32_t id;

	if (t->offset == NOT_FOUND && !t->fresh) {
		look(t);
		t->offset = find_offset(t, all, n);
	}
	if (t->offset == NOT_FOUND || memory_get(t->memory, pthread + (uint64_t)t->offset, &id, sizeof(id)))
		return 0;
	return tids_native(t, id);
}

/* A file of /proc/PID/task/TID, which is short; "": there is none. */
static void read_file(const struct tids *t, pid_t tid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)t->memory->pid, (int)tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
}

/* Whether it runs, or is ready to run. name: the task's present one; "" if it has ended. */
/* "PID (NAME) STATE ...": the name may have brackets. */
static bool tids_runs(const struct tids *t, pid_t tid, char name[TIDS_NAME])
{
	char text[512], *begin, *end;

	read_file(t, tid, "stat", text, sizeof(text));
	begin = strchr(text, '(');
	end = strrchr(text, ')');
	snprintf(name, TIDS_NAME, "%.*s", begin && end > begin ? (int)(end - begin - 1) : 0, begin ? begin + 1 : "");
	return end && end[1] == ' ' && end[2] == 'R';
}

/* Its time on CPUs in ns, as of the last timer tick or switch, and how often it got a CPU. False: it has ended, or the kernel does not
 * say (CONFIG_SCHED_INFO). */
/* "TIME WAITED TURNS" */
static bool tids_cpu_time(const struct tids *t, pid_t tid, uint64_t *ns, uint64_t *turns)
{
	unsigned long long all[3];
	char text[128];

	read_file(t, tid, "schedstat", text, sizeof(text));
	if (sscanf(text, "%llu %llu %llu", &all[0], &all[1], &all[2]) != 3)
		return false;
	*ns = all[0];
	*turns = all[2];
	return true;
}

static bool add_number(const char *text, const char *key, uint64_t *sum)
{
	const char *at = strstr(text, key);

	*sum += at ? strtoull(at + strlen(key), NULL, 10) : 0;
	return at;
}

/* Whether it has been on a CPU ever since tids_cpu_time() returned `turns`, the number of times that it got one: its context switches,
 * at each of which it lost one, are then fewer. True if they are not known. */
static bool tids_is_on_cpu(const struct tids *t, pid_t tid, uint64_t turns)
{
	char text[8192];         /* that of a machine with many CPUs and a user in many groups is long */
	uint64_t ended = 0;

	read_file(t, tid, "status", text, sizeof(text));
	return !add_number(text, "\nvoluntary_ctxt_switches:", &ended) || !add_number(text, "\nnonvoluntary_ctxt_switches:", &ended) ||
	       turns > ended;
}

/* The CPU that it is on, or was on last; -1: not known. */
/* Field 39, processor, of /proc/PID/stat: "PID (NAME) STATE ..."; see proc_pid_stat(5). */
static int tids_cpu(const struct tids *t, pid_t tid)
{
	enum { WORDS = 37 };     /* from STATE on */
	char text[1024], *at, *rest;
	int n = 0;

	read_file(t, tid, "stat", text, sizeof(text));
	at = strrchr(text, ')');
	for (at = at ? strtok_r(at + 1, " ", &rest) : NULL; at && ++n < WORDS; at = strtok_r(NULL, " ", &rest))
		;
	return at ? atoi(at) : -1;
}

#define LOOK_AGAIN UINT64_C(1000000000)
#define PATIENCE UINT64_C(1000000000)    /* ns for a reading */

enum { FEW_FRAMES = 16, MAX_FRAMES = 1 << 20 };   /* all threads share MAX_FRAMES; when these are used up, a thread has these few */
enum { MAX_INTERPRETERS = 256, MAX_THREADS = PYSTACK_THREADS, ROUND = 16, TRIES = 2 };   /* ROUND: readings between two looks at code */

_Static_assert((int)PYSTACK_NAME == (int)TIDS_NAME, "a name fits");

/* A thread state. */
struct thread {
	uint64_t addr;
	uint64_t id, native;             /* as in struct offsets */
	pid_t tid;                       /* of which it is known: */
	uint64_t cpu, now;               /* ns on CPUs: when it was last taken with some; now */
	pid_t last;                      /* the tid with which it was last taken, */
	uint64_t taken;                  /* and when, CLOCK_MONOTONIC; 0: never */
	unsigned int waiting;            /* looks since it was last found on a CPU, before which it had used one */
	struct frames_guess guess;
	uint64_t seen;                   /* the reading that last found it */
	UT_hash_handle hh;
};

struct pystack {
	struct memory memory;
	struct runtime runtime;
	struct codes *codes;
	struct tids *tids;
	struct thread *threads;
	uint64_t readings;
	uint64_t began, last;            /* time of this reading, and of the one before (0: there is none), CLOCK_MONOTONIC */
	uint64_t ids[MAX_THREADS];       /* pthread_t of each thread */
	size_t nids;
	size_t nthreads, nframes;        /* this reading has had so many */
	struct frames stack;
	struct pystack_frame frames[FRAMES_MOST];
	uint64_t addrs[FRAMES_MOST];     /* of these frames */
	char version[16];
	struct asyncio *asyncio;         /* NULL: the program has not imported it yet */
	uint64_t look;                   /* time at which it is looked for again, CLOCK_MONOTONIC */
	bool lacks_tasks;
};

static int prepare(struct pystack *p)
{
	int rc = runtime_find(&p->runtime, &p->memory);

	if (rc)
		return rc;
	runtime_version_text(&p->runtime, p->version, sizeof(p->version));
	p->codes = codes_new(&p->memory, &p->runtime.offsets, p->runtime.code_type);
	p->tids = tids_new(&p->memory);
	return p->codes && p->tids ? 0 : -ENOMEM;
}

struct pystack *pystack_open(pid_t pid, const char *what, struct fault *f)
{
	struct pystack *p = calloc(1, sizeof(*p));
	int rc;

	if (!p) {
		fault_set(f, EXIT_FAILED, "out of memory");
		return NULL;
	}
	p->memory = memory_of(pid);
	rc = prepare(p);
	if (!rc)
		return p;
	runtime_explain(rc, &p->runtime, what, pid, f);
	pystack_close(p);
	return NULL;
}

int pystack_look(pid_t pid)
{
	const struct memory m = memory_of(pid);
	struct runtime r;

	return runtime_find(&r, &m);
}

void pystack_close(struct pystack *p)
{
	if (!p)
		return;
	asyncio_free(p->asyncio);
	codes_free(p->codes);
	tids_free(p->tids);
	HASH_FREE(p->threads);
	free(p);
}

const char *pystack_version(const struct pystack *p)
{
	return p->version;
}

int pystack_too_many(const char *what, pid_t pid, struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "%s: process %d has more than %d Python threads, which is the limit: no others were read", what, (int)pid, PYSTACK_THREADS);
}

/* ---- a thread ------------------------------------------------------------------------- */

static struct thread *thread_at(struct pystack *p, uint64_t addr)
{
	struct thread *t = NULL;

	HASH_FIND(hh, p->threads, &addr, sizeof(addr), t);
	if (t)
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->addr = addr;
	HASH_ADD(hh, p->threads, addr, sizeof(t->addr), t);
	return HASH_KEPT(t);
}

static pid_t tid_of(struct pystack *p, const struct thread *t)
{
	return p->runtime.offsets.thread.native ? tids_native(p->tids, t->native) :
						 tids_pthread(p->tids, t->id, p->ids, p->nids);
}

/* The interpreter's own code, through which calls of __init__() go, has no file; its name stands there. */
static bool is_shown(const struct code *code)
{
	return *code->file && strcmp(code->name, code->file);
}

/* 0; -EAGAIN: a frame has no code object. */
static int name_frames(struct pystack *p, struct pystack_thread *out)
{
	bool inside = false;             /* a call of the evaluation loop, whose outermost frame is still to come */

	out->n = 0;
	out->calls = 0;
	for (size_t i = 0; i < p->stack.n; i++) {
		const struct frame_at *frame = &p->stack.v[i];
		const struct code *code = frame->script ? codes_at(p->codes, frame->code) : NULL;

		if (frame->script && !code)
			return -EAGAIN;
		if (code && is_shown(code)) {
			p->addrs[out->n] = frame->addr;
			p->frames[out->n++] = (struct pystack_frame){ code, codes_line(p->codes, code, frame->place),
								      out->calls };
		}
		inside |= frame->script;
		out->calls += inside && frame->entry;
		inside &= !frame->entry;
	}
	out->calls += inside;
	out->frames = p->frames;
	out->cut = p->stack.cut;
	return 0;
}

static int read_stack(struct pystack *p, struct thread *t, struct pystack_thread *out)
{
	const size_t left = MAX_FRAMES - p->nframes;
	int rc = -EAGAIN;

	p->stack.most = left > FRAMES_MOST ? FRAMES_MOST : left > FEW_FRAMES ? left : FEW_FRAMES;
	for (int i = 0; i < TRIES && rc == -EAGAIN; i++) {
		rc = frames_read(&p->stack, &t->guess, &p->memory, &p->runtime.offsets, t->addr);
		if (!rc)
			rc = name_frames(p, out);
	}
	p->nframes += rc ? 0 : p->stack.n < left ? p->stack.n : left;
	if (rc != -EAGAIN)
		return rc;
	out->torn = true;
	out->n = 0;
	return 0;
}

struct reading {
	const struct pystack_opts *opts;
	void (*take)(void *ctx, const struct pystack_thread *thread);
	void *ctx;
	uint64_t holder;                 /* the thread that holds the GIL; 0: none */
};

/* ---- tasks ------------------------------------------------------------------------------ */

/* A program may import asyncio at any time. */
static void look_for_asyncio(struct pystack *p)
{
	struct asyncio_offsets at;

	if (p->asyncio || now_ns(CLOCK_MONOTONIC) < p->look)
		return;
	if (!asyncio_offsets_find(&at, &p->memory, &p->runtime))
		p->asyncio = asyncio_new(&p->memory, &at, &p->runtime.offsets, p->codes);
	p->look = now_ns(CLOCK_MONOTONIC) + LOOK_AGAIN;
}

bool pystack_has_tasks(const struct pystack *p)
{
	return p->runtime.offsets.minor >= 14;
}

bool pystack_lacks_tasks(const struct pystack *p)
{
	return p->lacks_tasks;
}

/* Takes a thread whose stack was read, and is still in p, and its tasks. */
static void take_with_tasks(struct pystack *p, const struct reading *r, const struct thread *t, struct pystack_thread *out)
{
	const struct asyncio_thread of = { out->tid, t->addr, p->frames, p->addrs, out->n };
	char *task = p->asyncio && r->opts->names_task ? asyncio_running(p->asyncio, &of) : NULL;

	out->task = task;
	r->take(r->ctx, out);
	if (p->asyncio && r->opts->take_task)
		p->lacks_tasks |= !asyncio_read(p->asyncio, &of, 0, r->opts->take_task, r->ctx);
	free(task);
}

/* Takes the tasks whose thread has ended. */
static void take_left_tasks(struct pystack *p, const struct reading *r, uint64_t interpreter)
{
	if (p->asyncio && r->opts->take_task && !r->opts->only_gil)
		p->lacks_tasks |= !asyncio_read(p->asyncio, NULL, interpreter, r->opts->take_task, r->ctx);
}

/* ---- time on CPUs -------------------------------------------------------------------------- */

/*
 * What a thread uses after it was last taken is lost when it ends: half the time between two readings, on average, and all of it for a
 * thread that lives for a shorter time. To make up for that, a thread that is new and runs counts for all the time since the reading
 * before; sums over many threads are right then. Threads of the first reading have run before, and count from then on.
 */
static uint64_t first_time(const struct pystack *p, const struct pystack_thread *out)
{
	return p->last && out->runs && out->turns ? p->began - p->last : 0;
}

/* Sets the time of a thread that runs, and of each thread at the first sight. */
static void measure(const struct pystack *p, struct thread *t, struct pystack_thread *out)
{
	const bool is_new = t->tid != out->tid;
	uint64_t cpu;

	if (!out->tid || (!is_new && !out->runs) || !tids_cpu_time(p->tids, out->tid, &cpu, &out->turns))
		return;
	out->timed = true;
	out->cpu = is_new ? first_time(p, out) : cpu > t->cpu ? cpu - t->cpu : 0;
	t->tid = out->tid;
	t->cpu = is_new ? cpu : t->cpu;
	t->now = cpu;
}

/* A kernel that does not count, although it has the file, says 0. */
bool pystack_has_cpu_time(void)
{
	const struct memory own = memory_of(getpid());
	struct tids *t = tids_new(&own);
	uint64_t ns, turns = 0;
	const bool said = t && tids_cpu_time(t, gettid(), &ns, &turns);

	tids_free(t);
	return said && turns;
}

/* ---- a thread that is taken -------------------------------------------------------------- */

/* As in first_time(): a thread that is new makes up for those that ended after they were last taken. */
static uint64_t elapsed_of(const struct pystack *p, const struct thread *t, pid_t tid)
{
	const uint64_t since = t->taken && t->last == tid ? t->taken : p->last;

	return since ? p->began - since : 0;
}

/* Whether there is another CPU than that of a sampled thread. If this thread is on it, moves to another one: the sampled thread can
 * then run while its stack is read. */
static bool leave_cpu(int cpu)
{
	cpu_set_t all, left;

	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof(all), &all))
		return true;
	left = all;
	CPU_CLR(cpu, &left);
	if (!CPU_COUNT(&left))
		return false;
	if (cpu == sched_getcpu() && !sched_setaffinity(0, sizeof(left), &left))
		sched_setaffinity(0, sizeof(all), &all);   /* it stays there until the kernel has a reason to move it */
	return true;
}

/*
 * Whether a thread that is ready to run waits for a CPU. Its stack then shows where it lost its CPU, mostly a system call, and not
 * where it used it: its time counts for the place where it is next found on a CPU. If it is on none many times, or there is only one
 * CPU, it is taken where it waits.
 */
static bool waits_for_cpu(const struct pystack *p, struct thread *t, const struct pystack_thread *out)
{
	enum { FEW = 1, MANY = 25 };

	if (tids_is_on_cpu(p->tids, out->tid, out->turns) || t->waiting >= MANY) {
		t->waiting = 0;
		return false;
	}
	t->waiting += out->cpu > 0;
	return t->waiting <= FEW || leave_cpu(tids_cpu(p->tids, out->tid));
}

static int take_thread(struct pystack *p, const struct reading *r, struct thread *t)
{
	struct pystack_thread out = { .has_gil = t->addr == r->holder, .runs = true };
	bool is_known;
	int rc;

	if (r->opts->only_gil && !out.has_gil)
		return 0;
	out.tid = tid_of(p, t);
	if (out.tid)
		out.runs = tids_runs(p->tids, out.tid, out.name);
	is_known = t->tid == out.tid;
	if (r->opts->cpu_time)
		measure(p, t, &out);
	if (!out.runs && !r->opts->idle && !r->opts->only_gil)
		return 0;
	out.elapsed = elapsed_of(p, t, out.tid);
	rc = read_stack(p, t, &out);
	if (!rc && out.timed && is_known && !r->opts->idle && !r->opts->only_gil && waits_for_cpu(p, t, &out))
		return 0;
	if (!rc && !out.torn && out.cpu)
		t->cpu = t->now;
	if (!rc && !out.torn) {
		t->last = out.tid;
		t->taken = p->began;
	}
	if (!rc)
		take_with_tasks(p, r, t, &out);
	return rc;
}

/* ---- all threads ------------------------------------------------------------------------ */

/* The thread states of an interpreter. Fills p->ids. 0; -EAGAIN; or another -errno. */
static int list_threads(struct pystack *p, uint64_t first, struct thread **list, size_t *n)
{
	const struct offsets *l = &p->runtime.offsets;
	char head[OFFSETS_THREAD];

	*n = p->nids = 0;
	for (uint64_t addr = first; addr; addr = memory_field(head, l->thread.next, 8)) {
		int rc = memory_get(&p->memory, addr, head, l->thread.size);
		struct thread *t = rc ? NULL : thread_at(p, addr);

		if (rc)
			return rc == -EFAULT ? -EAGAIN : rc;
		if (!t || t->seen == p->readings)   /* seen: the list leads in a circle */
			return t ? -EAGAIN : -ENOMEM;
		if (p->nthreads++ == MAX_THREADS)
			return -EOVERFLOW;
		t->seen = p->readings;
		t->id = memory_field(head, l->thread.id, 8);
		t->native = l->thread.native ? memory_field(head, l->thread.native, 8) : 0;
		list[(*n)++] = t;
		p->ids[p->nids++] = t->id;
	}
	return 0;
}

/* The thread that holds that GIL. */
static uint64_t holder_of(const struct pystack *p, uint64_t gil)
{
	const struct offsets *l = &p->runtime.offsets;
	uint64_t holder = 0;
	uint32_t locked = 0;
	const struct memory_piece pieces[] = {
		{ gil + l->in_gil.locked, &locked, sizeof(locked) }, { gil + l->in_gil.holder, &holder, sizeof(holder) },
	};

	return p->memory.read(&p->memory, pieces, 2) == 2 && (int)locked > 0 ? holder : 0;
}

/* Sets the next interpreter. */
static int read_interpreter(struct pystack *p, struct reading *r, uint64_t *interpreter)
{
	const struct offsets *l = &p->runtime.offsets;
	struct thread *list[MAX_THREADS];
	uint64_t first, next, gil = p->runtime.address + l->gil;
	const struct memory_piece pieces[] = {
		{ *interpreter + l->interpreter.threads, &first, sizeof(first) },
		{ *interpreter + l->interpreter.next, &next, sizeof(next) },
		{ *interpreter + l->gil, &gil, sizeof(gil) },
	};
	const int npieces = l->minor >= 12 ? 3 : 2;
	size_t n;
	int rc = p->memory.read(&p->memory, pieces, (size_t)npieces);

	rc = rc < 0 ? rc : rc < npieces ? -EAGAIN : list_threads(p, first, list, &n);
	r->holder = rc ? 0 : holder_of(p, gil);
	for (size_t i = 0; !rc && i < n; i++)
		rc = take_thread(p, r, list[i]);
	if (!rc)
		take_left_tasks(p, r, *interpreter);
	*interpreter = next;
	return rc;
}

static void forget_ended(struct pystack *p)
{
	struct thread *t, *next;

	HASH_ITER(hh, p->threads, t, next)
		if (t->seen + 1 < p->readings) {
			HASH_DEL(p->threads, t);
			free(t);
		}
}

static void begin_reading(struct pystack *p)
{
	if (p->readings++ % ROUND == 0) {
		codes_round(p->codes);
		forget_ended(p);
	}
	tids_round(p->tids);
	p->last = p->began;
	p->began = now_ns(CLOCK_MONOTONIC);
	p->memory.until = p->began + PATIENCE;
	p->nthreads = p->nframes = 0;
	p->lacks_tasks = false;
}

int pystack_read(struct pystack *p, const struct pystack_opts *o,
		 void (*take)(void *ctx, const struct pystack_thread *thread), void *ctx)
{
	const struct offsets *l = &p->runtime.offsets;
	struct reading r = { o, take, ctx, 0 };
	uint64_t interpreter;
	int rc;

	begin_reading(p);
	rc = memory_word(&p->memory, p->runtime.address + l->interpreters, &interpreter);
	if (o->names_task || o->take_task)
		look_for_asyncio(p);
	for (int i = 0; !rc && interpreter && i < MAX_INTERPRETERS; i++)
		rc = read_interpreter(p, &r, &interpreter);
	return rc == -EFAULT ? -EAGAIN : rc;
}
