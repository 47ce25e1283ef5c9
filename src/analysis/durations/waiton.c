/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/waiton.h"

#include "base/escape.h"
#include "base/textfile.h"
#include "engine/callnames.h"
#include "stream/names.h"
#include "tasks/variables.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_THREADS = 1 << 20, MAX_PROCESSES = 1 << 16, MAX_DESCRIPTORS = 1 << 10, MAX_LOCKS = 1 << 16 };

struct waiton_call {
	pid_t tid, pid;
	int64_t call;            /* -1: none */
	uint64_t given;          /* its first argument */
	uint64_t arg;            /* the same, but of a lock with two words the first one */
	struct waitkind_futex futex;   /* of a futex, what follows that */
	bool timed;              /* it has a timeout */
	pid_t holder;            /* of its lock; 0: not known */
	pid_t joined;            /* its end is waited for; 0: no thread's */
	char name[WORD_SIZE];    /* what that is, once waiton_wait() has looked it up; "": not known */
};

/* The name of a descriptor stays until the process closes it, also for a wait that is over before it is looked up. */
struct waiton_descriptor {
	int fd;
	char name[WORD_SIZE];
};

/* A futex with FUTEX_WAIT. */
struct waiton_lock {
	uint64_t address, value;
	bool varies;             /* the value that is expected */
};

struct waiton_process {
	pid_t pid;
	struct groups all;       /* of struct waiton_descriptor */
	struct groups locks;     /* of struct waiton_lock */
};

/* ---- descriptors of processes --------------------------------------------------------- */

static struct waiton_process *find_process(const struct waiton *w, pid_t pid)
{
	return groups_find(&w->processes, &pid, sizeof(pid));
}

static struct waiton_process *process_of(struct waiton *w, pid_t pid)
{
	return groups_get(&w->processes, &pid, sizeof(pid), sizeof(struct waiton_process), MAX_PROCESSES);
}

static void forget_process(struct waiton *w, pid_t pid)
{
	struct waiton_process *p = find_process(w, pid);

	if (w->variables)
		variables_forget(w->variables, pid);
	if (!p)
		return;
	groups_free(&p->all);
	groups_free(&p->locks);
	groups_drop(&w->processes, p);
}

/* fd: -1: all. */
static void forget_descriptor(struct waiton *w, pid_t pid, int fd)
{
	struct waiton_process *p = find_process(w, pid);
	struct waiton_descriptor *d;

	if (!p)
		return;
	d = groups_find(&p->all, &fd, sizeof(fd));
	if (fd < 0)
		groups_free(&p->all);
	else if (d)
		groups_drop(&p->all, d);
}

/* A name "socket:[4711]" becomes the socket's address, if it has one now. */
static void name_socket(struct waiton *w, pid_t tid, char *buf, size_t size)
{
	uint64_t inode;

	if (sscanf(buf, "socket:[%" SCNu64 "]", &inode) == 1)
		sockets_text(&w->sockets, tid, inode, buf, size);
}

void waiton_descriptor(struct waiton *w, pid_t pid, pid_t tid, int fd, char *buf, size_t size)
{
	struct waiton_process *p = process_of(w, pid);
	struct waiton_descriptor *d = p ? groups_find(&p->all, &fd, sizeof(fd)) : NULL;

	if (d)
		snprintf(buf, size, "%s", d->name);
	else
		textfile_link(buf, size, "/proc/%d/fd/%d", (int)tid, fd);
	name_socket(w, tid, buf, size);
	if (*buf && p && (d = groups_get(&p->all, &fd, sizeof(fd), sizeof(*d), MAX_DESCRIPTORS)))
		snprintf(d->name, sizeof(d->name), "%s", buf);
}

/* ---- threads -------------------------------------------------------------------------- */

static struct waiton_call *find(const struct waiton *w, pid_t tid)
{
	return groups_find(&w->all, &tid, sizeof(tid));
}

static struct waiton_call *set(struct waiton *w, pid_t pid, pid_t tid, int64_t call, uint64_t arg)
{
	struct waiton_call *one = groups_get(&w->all, &tid, sizeof(tid), sizeof(*one), MAX_THREADS);

	if (!one)
		return NULL;
	one->call = call;
	one->given = one->arg = arg;
	one->futex = (struct waitkind_futex){ 0 };
	one->joined = one->holder = 0;
	one->timed = false;
	one->pid = pid;
	one->name[0] = '\0';
	return one;
}

/* System calls after which a descriptor is another one, or an address. Those with dup have it in their second argument. */
static void drop_names(struct waiton *w, pid_t pid, const char *call, uint64_t arg)
{
	static const struct {
		const char *call;
		enum { ONE, DESCRIPTORS, PROCESS } what;
	} calls[] = {
		{ "close", ONE }, { "dup2", DESCRIPTORS }, { "dup3", DESCRIPTORS }, { "close_range", DESCRIPTORS },
		{ "execve", PROCESS }, { "execveat", PROCESS },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(call, calls[i].call)) {
			if (calls[i].what == PROCESS)
				forget_process(w, pid);
			else
				forget_descriptor(w, pid, calls[i].what == ONE ? (int)arg : -1);
			return;
		}
}

/* Whether other waits for that address expected another value. */
static bool value_varies(struct waiton *w, pid_t pid, uint64_t address, uint64_t value)
{
	struct waiton_process *p = process_of(w, pid);
	const uint32_t n = p ? p->locks.n : 0;
	struct waiton_lock *l = p ? groups_get(&p->locks, &address, sizeof(address), sizeof(*l), MAX_LOCKS) : NULL;

	if (!l)
		return true;
	if (p->locks.n > n)
		l->value = value;
	l->varies |= l->value != value;
	return l->varies;
}

static void set_futex(struct waiton *w, struct waiton_call *one, const uint64_t args[WAITON_ARGS])
{
	enum { OP = 1, VALUE, TIMEOUT };

	one->futex.op = args[OP];
	one->futex.value = (uint32_t)args[VALUE];
	one->timed = args[TIMEOUT];
	if (((int)one->futex.op & FUTEX_CMD_MASK) == FUTEX_WAIT)
		one->futex.varies = value_varies(w, one->pid, one->arg, one->futex.value);
}

void waiton_enter(struct waiton *w, pid_t pid, pid_t tid, int64_t call, const uint64_t args[WAITON_ARGS])
{
	const char *name = syscall_name(call) ? syscall_name(call) : "";
	struct waiton_call *one = set(w, pid, tid, call, args[0]);

	if (one && !strcmp(name, "futex"))
		set_futex(w, one, args);
	else if (w->processes.n || w->variables)
		drop_names(w, pid, name, args[0]);
}

void waiton_leave(struct waiton *w, pid_t tid)
{
	set(w, waiton_pid(w, tid), tid, -1, 0);
}

/* Whether a call can be made on a file, pipe or socket of that name. If not, the descriptor was closed, and its number used again,
 * before it was looked up. */
static bool fits(const char *call, const char *name)
{
	static const char *const files[] = { "fsync", "fdatasync", "flock", "fallocate", "ftruncate", "pread64", "pwrite64", "preadv", "pwritev",
					     "preadv2", "pwritev2" };
	static const char *const socket_calls[] = { "recv", "send", "accept", "connect" };
	const bool is_pipe = !strncmp(name, "pipe:[", strlen("pipe:[")), is_anonymous = !strncmp(name, "anon_inode:", strlen("anon_inode:"));

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(call, files[i]))
			return *name == '/';
	for (size_t i = 0; i < sizeof(socket_calls) / sizeof(*socket_calls); i++)
		if (!strncmp(call, socket_calls[i], strlen(socket_calls[i])))
			return !is_pipe && !is_anonymous && *name != '/';
	return strncmp(call, "epoll_", strlen("epoll_")) || !strcmp(name, "anon_inode:[eventpoll]");
}

/* System calls whose first argument says what they wait for. */
enum what { NOTHING, ADDRESS, DESCRIPTOR };
static enum what argument_of(const char *call)
{
	static const char *const descriptors[] = {
		"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2", "pwritev2", "recvfrom",
		"recvmsg", "recvmmsg", "sendto", "sendmsg", "sendmmsg", "accept", "accept4", "connect", "epoll_wait", "epoll_pwait",
		"epoll_pwait2", "fsync", "fdatasync", "flock", "ioctl", "fcntl", "fallocate", "ftruncate", "io_uring_enter",
	};

	if (!strcmp(call, "futex") || !strcmp(call, "futex_wait"))
		return ADDRESS;
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(*descriptors); i++)
		if (!strcmp(call, descriptors[i]))
			return DESCRIPTOR;
	return NOTHING;
}

static const char *name_of(const struct waiton_call *one)
{
	const char *name = syscall_name(one->call);

	return name ? name : "system call";
}

static void name_recorded(struct waiton *w, struct waiton_call *one, uint64_t time)
{
	const struct mapping *m;
	struct variables_code c;

	if (variables_known(w->variables, one->pid, one->arg, one->name, sizeof(one->name)))
		return;
	m = w->names && w->names->maps ? maps_code_before(w->names->maps, one->pid, one->arg, time) : NULL;
	if (m)
		c = (struct variables_code){ w->names->opener, m->dso, m->start, m->pgoff };
	variables_recorded(w->variables, one->pid, one->arg, m ? &c : NULL, one->name, sizeof(one->name));
}

/* Without the parser's process, addresses have no names. */
static void name_address(struct waiton *w, struct waiton_call *one, uint64_t time)
{
	if (!w->variables)
		w->variables = variables_new();
	if (w->variables && w->recorded)
		name_recorded(w, one, time);
	else if (w->variables)
		variables_name(w->variables, one->pid, one->arg, one->name, sizeof(one->name));
}

/* ---- ends of threads -------------------------------------------------------------------- */

/* pthread_join() waits until the kernel clears the thread's id, which it does in the process alone. */
static bool may_join(const struct waiton_call *one)
{
	const int op = (int)one->futex.op;
	const bool waits = (op & FUTEX_CMD_MASK) == FUTEX_WAIT || (op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;

	return one->call >= 0 && !strcmp(name_of(one), "futex") && waits && !(op & FUTEX_PRIVATE_FLAG) && one->futex.value &&
	       one->futex.value <= FUTEX_TID_MASK;
}

static bool is_thread_of(const struct waiton *w, pid_t pid, pid_t tid)
{
	const struct waiton_call *one = find(w, tid);
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return one ? one->pid == pid : !w->recorded && !access(path, F_OK);
}

static void set_joined(struct waiton *w, struct waiton_call *one)
{
	one->joined = (pid_t)one->futex.value;
	one->futex.is_joined = true;
	snprintf(one->name, sizeof(one->name), "thread %s", names_comm(w->names, one->joined));
}

/* The name is known for some seconds after its end, unless another task has the number now. */
void waiton_ended_name(const struct waiton *w, pid_t tid, char *buf, size_t size)
{
	const char *comm;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)tid);
	comm = w->names && access(path, F_OK) ? comms_get(w->names->comms, tid) : NULL;
	if (comm && !comms_is_unknown(comm))
		snprintf(buf, size, "%s (%d), which has ended", comm, (int)tid);
	else
		snprintf(buf, size, "thread %d, which has ended", (int)tid);
}

void waiton_woken(struct waiton *w, pid_t tid, pid_t waker)
{
	struct waiton_call *one = find(w, tid);

	if (one && w->names && may_join(one) && (one->joined || (pid_t)one->futex.value == waker ||
					       is_thread_of(w, one->pid, (pid_t)one->futex.value)))
		set_joined(w, one);
}

/* ---- waits ------------------------------------------------------------------------------ */

/* A condition variable of the C library of GNU has two words in turn (__g_signals), and a read-write lock has one for readers and
 * one for writers. Both are aligned to 8 bytes, and waited for as few other locks are: until a time of the real clock, even if
 * there is none, or while the word is 0. */
static bool is_second_word(const struct waiton_call *one)
{
	enum { WORD = 4, BOTH = 8 };
	const int op = (int)one->futex.op;

	return one->arg % BOTH == WORD && (op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET && op & FUTEX_PRIVATE_FLAG &&
	       (op & FUTEX_CLOCK_REALTIME || !one->futex.value);
}

/* A variable's name is the same for both. */
static void name_by_first_word(struct waiton *w, struct waiton_call *one, uint64_t time)
{
	if (!is_second_word(one) || (*one->name && strncmp(one->name, "0x", 2)))
		return;
	one->arg -= sizeof(uint32_t);
	one->name[0] = '\0';
	name_address(w, one, time);
}

static void name_futex(struct waiton *w, struct waiton_call *one, uint64_t time)
{
	struct variables_place place = { 0 };

	if (w->names && may_join(one) && is_thread_of(w, one->pid, (pid_t)one->futex.value)) {
		set_joined(w, one);
		return;
	}
	name_address(w, one, time);
	name_by_first_word(w, one, time);
	if (w->variables)
		place = variables_place(w->variables, one->pid, one->arg);
	one->futex.into = place.into;
	one->futex.size = place.size;
}

void waiton_wait(struct waiton *w, pid_t tid, uint64_t time)
{
	struct waiton_call *one = find(w, tid);
	enum what what = one && one->call >= 0 ? argument_of(name_of(one)) : NOTHING;

	if (what == DESCRIPTOR && !w->recorded)
		waiton_descriptor(w, one->pid, tid, (int)one->arg, one->name, sizeof(one->name));
	if (what == DESCRIPTOR && *one->name && !fits(name_of(one), one->name)) {
		forget_descriptor(w, one->pid, (int)one->arg);
		one->name[0] = '\0';
	}
	else if (what == ADDRESS)
		name_futex(w, one, time);
}

waitkinds_set waiton_kinds(const struct waiton *w, pid_t tid)
{
	const struct waiton_call *one = find(w, tid);

	if (!one || one->call < 0)
		return 0;
	return argument_of(name_of(one)) == ADDRESS ? waitkind_of_futex(&one->futex) : waitkind_of_call(name_of(one), one->name);
}

/* The result of the thread's call if it ends by its timeout; 1: it has none, or its result does not tell. A socket's timeout looks like
 * a socket that does not block, but that one does not sleep. */
static int64_t result_of_timeout(const struct waiton *w, pid_t tid)
{
	static const struct {
		const char *call;
		int64_t result;
	} calls[] = {
		{ "futex", -ETIMEDOUT }, { "futex_wait", -ETIMEDOUT }, { "futex_waitv", -ETIMEDOUT }, { "poll", 0 }, { "ppoll", 0 },
		{ "select", 0 }, { "pselect6", 0 }, { "epoll_wait", 0 }, { "epoll_pwait", 0 }, { "epoll_pwait2", 0 },
		{ "rt_sigtimedwait", -EAGAIN }, { "semtimedop", -EAGAIN }, { "recvfrom", -EAGAIN }, { "recvmsg", -EAGAIN },
		{ "accept", -EAGAIN }, { "accept4", -EAGAIN }, { "mq_timedreceive", -ETIMEDOUT }, { "mq_timedsend", -ETIMEDOUT },
	};
	const struct waiton_call *one = find(w, tid);

	for (size_t i = 0; one && one->call >= 0 && i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(name_of(one), calls[i].call))
			return calls[i].result;
	return 1;
}

bool waiton_may_time_out(const struct waiton *w, pid_t tid)
{
	return result_of_timeout(w, tid) <= 0;
}

bool waiton_timed_out(const struct waiton *w, pid_t tid, int64_t result)
{
	return result == result_of_timeout(w, tid) && result <= 0;
}

bool waiton_locks_for_a_time(const struct waiton *w, pid_t tid)
{
	enum { LOCKED = 2 };   /* others wait for it */
	const struct waiton_call *one = find(w, tid);

	return one && one->timed && ((int)one->futex.op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET && one->futex.value == LOCKED;
}

void waiton_set_holder(struct waiton *w, pid_t tid, pid_t holder)
{
	struct waiton_call *one = find(w, tid);

	if (one)
		one->holder = holder;
}

pid_t waiton_holder(const struct waiton *w, pid_t tid)
{
	const struct waiton_call *one = find(w, tid);

	return one ? one->holder : 0;
}

pid_t waiton_joined(const struct waiton *w, pid_t tid)
{
	const struct waiton_call *one = find(w, tid);

	return one ? one->joined : 0;
}

pid_t waiton_pid(const struct waiton *w, pid_t tid)
{
	const struct waiton_call *one = find(w, tid);

	return one ? one->pid : 0;
}

const char *waiton_call_name(const struct waiton *w, pid_t tid)
{
	const struct waiton_call *one = find(w, tid);

	return one && one->call >= 0 ? name_of(one) : NULL;
}

void waiton_print_nameless(const struct waiton *w)
{
	const char *path = w->variables ? variables_refused(w->variables) : NULL;
	char safe[1024];

	if (!path)
		return;
	escape_terminal(path, strlen(path), safe, sizeof(safe));
	printf("locks in variables of %s have no names: the file no longer exists, or is not the one that was recorded\n", safe);
}

void waiton_forget(struct waiton *w, pid_t tid)
{
	struct waiton_call *one = find(w, tid);

	forget_process(w, tid);
	if (one)
		groups_drop(&w->all, one);
}

void waiton_free(struct waiton *w)
{
	while (w->processes.n)
		forget_process(w, ((const struct waiton_process *)groups_first(&w->processes))->pid);
	variables_free(w->variables);
	sockets_free(&w->sockets);
	groups_free(&w->processes);
	groups_free(&w->all);
}

bool waiton_may_be_in(const struct waiton *w, pid_t tid, int64_t call, uint64_t arg)
{
	const struct waiton_call *one = find(w, tid);

	return !one || (one->call == call && one->given == arg);
}

char *waiton_text(const struct waiton *w, pid_t tid, char *buf, size_t size)
{
	const struct waiton_call *one = find(w, tid);
	enum what what = one && one->call >= 0 ? argument_of(name_of(one)) : NOTHING;

	if (!one || one->call < 0)
		snprintf(buf, size, "%s", one ? "no system call" : "unknown");
	else if (one->joined)
		snprintf(buf, size, "join of %s", one->name);
	else if (what != NOTHING && *one->name)
		snprintf(buf, size, "%s %s", name_of(one), one->name);
	else if (what == ADDRESS)
		snprintf(buf, size, "%s 0x%llx", name_of(one), (unsigned long long)one->arg);
	else if (what == DESCRIPTOR)
		snprintf(buf, size, "%s fd %d", name_of(one), (int)one->arg);
	else
		snprintf(buf, size, "%s", name_of(one));
	return buf;
}

static void put_address(const struct waiton_call *one, struct waiton_object *o)
{
	char number[32];

	o->address = one->arg;
	snprintf(number, sizeof(number), "%#llx", (unsigned long long)one->arg);
	snprintf(o->text, sizeof(o->text), "futex %s", *one->name ? one->name : number);
	/* "0x7f0c" or "0x7f0c [heap]": the same, whether its mapping could be looked up or not */
	if (!*one->name || !strncmp(one->name, "0x", 2))
		o->key.address = one->arg;
}

bool waiton_object(const struct waiton *w, pid_t tid, struct waiton_object *o)
{
	const struct waiton_call *one = find(w, tid);
	enum what what = one && one->call >= 0 ? argument_of(name_of(one)) : NOTHING;
	const bool named = one && *one->name;

	memset(o, 0, sizeof(*o));   /* the key is compared with its padding */
	if (what == NOTHING)
		return false;
	if (what == ADDRESS || !named || !strncmp(one->name, "anon_inode:", strlen("anon_inode:")))
		o->key.pid = one->pid;
	if (one->joined)
		snprintf(o->text, sizeof(o->text), "join of %s", one->name);
	else if (what == ADDRESS)
		put_address(one, o);
	else if (o->key.pid)
		snprintf(o->text, sizeof(o->text), "%s%sfd %d", one->name, named ? " " : "", (int)one->arg);
	else
		snprintf(o->text, sizeof(o->text), "%s", one->name);
	if (!o->key.address)
		memcpy(o->key.name, o->text, sizeof(o->text));
	return true;
}
