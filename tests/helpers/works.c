/* SPDX-License-Identifier: Apache-2.0 */
/*
 * works - work of which it is known how much it is, for tests of the analyses.
 *
 *   works [--wait] [--stay] WORK [ARGUMENT]
 *
 *   turns [N]       a thread, a second one, named "second" or "secondN", and a child: each computes and sleeps in
 *                   turns; tells "done", with --stay before any of them ends
 *   calls           system calls: 100 getppid, 7 close that fail, 5 openat that fail, 3 clock_nanosleep
 *   pages N         touches N fresh pages; tells "pages FROM TO"
 *   shares MS       computes: one_half, three_tenths, one_fifth of the time, as far as the machine keeps
 *                   its pace; ends with a line "one_half NS" for each, the CPU time that it took
 *   sleeps          wait_long 4 x 50 ms, wait_short 4 x 25 ms; ends with a line "wait_long NS" for each, how long
 *                   it was off the CPU
 *   duty US         300 ms of computing: US of it, then a sleep of the rest of a millisecond (of US, where that
 *                   is longer), again and again; ends with "on NS", all the CPU time it took, and "off NS", what
 *                   its sleeps lasted without the CPU time in them
 *   switches N      N times a byte to a second thread and back, on one CPU
 *   spin MS         computes in one thread for each CPU there is
 *   exit N          ends with N
 *   signal N        ends by signal N
 *
 * The first line of stdout is "pid P". With --wait it does nothing more until it reads a byte
 * from stdin (or its end); with --stay turns ends with stdin.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define KEPT __attribute__((noinline))
#else
#define KEPT __attribute__((noinline, noclone))
#endif

static volatile uint64_t sink;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* A function of its own: the C library's has no frame pointer, and so hides who calls it. */
KEPT static void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* ms of CPU time. */
static void compute(uint64_t ms)
{
	uint64_t end = cpu_ns() + ms * 1000000;

	while (cpu_ns() < end)
		for (int i = 0; i < 2000; i++)
			sink += (uint64_t)i;
}

/* ---- turns -------------------------------------------------------------------------- */

static bool stays;
static int done[2];
static const int first[] = { 6, 10 }, second[] = { 4, 15 }, third[] = { 8, 5 };

static void *take_turns(void *arg)
{
	const int *ms = arg;

	for (int i = 0; i < 12; i++) {
		compute((uint64_t)ms[0]);
		sleep_ms(ms[1]);
	}
	if (write(done[1], "", 1) != 1)
		exit(1);
	while (stays && ms != first)
		pause();
	return NULL;
}

static void turns(uint64_t n)
{
	char name[16] = "second", byte;
	pthread_t thread;
	pid_t pid;

	if (n)
		snprintf(name, sizeof(name), "second%u", (unsigned int)(n % 1000000));
	if (pipe(done))
		exit(1);
	pid = fork();
	if (!pid) {
		take_turns((void *)third);
		_exit(0);
	}
	pthread_create(&thread, NULL, take_turns, (void *)second);
	pthread_setname_np(thread, name);
	take_turns((void *)first);
	for (int i = 0; i < 3; i++)
		if (read(done[0], &byte, 1) != 1)
			exit(1);
	puts("done");
	fflush(stdout);
	while (stays && read(0, &byte, 1) > 0)
		;
	if (stays)
		kill(pid, SIGKILL);
	else
		pthread_join(thread, NULL);
	waitpid(pid, NULL, 0);
}

/* ---- calls -------------------------------------------------------------------------- */

static void calls(uint64_t n)
{
	uint64_t begin;

	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	for (int i = 0; i < 7; i++)
		close(-1);
	for (int i = 0; i < 5; i++)
		syscall(SYS_openat, AT_FDCWD, "/nonexistent/file", O_RDONLY);
	begin = now_ns();
	for (int i = 0; i < 3; i++)
		sleep_ms(20);
	printf("naps %" PRIu64 "\n", now_ns() - begin);
}

static void pages(uint64_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	madvise(at, n * page, MADV_NOHUGEPAGE);
	printf("pages %#lx %#lx\n", (unsigned long)at, (unsigned long)(at + (n - 1) * page));
	for (uint64_t i = 0; i < n; i++)
		at[i * page] = 1;
}

/* ---- shares: the same loop, so many times ---------------------------------------------- */

/* Each in a cache line of its own: a loop that lies across two takes twice as long on some CPUs. */
#define SHARE(name, parts)							\
	KEPT __attribute__((aligned(64))) static void name(uint64_t unit)	\
	{									\
		/* a frame of its own, though it calls nobody */		\
		uint64_t volatile *frame = __builtin_frame_address(0);		\
		(void)frame;							\
		for (uint64_t i = 0; i < unit * (parts); i++)			\
			__asm__ volatile("" : "+r"(i));				\
		sink += unit;							\
	}
SHARE(one_half, 5)
SHARE(three_tenths, 3)
SHARE(one_fifth, 2)

static const struct {
	const char *name;
	void (*run)(uint64_t unit);
} shared[] = { { "one_half", one_half }, { "three_tenths", three_tenths }, { "one_fifth", one_fifth } };

#define SHARED (sizeof(shared) / sizeof(*shared))

KEPT static void all_shares(uint64_t unit, uint64_t *ns)
{
	for (size_t i = 0; i < SHARED; i++) {
		uint64_t begin = cpu_ns();

		shared[i].run(unit);
		ns[i] += cpu_ns() - begin;
	}
}

static void shares(uint64_t ms)
{
	uint64_t end = cpu_ns() + ms * 1000000, told[SHARED] = { 0 };
	unsigned int seed = 1;

	/* No two rounds alike: a regular one would beat with the samples' clock. Each function takes many
	 * samples in a row: of so many the count is off by one at most, not by a coin's luck for each. */
	while (cpu_ns() < end)
		all_shares(1000000 + (uint64_t)rand_r(&seed) % 3000000, told);
	for (size_t i = 0; i < SHARED; i++)
		printf("%s %" PRIu64 "\n", shared[i].name, told[i]);
}

/* ---- sleeps ----------------------------------------------------------------------------- */

/* Tells how long it was off the CPU. */
KEPT static uint64_t asleep(uint64_t us)
{
	struct timespec t = { (long)(us / 1000000), (long)(us % 1000000 * 1000) };
	uint64_t wall = now_ns(), cpu = cpu_ns();

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	cpu = cpu_ns() - cpu;
	return now_ns() - wall - cpu;
}

KEPT static void wait_long(uint64_t *told)
{
	*told += asleep(50000);
}

KEPT static void wait_short(uint64_t *told)
{
	*told += asleep(25000);
}

static void sleeps(uint64_t n)
{
	uint64_t told[2] = { 0 };

	for (int i = 0; i < 4; i++) {
		wait_long(&told[0]);
		wait_short(&told[1]);
	}
	printf("wait_long %" PRIu64 "\nwait_short %" PRIu64 "\n", told[0], told[1]);
}

/* ---- duty ------------------------------------------------------------------------------- */

KEPT static void busy(uint64_t us)
{
	uint64_t end = cpu_ns() + us * 1000;

	while (cpu_ns() < end)
		for (int i = 0; i < 200; i++)
			sink += (uint64_t)i;
}

static void duty(uint64_t us)
{
	uint64_t off = 0;

	for (uint64_t computed = 0; computed < 300000; computed += us) {
		busy(us);
		off += asleep(us < 1000 ? 1000 - us : us);
	}
	printf("off %" PRIu64 "\non %" PRIu64 "\n", off, cpu_ns());
}

/* ---- switches --------------------------------------------------------------------------- */

static int there[2], back[2];

static void pass(int from, int to, uint64_t n)
{
	char byte = 0;

	while (n--)
		if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
			exit(1);
}

static void *answer(void *arg)
{
	pass(there[0], back[1], *(uint64_t *)arg);
	return NULL;
}

static void switches(uint64_t n)
{
	cpu_set_t one;
	pthread_t thread;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(there) || pipe(back) || write(back[1], "", 1) != 1)
		exit(1);
	pthread_create(&thread, NULL, answer, &n);
	pass(back[0], there[1], n);
	pthread_join(thread, NULL);
}

/* ---- the rest --------------------------------------------------------------------------- */

static void *spin_thread(void *arg)
{
	compute(*(uint64_t *)arg);
	return NULL;
}

static void spin(uint64_t ms)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));

	for (long i = 0; threads && i < n; i++)
		pthread_create(&threads[i], NULL, spin_thread, &ms);
	for (long i = 0; threads && i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

static void end_with(uint64_t n)
{
	exit((int)n);
}

static void end_by(uint64_t n)
{
	raise((int)n);
}

static const struct {
	const char *name;
	void (*run)(uint64_t n);
} works[] = {
	{ "turns", turns }, { "calls", calls }, { "pages", pages }, { "shares", shares },
	{ "sleeps", sleeps }, { "duty", duty }, { "switches", switches }, { "spin", spin }, { "exit", end_with },
	{ "signal", end_by },
};

int main(int argc, char **argv)
{
	bool waits = false;
	char byte;

	for (argc--, argv++; argc && !strncmp(*argv, "--", 2); argc--, argv++) {
		waits |= !strcmp(*argv, "--wait");
		stays |= !strcmp(*argv, "--stay");
	}
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	if (waits && read(0, &byte, 1) < 0)
		return 1;
	for (size_t i = 0; argc && i < sizeof(works) / sizeof(*works); i++)
		if (!strcmp(works[i].name, *argv)) {
			works[i].run(argc > 1 ? strtoull(argv[1], NULL, 10) : 0);
			return 0;
		}
	fprintf(stderr, "works: the head of works.c says what it takes\n");
	return 2;
}
