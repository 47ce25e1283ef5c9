/* SPDX-License-Identifier: Apache-2.0 */
#include "report/screen_rescue.h"

#include "report/screen.h"

#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

enum { NENDS = 6, MOST_TOLD = 64 << 10 };
static const int ends[NENDS] = { SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* Global, for signal handlers. */
static struct {
	_Atomic int active;
	struct termios modes;
	char leave[256];
	size_t leave_len;
	int told;                    /* memfd in place of stderr; -1: stderr is unchanged */
	int saved_stderr;
	struct sigaction before[NENDS];
} rescue;

/* A terminal that does not accept output must not delay the end. */
static bool takes(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return poll(&p, 1, 200) == 1 && p.revents & POLLOUT;
}

/* ---- stderr ------------------------------------------------------------------------------ */

static void hold_stderr(void)
{
	fflush(stderr);
	rescue.told = rescue.saved_stderr = -1;
	if (!isatty(STDERR_FILENO))
		return;
	rescue.told = memfd_create("stderr", MFD_CLOEXEC);
	if (rescue.told < 0)
		return;
	rescue.saved_stderr = dup(STDERR_FILENO);
	if (rescue.saved_stderr >= 0 && dup2(rescue.told, STDERR_FILENO) >= 0)
		return;
	close(rescue.told);
	rescue.told = -1;
}

/* Writes the last part of the output held back, which may be long. */
static void release_stderr(void)
{
	char buf[1024];
	off_t size, at;
	ssize_t n;

	if (rescue.told < 0)
		return;
	size = lseek(rescue.told, 0, SEEK_END);
	dup2(rescue.saved_stderr, STDERR_FILENO);
	for (at = size > MOST_TOLD ? size - MOST_TOLD : 0; at < size; at += n) {
		n = pread(rescue.told, buf, sizeof(buf), at);
		if (n <= 0 || !takes(STDERR_FILENO) || write(STDERR_FILENO, buf, (size_t)n) < 0)
			break;
	}
	close(rescue.told);
	close(rescue.saved_stderr);
	rescue.told = -1;
}

/* ---- signals ----------------------------------------------------------------------------- */

void screen_rescue(void)
{
	if (!atomic_exchange(&rescue.active, 0))
		return;
	if (takes(STDOUT_FILENO) && write(STDOUT_FILENO, rescue.leave, rescue.leave_len) < 0)
		return;   /* the terminal is gone */
	tcsetattr(STDIN_FILENO, TCSANOW, &rescue.modes);
	release_stderr();
}

static void on_end(int sig)
{
	screen_rescue();
	raise(sig);   /* SA_RESETHAND: this ends the process */
}

/* Handlers installed by others, such as a sanitizer's, are kept. */
static void catch_ends(void)
{
	struct sigaction sa = { .sa_handler = on_end, .sa_flags = (int)SA_RESETHAND | SA_NODEFER };

	sigemptyset(&sa.sa_mask);
	for (int i = 0; i < NENDS; i++) {
		sigaction(ends[i], NULL, &rescue.before[i]);
		if (rescue.before[i].sa_handler == SIG_DFL)
			sigaction(ends[i], &sa, NULL);
	}
}

/* ---- begin and end ----------------------------------------------------------------------- */

static const char *capability(const char *name)
{
	const char *text = tigetstr(name);

	return text == (const char *)-1 ? NULL : text;
}

/* Colours off, keypad off, cursor on, normal screen: the sequence that endwin() would send. */
static void make_leave(void)
{
	static const char *const names[] = { "sgr0", "rmkx", "cnorm", "rmcup" };

	rescue.leave_len = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *text = capability(names[i]);
		size_t len = text ? strlen(text) : 0;

		if (len > sizeof(rescue.leave) - rescue.leave_len)
			continue;
		memcpy(rescue.leave + rescue.leave_len, text ? text : "", len);
		rescue.leave_len += len;
	}
}

int screen_rescue_begin(void)
{
	int trouble;

	if (setupterm(NULL, STDOUT_FILENO, &trouble) == ERR || !capability("cup"))
		return -1;
	make_leave();
	tcgetattr(STDIN_FILENO, &rescue.modes);
	hold_stderr();
	atomic_store(&rescue.active, 1);
	catch_ends();
	return 0;
}

void screen_rescue_end(void)
{
	if (!atomic_exchange(&rescue.active, 0))
		return;
	for (int i = 0; i < NENDS; i++)
		sigaction(ends[i], &rescue.before[i], NULL);
	fflush(stderr);
	release_stderr();
}
