/* SPDX-License-Identifier: Apache-2.0 */
/* The process that parses for us: what it may, what it may not, and what becomes of it. */
#include "checks.h"

#include "symbols/jail/parser.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { BIG = 64 << 20 };

#define WORK PARSER_SYMBOLS
#define COUNTED PARSER_DEMANGLE

/* The first byte says what to do. */
static int work(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	const char *p = q->bytes;
	static volatile int *nowhere;
	char text[64];
	int n;

	switch (q->size ? p[0] : 0) {
	case 'e':                /* echo */
		return parser_put(out, q->bytes, q->size);
	case 'f':                /* files: what is in each */
		for (unsigned int i = 0; i < q->nfds; i++) {
			n = (int)pread(q->fds[i], text, sizeof(text), 0);
			if (n > 0 && parser_put(out, text, (size_t)n))
				return -ENOMEM;
		}
		return 0;
	case 'b':
		for (n = 0; n < BIG / 4096; n++)
			if (parser_put(out, (char[4096]){ 'b' }, 4096))
				return -ENOMEM;
		return 0;
	case 'p':                /* errors of transport, as a handler's own */
		return -EPIPE;
	case 's':
		*nowhere = 1;
		return 0;
	case 'a':
		abort();
	case 'h':
		for (;;)
			clock();
	case 'o':
		return open("/etc/passwd", O_RDONLY) < 0 ? -errno : 0;
	case 'x':
		return (int)fork();
	case 'k':
		return kill(1, 0);
	case 't':                /* of another process; abort() is one of its own */
		return (int)syscall(SYS_tgkill, 1, 1, 0);
	case 'c':                /* signals to others, when something can be read */
		return fcntl(0, F_SETOWN, 1) < 0 ? -errno : 0;
	case 'w':
		snprintf(text, sizeof(text), "%d %d", (int)getpid(), (int)q->nfds);
		return parser_put(out, text, strlen(text));
	}
	return -ENOMSG;
}

/* How often this worker was asked. */
static int counted(void **state, const struct parser_question *q, struct parser_bytes *out)
{
	int *n = *state ? *state : (*state = calloc(1, sizeof(*n)));

	++*n;
	return parser_put(out, n, sizeof(*n));
}

static int forgotten;

static void forget(void *state)
{
	forgotten++;
	free(state);
}

static const struct parser_row rows[PARSER_KINDS] = {
	[WORK] = { work, NULL }, [COUNTED] = { counted, forget },
};

static struct parser *p;
static struct parser_bytes out;  /* of the last answer */

static void start_for(enum parser_place place, unsigned int seconds)
{
	p = parser_new(&(struct parser_opts){ place, rows, seconds });
	assert_non_null(p);
}

static int start_apart(void **state)
{
	start_for(PARSER_APART, 2);
	return 0;
}

static int stop(void **state)
{
	parser_free(p);
	p = NULL;
	return 0;
}

static int ask(const char *what)
{
	return parser_ask(p, &(struct parser_question){ .kind = WORK, .bytes = what, .size = strlen(what) }, &out);
}

static int count(void)
{
	int n;

	assert_int_equal(parser_ask(p, &(struct parser_question){ .kind = COUNTED }, &out), 0);
	assert_int_equal(out.size, sizeof(n));
	memcpy(&n, out.data, sizeof(n));
	parser_bytes_free(&out);
	return n;
}

static void is_echo(void)
{
	assert_int_equal(ask("echo"), 0);
	assert_int_equal(out.size, 4);
	assert_memory_equal(out.data, "echo", 4);
	parser_bytes_free(&out);
}

TEST(here_and_apart)
{
	for (int place = PARSER_HERE; place <= PARSER_APART; place++) {
		start_for((enum parser_place)place, 2);
		assert_int_equal(parser_is_apart(p, &(struct parser_question){ 0 }), place == PARSER_APART);
		is_echo();
		assert_int_equal(ask("?"), -ENOMSG);
		assert_null(out.data);
		assert_int_equal(ask(""), -ENOMSG);
		assert_int_equal(ask("p"), -EPIPE);
		assert_int_equal(parser_ask(p, &(struct parser_question){ .kind = PARSER_KINDS }, &out), -EOPNOTSUPP);
		assert_int_equal(count(), 1);
		assert_int_equal(count(), 2);
		forgotten = 0;
		assert_int_equal(parser_deaths(p), 0);
		parser_free(p);
		assert_int_equal(forgotten, place == PARSER_HERE);
	}
	parser_free(NULL);
}

static int file_of(const char *text)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

TEST(descriptors_and_much)
{
	struct parser_question q = { .kind = WORK, .bytes = "f", .size = 1, .nfds = 4,
				     .fds = { file_of("one"), file_of("two"), file_of(""), file_of("3") } };
	char *much = malloc(BIG);

	start_for(PARSER_APART, 120);
	for (int i = 0; i < 300; i++) {   /* none is left open on either side */
		assert_int_equal(parser_ask(p, &q, &out), 0);
		assert_int_equal(out.size, 7);
		assert_memory_equal(out.data, "onetwo3", 7);
		parser_bytes_free(&out);
	}
	for (int i = 0; i < 4; i++)
		close(q.fds[i]);
	assert_int_equal(ask("b"), 0);
	assert_int_equal(out.size, BIG);
	parser_bytes_free(&out);
	memset(much, 'e', BIG);
	assert_int_equal(parser_ask(p, &(struct parser_question){ .kind = WORK, .bytes = much, .size = BIG }, &out), 0);
	assert_int_equal(out.size, BIG);
	assert_memory_equal(out.data, much, BIG);
	parser_bytes_free(&out);
	q.nfds = 5;
	assert_int_equal(parser_ask(p, &q, &out), -EINVAL);
	free(much);
	parser_free(p);
}

/* Whatever happens to a worker, the next question finds a new one. */
TEST_WITH(workers_die, start_apart, stop)
{
	static const char *const ways[] = { "s", "a", "x", "k", "t" };   /* the last three by seccomp */

	/* what libraries try and can do without is refused */
	assert_int_equal(ask("o"), -EACCES);
	parser_bytes_free(&out);
	assert_int_equal(ask("c"), -EACCES);
	parser_bytes_free(&out);
	assert_int_equal(parser_deaths(p), 0);
	for (unsigned int i = 0; i < COUNT(ways); i++) {
		assert_int_equal(count(), 1);
		assert_int_equal(ask(ways[i]), -EOWNERDEAD);
		assert_null(out.data);
		assert_int_equal(parser_deaths(p), i + 1);
		is_echo();
	}
	assert_int_equal(ask("h"), -ETIME);
	is_echo();
	kill(parser_worker_pid(p), SIGKILL);
	assert_int_equal(ask("echo"), -EOWNERDEAD);
	is_echo();
}

static bool is_third_look(void *looks)
{
	return ++*(int *)looks > 2;
}

/* Before its two seconds have passed; and who was busy with it ends, though nobody asks again. */
TEST_WITH(a_question_is_ended, start_apart, stop)
{
	int looks = 0;
	pid_t worker;

	is_echo();
	worker = parser_worker_pid(p);
	parser_bound(p, is_third_look, &looks);
	assert_int_equal(ask("h"), -ETIME);
	assert_int_equal(looks, 3);
	for (int i = 0; i < 1000 && !kill(worker, 0); i++)
		usleep(10000);
	assert_int_equal(kill(worker, 0), -1);
	assert_int_equal(ask("echo"), -ETIME);   /* it stays over */
	parser_bound(p, NULL, NULL);
	is_echo();
}

static int64_t children_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/* But what it used is what ours did: `time perf-prof` has it. */
TEST_WITH(no_child_of_ours, start_apart, stop)
{
	const int64_t before = children_us();
	pid_t worker;

	is_echo();
	worker = parser_worker_pid(p);
	assert_true(worker > 0);
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(children_us(), before);
	stop(NULL);
	assert_true(children_us() > before);
	for (int i = 0; i < 1000 && !kill(worker, 0); i++)
		usleep(10000);
	assert_int_equal(kill(worker, 0), -1);
}

/* A forked child has no part in the sockets: it parses itself, and the parent goes on. */
TEST_WITH(a_forked_child, start_apart, stop)
{
	char mine[32];
	int status;
	pid_t pid;

	is_echo();
	pid = fork();
	if (!pid) {
		snprintf(mine, sizeof(mine), "%d 0", (int)getpid());
		_exit(ask("w") || out.size != strlen(mine) || memcmp(out.data, mine, out.size));
	}
	is_echo();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	is_echo();
}

/* The line of a file in /proc that begins so. */
static void proc_line(pid_t pid, const char *begins, char *line, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, (int)size, f) && strncmp(line, begins, strcspn(begins, ":") + 1))
		;
	fclose(f);
}

/* In a user namespace there may be no such user. */
static bool has_user(void)
{
	unsigned int inside = 0, outside, n = 0;
	FILE *f = fopen("/proc/self/uid_map", "re");

	if (f && fscanf(f, "%u %u %u", &inside, &outside, &n) != 3)
		n = 0;
	if (f)
		fclose(f);
	return !inside && n > 2113929216;
}

TEST(it_has_no_privilege)
{
	static const char *const lines[] = {
		"CapPrm:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n",
		/* where there is such a user */
		"Uid:\t2113929216\t2113929216\t2113929216\t2113929216\n", "Groups:\t \n",
	};
	char line[256];
	pid_t pid;

	start_for(PARSER_AUTO, 2);
	assert_int_equal(parser_is_apart(p, &(struct parser_question){ 0 }), !geteuid());
	if (!parser_is_apart(p, &(struct parser_question){ 0 })) {
		stop(NULL);
		start_apart(NULL);
	}
	is_echo();
	pid = parser_worker_pid(p);
	for (size_t i = 0; i < COUNT(lines) - (!geteuid() && has_user() ? 0 : 2); i++) {
		proc_line(pid, lines[i], line, sizeof(line));
		assert_string_equal(line, lines[i]);
	}
	parser_free(p);
}

/* Not those of strerror(): "Owner died", "Timer expired". */
TEST(errors_have_words)
{
	assert_non_null(strstr(parser_error_text(EOWNERDEAD), "it is damaged"));
	assert_non_null(strstr(parser_error_text(ETIME), "too long"));
	assert_string_equal(parser_error_text(ENOENT), strerror(ENOENT));
}
