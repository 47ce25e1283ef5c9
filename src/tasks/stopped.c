/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/stopped.h"

#include "base/now.h"
#include "base/procstatus.h"
#include "base/room.h"
#include "tasks/taskmemory.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = STOPPED_THREADS, ROUNDS = 64, MAX_STACK = 8 << 20, CHUNK = 64 << 10 };
#define MAX_BYTES ((size_t)256 << 20)
#define PATIENCE_NS UINT64_C(1000000000)

/* ---- which threads there are -------------------------------------------------------- */

/* 'R', 'S', 'D', ...; '\0': it has ended. */
static char state_of(pid_t tid)
{
	char path[64], text[128], *end;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');   /* a name can have parentheses */
	return end && end[1] == ' ' ? end[2] : '\0';
}

static bool is_over(char state)
{
	return !state || state == 'Z' || state == 'X';
}

const struct stopped_thread *stopped_find(const struct stopped *s, pid_t tid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].tid == tid)
			return &s->v[i];
	return NULL;
}

/* It did not stop in time before, so it could not be let go either. */
static bool is_ours_already(pid_t tid)
{
	return procstatus_of(tid, "\nTracerPid:") == getpid();
}

/* 0, also if the thread has ended. */
static int seize(struct stopped *s, pid_t tid)
{
	const char state = state_of(tid);

	if (is_over(state) || stopped_find(s, tid))
		return 0;
	if (s->n == MAX_THREADS)
		return -E2BIG;
	if (!ROOM_FOR(s->v, s->room, s->n, 1))
		return -ENOMEM;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL)) {
		int rc = -errno;

		if (rc == -ESRCH || is_over(state_of(tid)))
			return 0;
		if (rc != -EPERM || !is_ours_already(tid))
			return rc;
	}
	s->v[s->n++] = (struct stopped_thread){ .tid = tid, .ran = state == 'R' && state_of(tid) == 'R', .seized = true };
	return ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) && errno != ESRCH ? -errno : 0;
}

/* Seizes the threads that are not known yet. */
static int seize_all(struct stopped *s)
{
	struct dirent *d;
	char path[64];
	DIR *tasks;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!rc && (d = readdir(tasks)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
			rc = seize(s, (pid_t)atoi(d->d_name));
	closedir(tasks);
	return rc;
}

/* ---- until they have stopped --------------------------------------------------------- */

/* Whether the thread is still to be waited for. A thread on its way to a signal handler stops there, and takes the
 * signal when it goes on. */
static bool is_awaited(struct stopped_thread *t)
{
	int status;
	pid_t got;

	if (!t->seized || t->stopped)
		return false;
	got = waitpid(t->tid, &status, __WALL | WNOHANG);
	if (!got)
		return true;
	t->stopped = got > 0 && WIFSTOPPED(status);
	t->seized = t->stopped;
	if (t->stopped && status >> 16 != PTRACE_EVENT_STOP)
		t->signal = WSTOPSIG(status);
	return false;
}

static bool any_awaited(struct stopped *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n; i++)
		any |= is_awaited(&s->v[i]);
	return any;
}

/* Each stop sends SIGCHLD, which is blocked. */
static void wait_for_stops(struct stopped *s, uint64_t deadline)
{
	sigset_t child;
	uint64_t now;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (any_awaited(s) && (now = now_ns(CLOCK_MONOTONIC)) < deadline) {
		const struct timespec rest = { 0, (long)(deadline - now < PATIENCE_NS ? deadline - now : PATIENCE_NS - 1) };

		sigtimedwait(&child, NULL, &rest);
	}
}

/* Until there is no thread that was not stopped: running threads may start others. */
static int stop_all(struct stopped *s)
{
	const uint64_t deadline = now_ns(CLOCK_MONOTONIC) + PATIENCE_NS;
	size_t known = SIZE_MAX;
	int rc = 0;

	for (int i = 0; i < ROUNDS && !rc && s->n != known; i++) {
		known = s->n;
		rc = seize_all(s);
		wait_for_stops(s, deadline);
	}
	return rc;
}

/* ---- what they have --------------------------------------------------------------------- */

#if defined(__aarch64__)
/* x0 to x30, sp, pc: in the order of perf's numbers */
#define REGS_MASK ((UINT64_C(1) << 33) - 1)
enum { SP = 31 };

static void take_regs(struct stopped_thread *t, const struct user_regs_struct *r)
{
	memcpy(t->regs, r->regs, sizeof(r->regs));
	t->regs[31] = r->sp;
	t->regs[32] = r->pc;
}
#elif defined(__x86_64__)
/* arch/x86/include/uapi/asm/perf_regs.h: ax, bx, cx, dx, si, di, bp, sp, ip, and from bit 16 on r8 to r15 */
#define REGS_MASK UINT64_C(0xff01ff)
enum { SP = 7 };

static void take_regs(struct stopped_thread *t, const struct user_regs_struct *r)
{
	const uint64_t regs[] = { r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->rip,
				  r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15 };

	memcpy(t->regs, regs, sizeof(regs));
}

/* Whether the call is one that does nothing but wait. A timeout of 0 does not. */
static bool is_wait(const struct user_regs_struct *r)
{
	switch (r->orig_rax) {
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_pause:
	case SYS_rt_sigsuspend:
		return true;
	case SYS_futex:
		return (r->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT || (r->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	case SYS_poll:
		return (int)r->rdx;
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int)r->r10;
	default:
		return false;
	}
}

/* Whether it was stopped in a system call in which it waits, or has just been woken, as its stack says. Where the stop ended
 * the wait, the call has a result that user space never sees, by which the kernel begins it anew (include/linux/errno.h:
 * 512 to 516), or EINTR. */
static bool is_waiting(const struct user_regs_struct *r)
{
	enum { RESTART_FIRST = 512, RESTART_LAST = 516 };
	const long error = -(long)r->rax;

	return (long)r->orig_rax >= 0 &&
	       (error == EINTR || (error >= RESTART_FIRST && error <= RESTART_LAST) || is_wait(r));
}

enum { CODE_64BIT = 0x33 };   /* the segment of 64-bit code */
#else
#define REGS_MASK UINT64_C(0)   /* unwind.h knows no other machine */
enum { SP = 0 };

static void take_regs(struct stopped_thread *t, const struct user_regs_struct *r)
{
}
#endif

static bool read_regs(struct stopped_thread *t)
{
	struct user_regs_struct regs = { 0 };   /* of a 32-bit thread, the kernel writes less */
	struct iovec to = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, t->tid, (void *)(uintptr_t)NT_PRSTATUS, &to))
		return false;
	t->foreign = to.iov_len != sizeof(regs);
#if defined(__x86_64__)
	t->foreign |= regs.cs != CODE_64BIT;
	t->ran &= t->foreign || !is_waiting(&regs);
#endif
	if (!t->foreign)
		take_regs(t, &regs);
	return !t->foreign;
}

/* From the stack pointer upwards, as far as memory is mapped. */
static void read_stack(struct stopped *s, struct stopped_thread *t)
{
	size_t room = 0;
	ssize_t got = CHUNK;

	while (got == CHUNK && t->stack_size < MAX_STACK && s->bytes < MAX_BYTES && ROOM_FOR(t->stack, room, t->stack_size, CHUNK)) {
		got = taskmemory_read(t->tid, t->regs[SP] + t->stack_size, t->stack + t->stack_size, CHUNK);
		t->stack_size += got > 0 ? (size_t)got : 0;
		s->bytes += got > 0 ? (size_t)got : 0;
	}
}

bool stopped_sample(const struct stopped_thread *t, struct unwind_sample *out)
{
	*out = (struct unwind_sample){ .machine = UNWIND_HERE, .mask = REGS_MASK, .regs = t->regs, .stack = t->stack,
				       .stack_size = t->stack_size };
	return t->stack_size;
}

int stopped_begin(struct stopped *s, pid_t pid)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };   /* where SIGCHLD is ignored, the kernel sends none for stops */
	struct sigaction handler;
	sigset_t child, before;
	int rc;

	*s = (struct stopped){ .pid = pid };
	if (!REGS_MASK)
		return -EOPNOTSUPP;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &before);
	sigaction(SIGCHLD, &usual, &handler);
	rc = stop_all(s);
	sigaction(SIGCHLD, &handler, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!rc && !s->n)
		rc = -ESRCH;
	for (size_t i = 0; i < s->n && !rc; i++)
		if (s->v[i].stopped && read_regs(&s->v[i]))
			read_stack(s, &s->v[i]);
	if (rc)
		stopped_free(s);
	return rc;
}

void stopped_continue(struct stopped *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct stopped_thread *t = &s->v[i];

		/* one that did not stop before may have stopped since; else the kernel lets it go when perf-prof ends */
		if (t->seized && !t->stopped)
			is_awaited(t);
		if (t->seized && t->stopped)
			ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)t->signal);
		t->seized = false;
	}
}

void stopped_free(struct stopped *s)
{
	stopped_continue(s);
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].stack);
	free(s->v);
	*s = (struct stopped){ 0 };
}
