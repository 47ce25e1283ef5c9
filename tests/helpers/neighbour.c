/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbour WHAT [PROGRAM]: what any user may do to a profiler of the whole machine, until it is killed:
 *	spin	uses the CPU in its own program
 *	jit	uses the CPU in memory that it has made executable; "pid N" is printed first
 *	comms	changes its name, as often as it can
 *	forks	has children that end at once
 *	threads	has threads that end at once
 *	execs	becomes PROGRAM, itself, again and again
 *	maps	maps and unmaps PROGRAM as code
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void spin(const char *program)
{
	(void)program;
	for (volatile int i = 0;; i++)
		;
}

/* Calls itself for ever. */
static const unsigned char endless[] = {
#if defined(__x86_64__)
	0xeb, 0xfe,                      /* jmp . */
#elif defined(__aarch64__)
	0x00, 0x00, 0x00, 0x14,          /* b . */
#else
	0
#endif
};

static void jit(const char *program)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)program;
	if (memory == MAP_FAILED || sizeof(endless) == 1)
		exit(1);
	memcpy(memory, endless, sizeof(endless));
	__builtin___clear_cache((char *)memory, (char *)memory + sizeof(endless));
	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	((void (*)(void))(uintptr_t)memory)();
}

static void comms(const char *program)
{
	char name[16];

	(void)program;
	for (unsigned int i = 0;; i++) {
		snprintf(name, sizeof(name), "\33]0;%x", i);
		prctl(PR_SET_NAME, name);
	}
}

static void forks(const char *program)
{
	(void)program;
	for (;;) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

static void *end_at_once(void *arg)
{
	return arg;
}

static void threads(const char *program)
{
	pthread_t thread;

	(void)program;
	for (;;)
		if (!pthread_create(&thread, NULL, end_at_once, NULL))
			pthread_join(thread, NULL);
}

static void execs(const char *program)
{
	execl(program, program, "execs", program, (char *)NULL);
}

static void maps(const char *program)
{
	int fd = open(program, O_RDONLY | O_CLOEXEC);

	for (;;) {
		void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (memory == MAP_FAILED)
			exit(1);
		munmap(memory, 4096);
	}
}

static const struct {
	const char *what;
	void (*run)(const char *program);
} all[] = {
	{ "spin", spin }, { "jit", jit }, { "comms", comms }, { "forks", forks }, { "threads", threads },
	{ "execs", execs }, { "maps", maps },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(argv[1], all[i].what))
			all[i].run(argc > 2 ? argv[2] : "");
	fprintf(stderr, "neighbour: unknown, or failed: %s\n", argc > 1 ? argv[1] : "");
	return 1;
}
