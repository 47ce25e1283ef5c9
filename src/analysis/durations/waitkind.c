/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/waitkind.h"

#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

enum kind { MUTEX, CONDVAR, RWLOCK, SEMAPHORE, BARRIER, JOIN, ONCE, PIPE, SOCKET, A_FILE, FILE_LOCK, POLL, CHILD, SLEEP, KINDS };
static const char *const texts[KINDS] = {
	[MUTEX] = "mutex", [CONDVAR] = "condvar", [RWLOCK] = "rwlock", [SEMAPHORE] = "semaphore", [BARRIER] = "barrier", [JOIN] = "join",
	[ONCE] = "once", [PIPE] = "pipe", [SOCKET] = "socket", [A_FILE] = "file", [FILE_LOCK] = "file lock", [POLL] = "poll",
	[CHILD] = "child", [SLEEP] = "sleep",
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* ---- stacks ----------------------------------------------------------------------------- */

/* Functions of C libraries without "__" and "__GI_" before them. A name that ends with "_" stands for all that begin so. */
static const struct {
	const char *name;
	enum kind kind;
} of_c[] = {
	{ "pthread_mutex_", MUTEX }, { "lll_lock_", MUTEX }, { "lll_timedlock_", MUTEX }, { "mtx_lock", MUTEX }, { "mtx_timedlock", MUTEX },
	{ "pthread_cond_", CONDVAR }, { "cnd_wait", CONDVAR }, { "cnd_timedwait", CONDVAR }, { "pthread_rwlock_", RWLOCK },
	{ "sem_wait", SEMAPHORE }, { "sem_timedwait", SEMAPHORE }, { "sem_clockwait", SEMAPHORE }, { "new_sem_", SEMAPHORE },
	{ "pthread_barrier_", BARRIER }, { "pthread_join", JOIN }, { "pthread_timedjoin_", JOIN }, { "pthread_clockjoin_", JOIN },
	{ "thrd_join", JOIN }, { "pthread_once", ONCE }, { "pthread_once_", ONCE }, { "cxa_guard_acquire", ONCE },
};

/* Parts of names in C++ and Rust, which have locks that call futex(2) themselves. */
static const struct {
	const char *part;
	enum kind kind;
} of_others[] = {
	{ "std::counting_semaphore", SEMAPHORE }, { "Mutex::lock_contended", MUTEX }, { "RawMutex::lock_slow", MUTEX },
	{ "Condvar::wait", CONDVAR }, { "RwLock::read_contended", RWLOCK }, { "RwLock::write_contended", RWLOCK }, { "RawRwLock::", RWLOCK },
};

static bool is_called(const char *symbol, const char *name)
{
	const size_t n = strlen(name);

	return !strncmp(symbol, name, n) && (name[n - 1] == '_' || !symbol[n] || symbol[n] == '@' || symbol[n] == '.');
}

static waitkinds_set of_symbol(const char *symbol)
{
	const char *name = symbol + strspn(symbol, "_");

	if (begins(name, "GI_"))
		name += strlen("GI_") + strspn(name + strlen("GI_"), "_");
	for (size_t i = 0; i < sizeof(of_c) / sizeof(*of_c); i++)
		if (is_called(name, of_c[i].name))
			return 1U << of_c[i].kind;
	for (size_t i = 0; i < sizeof(of_others) / sizeof(*of_others); i++)
		if (strstr(symbol, of_others[i].part))
			return 1U << of_others[i].kind;
	return 0;
}

/* FRAMES: between the system call and the library's function at most */
waitkinds_set waitkind_of_stack(const struct callstack *s)
{
	enum { FRAMES = 8 };
	waitkinds_set found = 0;
	size_t looked = 0;

	for (uint32_t i = 0; s && i < s->n && looked < FRAMES && !found; i++) {
		const struct frame *f = s->frames[i];

		if (f->kernel)
			continue;
		looked++;
		found = f->symbol ? of_symbol(f->symbol) : 0;
	}
	return found;
}

/* ---- system calls ----------------------------------------------------------------------- */

/* LOCKED: the value of a lock that others wait for, in the C library of GNU. Its barriers count rounds by the same operation, so that
 * a barrier of two threads has this value in one of them. */
enum { LOCKED = 2 };

/* Variables of these types of the C library of GNU, 64 bit: their size, and where the words are that threads wait for. */
static const struct {
	uint64_t size, words[2];
	int op;
	enum kind kind;
} of_size[] = {
	{ 40, { 0, 0 }, FUTEX_WAIT, MUTEX }, { 40, { 0, 0 }, FUTEX_WAIT_BITSET, MUTEX },   /* the second one: with a timeout */
	{ 48, { 32, 36 }, FUTEX_WAIT_BITSET, CONDVAR },    /* since 2.41 */
	{ 48, { 40, 44 }, FUTEX_WAIT_BITSET, CONDVAR }, { 56, { 8, 12 }, FUTEX_WAIT_BITSET, RWLOCK },
	{ 32, { 0, 0 }, FUTEX_WAIT_BITSET, SEMAPHORE }, { 32, { 4, 4 }, FUTEX_WAIT, BARRIER },
};

waitkinds_set waitkind_of_futex(const struct waitkind_futex *f)
{
	const int op = (int)f->op & FUTEX_CMD_MASK;

	if (f->is_joined)
		return 1U << JOIN;
	if (op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2)
		return 1U << MUTEX;
	if (op == FUTEX_WAIT_REQUEUE_PI)
		return 1U << CONDVAR;
	for (size_t i = 0; i < sizeof(of_size) / sizeof(*of_size); i++)
		if (f->size == of_size[i].size && (f->into == of_size[i].words[0] || f->into == of_size[i].words[1]) && op == of_size[i].op)
			return 1U << of_size[i].kind;
	return op == FUTEX_WAIT && f->value == LOCKED && !f->varies ? 1U << MUTEX : 0;
}

static waitkinds_set of_name(const char *name)
{
	if (begins(name, "pipe:["))
		return 1U << PIPE;
	if (*name == '/')
		return 1U << A_FILE;
	return *name && !begins(name, "anon_inode:") ? 1U << SOCKET : 0;
}

waitkinds_set waitkind_of_call(const char *call, const char *name)
{
	static const struct {
		const char *call;
		enum kind kind;
	} calls[] = {
		{ "clock_nanosleep", SLEEP }, { "nanosleep", SLEEP }, { "poll", POLL }, { "ppoll", POLL }, { "select", POLL },
		{ "pselect6", POLL }, { "epoll_wait", POLL }, { "epoll_pwait", POLL }, { "epoll_pwait2", POLL }, { "wait4", CHILD },
		{ "waitid", CHILD }, { "flock", FILE_LOCK }, { "fcntl", FILE_LOCK }, { "recvfrom", SOCKET }, { "recvmsg", SOCKET },
		{ "recvmmsg", SOCKET }, { "sendto", SOCKET }, { "sendmsg", SOCKET }, { "sendmmsg", SOCKET }, { "accept", SOCKET },
		{ "accept4", SOCKET }, { "connect", SOCKET }, { "fsync", A_FILE }, { "fdatasync", A_FILE },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(call, calls[i].call))
			return 1U << calls[i].kind;
	return of_name(name);
}

/* ---- texts ------------------------------------------------------------------------------ */

const char *waitkind_text(waitkinds_set kinds, char *buf, size_t size)
{
	size_t used = 0;

	if (!kinds)
		return NULL;
	buf[0] = '\0';
	for (size_t i = 0; i < KINDS && used < size; i++)
		if (kinds >> i & 1)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", texts[i]);
	return buf;
}

/* ---- kinds of words --------------------------------------------------------------------- */

void waitkinds_add(struct waitkinds *k, uint64_t word, const struct waitkinds_of *of)
{
	enum { ROOM = 64 };
	const size_t n = (size_t)(word / ROOM + 1) * ROOM;
	struct waitkinds_of *more;

	if (!of->stacks && !of->calls)
		return;
	if (word >= k->n) {
		more = realloc(k->v, n * sizeof(*more));
		if (!more)
			return;   /* not known, then */
		memset(more + k->n, 0, (n - k->n) * sizeof(*more));
		k->v = more;
		k->n = n;
	}
	k->v[word].stacks |= of->stacks;
	k->v[word].calls |= of->calls;
}

waitkinds_set waitkinds_get(const struct waitkinds *k, uint64_t word)
{
	if (word >= k->n)
		return 0;
	return k->v[word].stacks ? k->v[word].stacks : k->v[word].calls;
}

void waitkinds_free(struct waitkinds *k)
{
	free(k->v);
	*k = (struct waitkinds){ 0 };
}
