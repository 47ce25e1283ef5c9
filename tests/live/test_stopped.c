/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that are stopped for a moment: that they go on, whatever happens, with the signals that they got meanwhile.
 * Requires the right to trace children (kernel.yama.ptrace_scope below 3, no seccomp filter against ptrace). */
#include "live.h"

#include "base/now.h"
#include "tasks/stopped.h"

#include <sys/mman.h>

struct shared {
	_Atomic uint64_t turns, signals;
};

static struct shared *shared;

static void count_signal(int signo)
{
	(void)signo;
	shared->signals++;
}

static void *turn(void *ctx)
{
	while (!ctx)
		shared->turns++;
	return ctx;
}

/* A child with two threads that count their turns. */
static pid_t start_counting(void)
{
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	pid = fork_child();
	if (!pid) {
		pthread_t other;

		signal(SIGUSR1, count_signal);
		pthread_create(&other, NULL, turn, NULL);
		turn(NULL);
		_exit(0);
	}
	while (shared->turns < 1000)
		sched_yield();
	return pid;
}

static void end_counting(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap(shared, sizeof(*shared));
}

static void wait_for_more(_Atomic uint64_t *number, uint64_t than)
{
	for (int i = 0; i < 3000 && *number <= than; i++)
		usleep(10000);
	assert_true(*number > than);
}

static void begin(struct stopped *s, pid_t pid)
{
	int rc = stopped_begin(s, pid);

	if (rc == -EPERM || rc == -ENOSYS)
		SKIP("needs the right to trace children");
	assert_int_equal(rc, 0);
}

TEST(all_threads_stop_and_go_on)
{
	const pid_t pid = start_counting();
	struct unwind_sample sample;
	struct stopped s;
	uint64_t turns;

	begin(&s, pid);
	turns = shared->turns;
	assert_int_equal(s.n, 2);
	for (size_t i = 0; i < s.n; i++) {
		assert_true(s.v[i].stopped && !s.v[i].foreign);
		assert_true(stopped_sample(&s.v[i], &sample) && sample.stack_size);
	}
	assert_non_null(stopped_find(&s, pid));
	kill(pid, SIGUSR1);
	assert_int_equal(shared->turns, turns);
	assert_int_equal(shared->signals, 0);
	stopped_free(&s);
	wait_for_more(&shared->turns, turns);
	wait_for_more(&shared->signals, 0);
	end_counting(pid);
}

/* Signals all the time: some threads stop on their way to a handler. Each signal that was sent alone arrives. */
TEST(no_signal_is_lost)
{
	const pid_t pid = start_counting();
	struct stopped s;

	for (uint64_t i = 0; i < 200; i++) {
		kill(pid, SIGUSR1);
		begin(&s, pid);
		stopped_free(&s);
		wait_for_more(&shared->signals, i);
	}
	assert_int_equal(shared->signals, 200);
	end_counting(pid);
}

TEST(killed_while_they_are_stopped)
{
	const pid_t pid = start_counting();
	int told[2];
	uint64_t turns;
	char c = 'n';
	pid_t tracer;

	assert_int_equal(pipe(told), 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	tracer = fork_child();
	if (!tracer) {
		struct stopped s;

		if (!stopped_begin(&s, pid))
			c = 'y';
		if (write(told[1], &c, 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(told[0], &c, 1), 1);
	turns = shared->turns;
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	if (c == 'y')
		wait_for_more(&shared->turns, turns);
	end_counting(pid);
	if (c != 'y')
		SKIP("needs the right to trace processes that are no children");
}

/* Where SIGCHLD is ignored, too, nobody waits until the time for it is over. One try without other load is enough. */
TEST(quick_without_sigchld)
{
	const pid_t pid = start_counting();
	uint64_t least = UINT64_MAX;

	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 10 && least > 500000000; i++) {
		const uint64_t begun = now_ns(CLOCK_MONOTONIC);
		struct stopped s;
		int rc = stopped_begin(&s, pid);
		const uint64_t took = now_ns(CLOCK_MONOTONIC) - begun;

		stopped_free(&s);
		least = rc || took < least ? took : least;
	}
	signal(SIGCHLD, SIG_DFL);
	end_counting(pid);
	assert_true(least <= 500000000);
}

/* vfork(2) waits uninterruptibly for its child. */
TEST(again_while_it_does_not_stop)
{
	struct stopped s;
	pid_t pid = fork_child();
	char state_of = '\0', path[64], text[128];

	if (!pid) {
		if (!vfork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (int i = 0; i < 3000 && state_of != 'D'; i++) {
		FILE *in = fopen(path, "re");

		assert_non_null(in);
		assert_non_null(fgets(text, sizeof(text), in));
		state_of = strrchr(text, ')')[2];
		fclose(in);
		usleep(10000);
	}
	assert_int_equal(state_of, 'D');
	for (int i = 0; i < 2; i++) {
		if (!i)
			begin(&s, pid);
		else
			assert_int_equal(stopped_begin(&s, pid), 0);
		assert_int_equal(s.n, 1);
		assert_false(s.v[0].stopped);
		stopped_free(&s);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(no_such_process)
{
	struct stopped s;
	pid_t pid = fork_child();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(stopped_begin(&s, pid), -ESRCH);
	assert_int_equal(s.n, 0);
}
