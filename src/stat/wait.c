/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Before Linux 6.9, threads other than the first of their process have no pidfd. */
enum { LOOK_AGAIN_MS = 50 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void stat_wait_restart(struct stat_wait *w, uint64_t interval_ms)
{
	struct itimerspec it = {
		.it_interval = { (time_t)(interval_ms / 1000), (long)(interval_ms % 1000) * 1000000 },
	};

	it.it_value = it.it_interval;
	if (w->timer >= 0)
		timerfd_settime(w->timer, 0, &it, NULL);
}

int stat_wait_begin(struct stat_wait *w, uint64_t interval_ms, struct fault *f)
{
	sigset_t set;

	*w = (struct stat_wait){ .signals = -1, .timer = -1, .task = -1 };
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &w->before);
	w->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (interval_ms)
		w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->signals >= 0 && (!interval_ms || w->timer >= 0))
		return 0;
	fault_set(f, EXIT_FAILED, "stat: cannot set up signals and timer: %s", strerror(errno));
	stat_wait_end(w);
	return -1;
}

void stat_wait_end(struct stat_wait *w)
{
	close_fd(&w->signals);
	close_fd(&w->timer);
	close_fd(&w->task);
	sigprocmask(SIG_SETMASK, &w->before, NULL);
}

/* Forwards a signal sent by kill(2). The command gets signals from the terminal itself. */
static void hand_on(const struct signalfd_siginfo *info, const struct workload *child)
{
	if (child && child->pid > 0 && info->ssi_code <= 0)
		kill(child->pid, (int)info->ssi_signo);
}

static bool take_signal(struct stat_wait *w, const struct workload *child)
{
	struct signalfd_siginfo info;

	if (read(w->signals, &info, sizeof(info)) != sizeof(info))
		return false;
	w->signaled++;
	hand_on(&info, child);
	return true;
}

static bool has_tasks(const struct stat *s)
{
	return s->targets.ntasks && s->targets.tasks[0].tid >= 0;
}

/* Chooses a running watched task to wait for; sets w->gone if there is none. */
static void choose_task(struct stat_wait *w, const struct stat *s)
{
	close_fd(&w->task);
	for (size_t i = 0; i < s->targets.ntasks; i++) {
		pid_t tid = s->targets.tasks[i].tid;
		struct pollfd p;

		if (kill(tid, 0) && errno == ESRCH)
			continue;
		p = (struct pollfd){ (int)syscall(SYS_pidfd_open, tid, 0), POLLIN, 0 };
		if (p.fd >= 0 && poll(&p, 1, 0) > 0) {   /* a zombie */
			close(p.fd);
			continue;
		}
		w->task = p.fd;
		return;
	}
	w->gone = true;
}

enum stat_woke stat_wait(struct stat_wait *w, const struct stat *s, const struct workload *child)
{
	bool tasks = !child && has_tasks(s);
	uint64_t ticks;

	for (;;) {
		struct pollfd p[3] = {
			{ w->signals, POLLIN, 0 }, { w->timer, POLLIN, 0 }, { -1, POLLIN, 0 },
		};

		if (tasks && w->task < 0)
			choose_task(w, s);
		if (tasks && w->gone)
			return WOKE_END;
		p[2].fd = child ? child->pidfd : w->task;
		poll(p, 3, tasks && w->task < 0 ? LOOK_AGAIN_MS : -1);
		if (p[2].revents && child)
			return WOKE_END;
		if (p[2].revents)
			close_fd(&w->task);
		if (p[0].revents && take_signal(w, child))
			return w->signaled > 1 ? WOKE_SECOND_SIGNAL : WOKE_SIGNAL;
		if (p[1].revents && read(w->timer, &ticks, sizeof(ticks)) == sizeof(ticks))
			return WOKE_INTERVAL;
	}
}
