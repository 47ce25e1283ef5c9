/* SPDX-License-Identifier: Apache-2.0 */
#include "base/artifact.h"

#include "base/outfile.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- removal of temporary files by signals ------------------------------------- */

enum { MAX_TEMPORARY = 8 };

static char *_Atomic temporaries[MAX_TEMPORARY];
static pid_t owner;          /* a forked child removes none of them */

static void end_without_them(int sig)
{
	for (int i = 0; getpid() == owner && i < MAX_TEMPORARY; i++) {
		const char *name = atomic_load(&temporaries[i]);

		if (name)
			unlink(name);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Installs handlers, where none are, that remove the temporary files before the signal ends the process. */
static void watch_signals(void)
{
	static const int sigs[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction now, ours = { .sa_handler = end_without_them };

	for (int i = 0; owner != getpid() && i < MAX_TEMPORARY; i++)
		atomic_store(&temporaries[i], NULL);
	owner = getpid();
	for (size_t i = 0; i < sizeof(sigs) / sizeof(*sigs); i++)
		if (!sigaction(sigs[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(sigs[i], &ours, NULL);
}

static void replace_temporary(char *old, char *name)
{
	for (int i = 0; i < MAX_TEMPORARY; i++) {
		char *expected = old;

		if (atomic_compare_exchange_strong(&temporaries[i], &expected, name))
			return;
	}
}

static int open_temporary(const char *path, char **name)
{
	int fd;

	watch_signals();
	fd = outfile_temporary(path, name);
	if (fd >= 0)
		replace_temporary(NULL, *name);
	return fd;
}

static void forget_temporary(struct artifact *a)
{
	if (a->temporary)
		replace_temporary(a->temporary, NULL);
	free(a->temporary);
	a->temporary = NULL;
}

/* ---- the file ------------------------------------------------------------------- */

/* Records errno, which stdio loses when a buffered write fails. */
static ssize_t put(void *cookie, const char *bytes, size_t n)
{
	struct artifact *a = cookie;
	size_t done = 0;

	while (done < n) {
		ssize_t rc = write(a->fd, bytes + done, n - done);

		if (rc <= 0) {
			a->error = a->error ? a->error : rc ? errno : ENOSPC;
			break;
		}
		done += (size_t)rc;
	}
	return (ssize_t)done;
}

static int close_fd(void *cookie)
{
	struct artifact *a = cookie;
	int rc = close(a->fd);

	if (rc && !a->error)
		a->error = errno;
	return rc;
}

int artifact_open(struct artifact *a, const char *option, const char *path, struct fault *f)
{
	static const cookie_io_functions_t calls = { .write = put, .close = close_fd };
	int fd;

	*a = (struct artifact){ .option = option, .path = path };
	fd = outfile_kind(path) ? outfile_open(path, 0, 0) : open_temporary(path, &a->temporary);
	if (fd < 0) {
		a->temporary = NULL;
		return outfile_refused(option, path, fd, f);
	}
	a->fd = fd;
	a->out = fopencookie(a, "w", calls);
	if (a->out)
		return 0;
	close(fd);
	artifact_abandon(a);
	return outfile_refused(option, path, -ENOMEM, f);
}

/* The reader of a pipe has closed it: not a failure. */
static bool reader_went_away(const struct artifact *a)
{
	struct pollfd p = { .fd = a->fd };

	return !a->temporary && poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

int artifact_close(struct artifact *a, struct fault *f)
{
	bool bad = ferror(a->out) || fflush(a->out);
	int rc = 0;

	if (bad && reader_went_away(a)) {
		fclose(a->out);
		a->out = NULL;
		return 0;
	}
	bad |= fclose(a->out) != 0;
	a->out = NULL;
	if (bad)
		rc = -(a->error ? a->error : EIO);
	else if (a->temporary)
		rc = outfile_rename(a->temporary, a->path);
	if (rc) {
		artifact_abandon(a);
		return outfile_refused(a->option, a->path, rc, f);
	}
	forget_temporary(a);
	return 0;
}

int artifact_interrupt(struct artifact *a, struct fault *f)
{
	bool is_file = a->temporary;

	if (is_file)
		artifact_abandon(a);
	else if (artifact_close(a, f))
		return -1;
	return fault_set(f, EXIT_INTERRUPTED, "interrupted: %s %s", strcmp(a->path, "-") ? a->path : "standard output",
			 is_file ? "was not changed" : "is incomplete");
}

void artifact_abandon(struct artifact *a)
{
	if (a->out)
		fclose(a->out);
	a->out = NULL;
	if (a->temporary)
		outfile_unlink(a->temporary);
	forget_temporary(a);
}

int artifact_check(const char *option, const char *path, struct fault *f)
{
	mode_t kind = outfile_kind(path);
	struct artifact a;

	if (kind && kind != S_IFDIR)
		return 0;   /* opening a FIFO would wait for its reader */
	if (artifact_open(&a, option, path, f))
		return -1;
	artifact_abandon(&a);
	return 0;
}
