/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads - a process of many threads, or one whose tasks come and go, for tests.
 *
 *   threads N         N threads that sleep; a byte on stdin lets each make one getppid(2)
 *   threads N churn   N threads that each make one getppid(2) and end, in turns of N, until
 *                     stdin gives a byte or ends
 *   threads N fork    the same with processes
 *
 * The first line of stdout is "pid P", when all are there. After the byte stands "calls C",
 * all calls so far; the program stays until stdin ends.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int gate[2];            /* closed at the end that is written: all may go */
static pthread_t *ids;
static unsigned long n, total;

static void die(const char *what, int code)
{
	fprintf(stderr, "threads: %s: %s\n", what, strerror(code));
	exit(1);
}

static void *one_call(void *waits)
{
	char c;

	if (waits && read(gate[0], &c, 1) < 0)
		die("read", errno);
	syscall(SYS_getppid);
	return NULL;
}

static void start_threads(void *waits)
{
	pthread_attr_t small;
	int code;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
	for (unsigned long i = 0; i < n; i++) {
		code = pthread_create(&ids[i], &small, one_call, waits);
		if (code)
			die("pthread_create", code);
	}
}

static void end_threads(void)
{
	for (unsigned long i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	total += n;
}

static void turn_of_threads(void)
{
	start_threads(NULL);
	end_threads();
}

static void turn_of_processes(void)
{
	for (unsigned long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork", errno);
		if (!pid) {
			syscall(SYS_getppid);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	total += n;
}

static int is_told(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	return poll(&in, 1, 0) != 0;
}

static void say_pid(void)
{
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
}

static void churn(void (*turn)(void))
{
	say_pid();
	while (!is_told())
		turn();
}

static void sleepers(void)
{
	char c;

	start_threads(ids);
	say_pid();
	if (read(0, &c, 1) < 0)
		die("stdin", errno);
	close(gate[1]);
	end_threads();
}

int main(int argc, char **argv)
{
	char c;

	n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	ids = calloc(n, sizeof(*ids));
	if (!n || !ids || pipe(gate)) {
		fputs("usage: threads N [churn | fork]\n", stderr);
		return 2;
	}
	if (argc > 2)
		churn(strcmp(argv[2], "fork") ? turn_of_threads : turn_of_processes);
	else
		sleepers();
	printf("calls %lu\n", total);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
