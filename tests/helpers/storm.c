/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storm - a known number of system calls, for tests, shows and benchmarks.
 *
 *   storm [--cpu C] [--wait] [--linger] getppid N [RATE]   N calls, at most RATE a second
 *   storm ...                           threads T N        N calls in each of T threads
 *   storm ...                           fork K N           N calls in each of K children
 *
 * The first line of stdout is "pid P". With --wait it does nothing more until it reads
 * a byte from stdin (or its end); with --linger it stays after the work until stdin
 * ends. The work done, it tells "calls N cpu_ns C wall_ns W": C is CPU time of the
 * whole process (its children's too), N the calls of all threads and children.
 *
 * Every call is getppid(2) by syscall(), one each, so `syscalls:sys_enter_getppid`
 * happens exactly N times in it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint64_t usage_ns(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000U +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000U;
}

static void die(const char *what)
{
	fprintf(stderr, "storm: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void calls(uint64_t n)
{
	while (n--)
		syscall(SYS_getppid);
}

/* Spread evenly over a second's milliseconds; sleeps to absolute times, so it keeps up. */
static void calls_at_rate(uint64_t n, uint64_t rate)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC), done = 0;

	for (uint64_t ms = 1; done < n; ms++) {
		uint64_t due = rate * ms / 1000, at = start + ms * 1000000;
		struct timespec t = { (time_t)(at / 1000000000), (long)(at % 1000000000) };

		if (due > n)
			due = n;
		calls(due - done);
		done = due;
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
	}
}

static void *thread_main(void *arg)
{
	calls(*(uint64_t *)arg);
	return NULL;
}

static void in_threads(uint64_t count, uint64_t n)
{
	pthread_t *threads = calloc(count, sizeof(*threads));

	if (!threads)
		die("threads");
	for (uint64_t i = 0; i < count; i++) {
		errno = pthread_create(&threads[i], NULL, thread_main, &n);
		if (errno)
			die("pthread_create");
	}
	for (uint64_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void in_children(uint64_t count, uint64_t n)
{
	for (uint64_t i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0) {
			calls(n);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text == '-') {
		fprintf(stderr, "storm: not a number: '%s'\n", text);
		exit(2);
	}
	return n;
}

static void pin(const char *text)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number(text), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("--cpu");
}

static void wait_byte(bool until_end)
{
	char c;

	while (read(0, &c, 1) > 0 && until_end)
		;
}

static int usage(void)
{
	fputs("usage: storm [--cpu C] [--wait] [--linger] getppid N [RATE] | threads T N | fork K N\n",
	      stderr);
	return 2;
}

/* Does the work that argv names; returns how many calls that was, or -1. */
static int64_t work(int argc, char **argv)
{
	uint64_t a = argc > 1 ? number(argv[1]) : 0, b = argc > 2 ? number(argv[2]) : 0;

	if (!strcmp(argv[0], "getppid") && argc == 2)
		calls(a);
	else if (!strcmp(argv[0], "getppid") && argc == 3 && b)
		calls_at_rate(a, b);
	else if (!strcmp(argv[0], "threads") && argc == 3)
		in_threads(a, b);
	else if (!strcmp(argv[0], "fork") && argc == 3)
		in_children(a, b);
	else
		return -1;
	return (int64_t)(strcmp(argv[0], "getppid") ? a * b : a);
}

int main(int argc, char **argv)
{
	bool wait_first = false, linger = false;
	uint64_t cpu, wall;
	int64_t n;

	for (argc--, argv++; argc && !strncmp(*argv, "--", 2); argc--, argv++) {
		if (!strcmp(*argv, "--wait")) {
			wait_first = true;
		} else if (!strcmp(*argv, "--linger")) {
			linger = true;
		} else if (!strcmp(*argv, "--cpu") && argc > 1) {
			pin(argv[1]);
			argc--, argv++;
		} else {
			return usage();
		}
	}
	if (argc < 2)
		return usage();
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	if (wait_first)
		wait_byte(false);
	cpu = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN);
	wall = clock_ns(CLOCK_MONOTONIC);
	n = work(argc, argv);
	if (n < 0)
		return usage();
	wall = clock_ns(CLOCK_MONOTONIC) - wall;
	cpu = usage_ns(RUSAGE_SELF) + usage_ns(RUSAGE_CHILDREN) - cpu;
	printf("calls %lld cpu_ns %llu wall_ns %llu\n", (long long)n, (unsigned long long)cpu,
	       (unsigned long long)wall);
	fflush(stdout);
	if (linger)
		wait_byte(true);
	return 0;
}
