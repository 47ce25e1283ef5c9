/* SPDX-License-Identifier: Apache-2.0 */
/* What the keeper gives to a process without privilege, and what it doesn't. */
#include "live.h"

#include "base/now.h"
#include "base/ticket.h"
#include "keeper/identity.h"
#include "keeper/keeper.h"

#include <elf.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

static char folder[] = "/tmp/keeper-XXXXXX";
static char shared[] = "/tmp/keeper-XXXXXX";   /* a program beside it */
static char files[5][64];
static const char *const secret = files[0], *const program = files[1], *const private = files[2], *const core = files[3],
	*const fifo = files[4];

static void write_file(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), (ssize_t)n);
	close(fd);
}

static int make_files(void **state)
{
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			    .e_type = ET_DYN };
	int fd;

	if (needs_the_system_call(state))
		return -1;
	if (geteuid())
		return 0;
	if (!mkdtemp(folder))   /* 0700: root's alone */
		return -1;
	for (size_t i = 0; i < COUNT(files); i++)
		snprintf(files[i], sizeof(files[i]), "%s/file%zu", folder, i);
	write_file(secret, "a secret of some length", 23);
	write_file(program, &head, sizeof(head));
	chmod(program, 0644);
	write_file(private, &head, sizeof(head));
	fd = mkstemp(shared);
	if (fd < 0 || fchmod(fd, 0644) || close(fd))
		return -1;
	write_file(shared, &head, sizeof(head));
	head.e_type = ET_CORE;
	write_file(core, &head, sizeof(head));
	return mkfifo(fifo, 0600);
}

static int remove_files(void **state)
{
	(void)state;
	if (geteuid())
		return 0;
	unlink(shared);
	for (size_t i = 0; i < COUNT(files); i++)
		unlink(files[i]);
	return rmdir(folder);
}

static int count_sockets(void)
{
	struct stat st;
	int n = 0;

	for (int fd = 3; fd < 64; fd++)
		n += !fstat(fd, &st) && S_ISSOCK(st.st_mode);
	return n;
}

/* A child that the run forks has the socket no more, and takes no answer of its parent's. */
static bool is_refused_to_a_child(const struct opener *o)
{
	int wstatus;
	pid_t pid = fork_child();

	if (!pid)
		_exit(opener_file(o, 0, shared) == -EPERM && count_sockets() == 0 ? 0 : 1);
	return waitpid(pid, &wstatus, 0) == pid && !wstatus;
}

/* What the file is, and nothing of it. */
static bool is_ticket(int fd)
{
	struct stat st;
	char line[64];

	return fd >= 0 && ticket_is(fd) && !ticket_stat(fd, &st) && st.st_size == sizeof(Elf64_Ehdr) &&
	       pread(fd, line, sizeof(line), 0) == sizeof(line) && memcmp(line, ELFMAG, SELFMAG);
}

/* By the root of the process that looks on, which is root's. */
static const char *through_proc(const char *path)
{
	static char buf[128];

	snprintf(buf, sizeof(buf), "/proc/%d/root%s", (int)getppid(), path);
	return buf;
}

/* In a child that is nobody: the line of the first answer that was wrong, or 0. */
static int as_nobody(struct keeper *k, const struct identity *who)
{
	const struct opener *o = keeper_opener(k);
	char line[16] = "";
	struct fault f;
	int fd;

#define WRONG_UNLESS(what) do { if (!(what)) return __LINE__ & 0xff ? __LINE__ & 0xff : 1; } while (0)
	WRONG_UNLESS(!identity_become(who, &f));
	WRONG_UNLESS(opener_file(o, 0, program) == -ENOENT);        /* everybody may read it, but for the folder */
	WRONG_UNLESS(opener_file(o, getppid(), program) == -ENOENT);
	WRONG_UNLESS(opener_file(o, 0, shared) >= 0);
	fd = opener_file(o, getppid(), shared);                     /* as another process sees it */
	WRONG_UNLESS(fd >= 0 && read(fd, line, 4) == 4 && !memcmp(line, "\x7f" "ELF", 4));
	WRONG_UNLESS(write(fd, "x", 1) < 0);
	WRONG_UNLESS(opener_file(o, 0, private) == -ENOENT);
	WRONG_UNLESS(opener_file(o, 1, private) == -ESRCH);         /* no target */
	WRONG_UNLESS(opener_file(o, 1, shared) == -ESRCH);
	WRONG_UNLESS(opener_file(o, 0, through_proc(private)) == -ENOENT);
	WRONG_UNLESS(is_ticket(opener_file(o, getppid(), private)));   /* it has mapped it */
	WRONG_UNLESS(opener_file(o, 0, secret) == -ENOENT);
	WRONG_UNLESS(opener_file(o, getppid(), secret) == -ENOENT);
	WRONG_UNLESS(opener_file(o, getppid(), core) == -ENOENT);
	WRONG_UNLESS(opener_file(o, 0, "/etc/passwd") == -ENOENT);
	WRONG_UNLESS(opener_file(o, getppid(), fifo) == -ENOENT);   /* and does not hang */
	WRONG_UNLESS(opener_file(o, 0, "/dev/null") == -ENOENT);
	WRONG_UNLESS(opener_file(o, 0, "relative") == -ENOENT);
	WRONG_UNLESS(opener_file(o, -1, shared) < 0);
	WRONG_UNLESS(opener_file(o, getppid(), "/nowhere") == -ENOENT);
	WRONG_UNLESS(opener_file(o, INT_MAX, shared) == -ESRCH);
	fd = opener_proc(o, 1, "comm");                              /* everybody may read that one */
	WRONG_UNLESS(fd >= 0 && read(fd, line, sizeof(line)) > 0);
	WRONG_UNLESS(opener_proc(o, getppid(), "maps") >= 0);
	WRONG_UNLESS((fd = opener_proc(o, 1, "maps")) < 0 || read(fd, line, 1) <= 0);
	WRONG_UNLESS(opener_proc(o, 1, "environ") < 0);
	WRONG_UNLESS(opener_proc(o, getppid(), "mem") < 0);
	WRONG_UNLESS(opener_proc(o, getppid(), "../../etc/shadow") < 0);
	WRONG_UNLESS(opener_proc(o, 0, "kcore") < 0);
	WRONG_UNLESS(opener_mapped(o, getppid(), 0, 0) >= 0);      /* its program, and nothing else: */
	WRONG_UNLESS(opener_mapped(o, getppid(), 1, 2) == -ENOENT);
	WRONG_UNLESS(opener_mapped(o, 1, 0, 0) == -ESRCH);
	WRONG_UNLESS(opener_mapped(o, 0, 0, 0) < 0);
	WRONG_UNLESS(opener_perf_map(o, 0) < 0);
	fd = opener_perf_map(o, getppid());
	WRONG_UNLESS(fd >= 0 && read(fd, line, 4) == 4 && !memcmp(line, "1 1 ", 4));
	WRONG_UNLESS(is_refused_to_a_child(o));
	WRONG_UNLESS(opener_file(o, 0, shared) >= 0);
	return 0;
}

/* The run, which is nobody's; its parent looks on. */
static int run_as_nobody(const struct identity *who)
{
	struct fault f = {0};
	int target = getppid();
	struct keeper *k = keeper_start(&(struct keeper_opts){
		.who = who, .targets = { .pids = &target, .npids = 1 } }, &f);
	int rc = k ? as_nobody(k, who) : 255;

	keeper_stop(k);
	return rc;
}

TEST(what_it_gives)
{
	struct identity who;
	struct fault f = {0};
	char map[64];
	int code, fd;
	void *mapped;
	pid_t pid;

	if (geteuid())
		SKIP("needs root");
	assert_int_equal(identity_find(&who, "nobody", &f), 1);
	fd = open(private, O_RDONLY | O_CLOEXEC);
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	close(fd);
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)getpid());
	write_file(map, "1 1 x\n", 6);
	pid = fork_child();
	if (!pid)
		_exit(run_as_nobody(&who));
	code = exit_code_of(pid);
	unlink(map);
	assert_int_equal(code, 0);
	munmap(mapped, 4096);
	identity_free(&who);
}

/* Whether the process ends within 5 s. */
static bool ends(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	int rc = p.fd < 0 || poll(&p, 1, 5000) == 1;

	if (p.fd >= 0)
		close(p.fd);
	return rc;
}

/* If the run is killed, the keeper's processes end. */
TEST(a_kill_ends_it)
{
	pid_t pid, keepers[8];
	int pipes[2];
	ssize_t n;

	if (geteuid())
		SKIP("needs root");
	assert_int_equal(pipe(pipes), 0);
	pid = fork_child();
	if (!pid) {
		struct identity who = { .uid = 65534, .gid = 65534 };
		struct fault f;
		struct keeper *k = keeper_start(&(struct keeper_opts){ .who = &who }, &f);
		size_t i = 0;

		for (; k && i < 8 && keeper_pid(k, i); i++)
			keepers[i] = keeper_pid(k, i);
		if (!k || write(pipes[1], keepers, i * sizeof(pid_t)) < 0)
			_exit(1);
		pause();
	}
	close(pipes[1]);
	n = read(pipes[0], keepers, sizeof(keepers));
	assert_true(n >= (ssize_t)sizeof(pid_t));
	for (size_t i = 0; i < (size_t)n / sizeof(pid_t); i++)
		assert_int_equal(kill(keepers[i], 0), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (size_t i = 0; i < (size_t)n / sizeof(pid_t); i++)
		assert_true(ends(keepers[i]));
	close(pipes[0]);
}

struct question {
	const struct opener *o;
	pid_t pid;
	int fd;
	atomic_bool done;
};

static void *ask_for_perf_map(void *arg)
{
	struct question *q = arg;

	q->fd = opener_perf_map(q->o, q->pid);
	atomic_store(&q->done, true);
	return NULL;
}

/* The longest answer about /proc, by how long the file took; 2: the file was not given. */
static double longest_beside(struct keeper *k, const struct identity *who)
{
	struct question q = { .o = keeper_opener(k), .pid = getppid() };
	uint64_t began, before, now, longest = 0;
	pthread_t thread;
	struct fault f;
	char line[16];
	int fd;

	if (identity_become(who, &f) || pthread_create(&thread, NULL, ask_for_perf_map, &q))
		return 2;
	for (began = now = now_ns(CLOCK_MONOTONIC); !atomic_load(&q.done);) {
		before = now;
		fd = opener_proc(q.o, q.pid, "maps");   /* of root, which only the keeper may read */
		if (fd < 0 || read(fd, line, sizeof(line)) <= 0)
			return 2;
		close(fd);
		now = now_ns(CLOCK_MONOTONIC);
		longest = now - before > longest ? now - before : longest;
	}
	pthread_join(thread, NULL);
	/* a slow machine has no time to parse it: that is a long file, too */
	return (q.fd < 0 && q.fd != -ETIME) || now == began ? 2 : (double)longest / (double)(now - began);
}

/* What the run asks of /proc is answered while a stranger's file is parsed. */
TEST(a_long_file_holds_up_nobody)
{
	enum { LINES = 1500000 };
	static const char line[] = "1000 10 some_function_of_a_compiler\n";
	struct identity who;
	struct fault f = {0};
	int code, target;
	pid_t pid;
	char map[64];
	FILE *out;

	if (geteuid())
		SKIP("needs root");
	assert_int_equal(identity_find(&who, "nobody", &f), 1);
	target = getpid();
	snprintf(map, sizeof(map), "/tmp/perf-%d.map", target);
	write_file(map, "", 0);
	out = fopen(map, "we");
	assert_non_null(out);
	for (int i = 0; i < LINES; i++)
		fputs(line, out);
	fclose(out);
	pid = fork_child();
	if (!pid) {
		struct keeper *k = keeper_start(&(struct keeper_opts){ .who = &who, .targets = { .pids = &target, .npids = 1 } }, &f);

		_exit(k ? (int)(100 * longest_beside(k, &who)) : 255);
	}
	code = exit_code_of(pid);
	unlink(map);
	identity_free(&who);
	assert_in_range(code, 0, 50);
}

AROUND_ALL(make_files, remove_files)
