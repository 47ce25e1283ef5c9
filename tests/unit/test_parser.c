/* SPDX-License-Identifier: Apache-2.0 */
/* The process that parses for us: what it may, what it may not, and what becomes of it. */
#include "cmocka_all.h"

#include "symbols/jail/parser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

static struct parser *start_for(enum parser_place place, unsigned int seconds)
{
	struct parser *p = parser_new(&(struct parser_opts){ place, rows, seconds });

	assert_non_null(p);
	return p;
}

static struct parser *start(enum parser_place place)
{
	return start_for(place, 2);
}

static int ask(struct parser *p, const char *what, struct parser_bytes *out)
{
	return parser_ask(p, &(struct parser_question){ .kind = WORK, .bytes = what,
							.size = strlen(what) }, out);
}

static int count(struct parser *p)
{
	struct parser_bytes out;
	int n;

	assert_int_equal(parser_ask(p, &(struct parser_question){ .kind = COUNTED }, &out), 0);
	assert_int_equal(out.size, sizeof(n));
	memcpy(&n, out.data, sizeof(n));
	parser_bytes_free(&out);
	return n;
}

static void is_echo(struct parser *p)
{
	struct parser_bytes out;

	assert_int_equal(ask(p, "echo", &out), 0);
	assert_int_equal(out.size, 4);
	assert_memory_equal(out.data, "echo", 4);
	parser_bytes_free(&out);
}

static void here_and_apart(void **state)
{
	for (int place = PARSER_HERE; place <= PARSER_APART; place++) {
		struct parser *p = start((enum parser_place)place);
		struct parser_bytes out;

		assert_int_equal(parser_is_apart(p, &(struct parser_question){ 0 }), place == PARSER_APART);
		is_echo(p);
		assert_int_equal(ask(p, "?", &out), -ENOMSG);
		assert_null(out.data);
		assert_int_equal(ask(p, "", &out), -ENOMSG);
		assert_int_equal(ask(p, "p", &out), -EPIPE);
		assert_int_equal(parser_ask(p, &(struct parser_question){ .kind = PARSER_KINDS }, &out),
				 -EOPNOTSUPP);
		assert_int_equal(count(p), 1);
		assert_int_equal(count(p), 2);
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

static void descriptors_and_much(void **state)
{
	struct parser *p = start_for(PARSER_APART, 120);
	struct parser_question q = { .kind = WORK, .bytes = "f", .size = 1, .nfds = 4,
				     .fds = { file_of("one"), file_of("two"), file_of(""), file_of("3") } };
	struct parser_bytes out;
	char *much = malloc(BIG);

	for (int i = 0; i < 300; i++) {   /* none is left open on either side */
		assert_int_equal(parser_ask(p, &q, &out), 0);
		assert_int_equal(out.size, 7);
		assert_memory_equal(out.data, "onetwo3", 7);
		parser_bytes_free(&out);
	}
	for (int i = 0; i < 4; i++)
		close(q.fds[i]);
	assert_int_equal(ask(p, "b", &out), 0);
	assert_int_equal(out.size, BIG);
	parser_bytes_free(&out);
	memset(much, 'e', BIG);
	assert_int_equal(parser_ask(p, &(struct parser_question){ .kind = WORK, .bytes = much,
								  .size = BIG }, &out), 0);
	assert_int_equal(out.size, BIG);
	assert_memory_equal(out.data, much, BIG);
	parser_bytes_free(&out);
	q.nfds = 5;
	assert_int_equal(parser_ask(p, &q, &out), -EINVAL);
	free(much);
	parser_free(p);
}

/* Whatever happens to a worker, the next question finds a new one. */
static void workers_die(void **state)
{
	static const char *const ways[] = { "s", "a", "x", "k", "t" };   /* the last three by seccomp */
	struct parser *p = start(PARSER_APART);
	struct parser_bytes out;

	/* what libraries try and can do without is refused */
	assert_int_equal(ask(p, "o", &out), -EACCES);
	parser_bytes_free(&out);
	assert_int_equal(ask(p, "c", &out), -EACCES);
	parser_bytes_free(&out);
	assert_int_equal(parser_deaths(p), 0);
	for (unsigned int i = 0; i < COUNT(ways); i++) {
		assert_int_equal(count(p), 1);
		assert_int_equal(ask(p, ways[i], &out), -EOWNERDEAD);
		assert_null(out.data);
		assert_int_equal(parser_deaths(p), i + 1);
		is_echo(p);
	}
	assert_int_equal(ask(p, "h", &out), -ETIME);
	is_echo(p);
	kill(parser_worker_pid(p), SIGKILL);
	assert_int_equal(ask(p, "echo", &out), -EOWNERDEAD);
	is_echo(p);
	parser_free(p);
}

static bool is_third_look(void *looks)
{
	return ++*(int *)looks > 2;
}

/* Before its two seconds have passed; and who was busy with it ends, though nobody asks again. */
static void a_question_is_ended(void **state)
{
	struct parser *p = start(PARSER_APART);
	struct parser_bytes out;
	int looks = 0;
	pid_t worker;

	is_echo(p);
	worker = parser_worker_pid(p);
	parser_bound(p, is_third_look, &looks);
	assert_int_equal(ask(p, "h", &out), -ETIME);
	assert_int_equal(looks, 3);
	for (int i = 0; i < 1000 && !kill(worker, 0); i++)
		usleep(10000);
	assert_int_equal(kill(worker, 0), -1);
	assert_int_equal(ask(p, "echo", &out), -ETIME);   /* it stays over */
	parser_bound(p, NULL, NULL);
	is_echo(p);
	parser_free(p);
}

static void no_child_of_ours(void **state)
{
	struct parser *p = start(PARSER_APART);
	pid_t worker;

	is_echo(p);
	worker = parser_worker_pid(p);
	assert_true(worker > 0);
	assert_int_equal(waitpid(-1, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
	parser_free(p);
	for (int i = 0; i < 1000 && !kill(worker, 0); i++)
		usleep(10000);
	assert_int_equal(kill(worker, 0), -1);
}

/* A forked child has no part in the sockets: it parses itself, and the parent goes on. */
static void a_forked_child(void **state)
{
	struct parser *p = start(PARSER_APART);
	struct parser_bytes out;
	char mine[32];
	int status;
	pid_t pid;

	is_echo(p);
	pid = fork();
	if (!pid) {
		snprintf(mine, sizeof(mine), "%d 0", (int)getpid());
		_exit(ask(p, "w", &out) || out.size != strlen(mine) || memcmp(out.data, mine, out.size));
	}
	is_echo(p);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	is_echo(p);
	parser_free(p);
}

/* The line of a file in /proc that begins so. */
static void proc_line(pid_t pid, const char *begins, char *line, size_t size)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, (int)size, f) && strncmp(line, begins, strlen(begins)))
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

static void it_has_no_privilege(void **state)
{
	struct parser *p = start(PARSER_AUTO);
	char line[256];
	pid_t pid;

	assert_int_equal(parser_is_apart(p, &(struct parser_question){ 0 }), !geteuid());
	if (!parser_is_apart(p, &(struct parser_question){ 0 })) {
		parser_free(p);
		p = start(PARSER_APART);
	}
	is_echo(p);
	pid = parser_worker_pid(p);
	proc_line(pid, "CapPrm:", line, sizeof(line));
	assert_string_equal(line, "CapPrm:\t0000000000000000\n");
	proc_line(pid, "NoNewPrivs:", line, sizeof(line));
	assert_string_equal(line, "NoNewPrivs:\t1\n");
	proc_line(pid, "Seccomp:", line, sizeof(line));
	assert_string_equal(line, "Seccomp:\t2\n");
	if (!geteuid() && has_user()) {
		proc_line(pid, "Uid:", line, sizeof(line));
		assert_string_equal(line, "Uid:\t2113929216\t2113929216\t2113929216\t2113929216\n");
		proc_line(pid, "Groups:", line, sizeof(line));
		assert_string_equal(line, "Groups:\t \n");
	}
	parser_free(p);
}

/* Not those of strerror(): "Owner died", "Timer expired". */
static void errors_have_words(void **state)
{
	assert_non_null(strstr(parser_error_text(EOWNERDEAD), "it is damaged"));
	assert_non_null(strstr(parser_error_text(ETIME), "too long"));
	assert_string_equal(parser_error_text(ENOENT), strerror(ENOENT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(here_and_apart),
		cmocka_unit_test(errors_have_words),
		cmocka_unit_test(descriptors_and_much),
		cmocka_unit_test(workers_die),
		cmocka_unit_test(a_question_is_ended),
		cmocka_unit_test(no_child_of_ours),
		cmocka_unit_test(a_forked_child),
		cmocka_unit_test(it_has_no_privilege),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
