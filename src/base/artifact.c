/* SPDX-License-Identifier: Apache-2.0 */
#include "base/artifact.h"

#include "base/caller.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refused(const char *option, const char *path, const struct caller_rights *r, struct fault *f)
{
	int error = errno;

	if (r->changed && (error == EACCES || error == EPERM))
		return fault_set(f, EXIT_FAILED, "%s %s: %s for user %u, who ran sudo and would "
				 "own the file; name a file that this user may write", option,
				 path, strerror(error), (unsigned int)r->uid);
	return fault_set(f, EXIT_FAILED, "%s %s: %s", option, path, strerror(error));
}

/* ---- where it goes ------------------------------------------------------------------ */

/* The descriptor that the path is another name of, or -1. */
static int descriptor_of(const char *path)
{
	uint64_t n;

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	if (!strncmp(path, "/dev/fd/", 8) && !units_u64(path + 8, &n) && n <= INT16_MAX)
		return (int)n;
	return -1;
}

/* A descriptor to write to directly; -2: a file is to be made, -1 with errno. */
static int open_directly(const char *path)
{
	int fd = descriptor_of(path);
	struct stat st;

	if (fd >= 0)
		return fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (stat(path, &st))
		return errno == ENOENT ? -2 : -1;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (S_ISREG(st.st_mode))
		return -2;
	return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

/* Creates DIR/.NAME.XXXXXX. */
static int open_temporary(struct artifact *a)
{
	const char *slash = strrchr(a->path, '/'), *name = slash ? slash + 1 : a->path;
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (asprintf(&a->temporary, "%.*s.%.200s.XXXXXX", (int)(name - a->path), a->path, name) < 0) {
		a->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(a->temporary, O_CLOEXEC);
	if (fd >= 0)
		fchmod(fd, 0666 & ~mask);
	else
		free(a->temporary), a->temporary = NULL;
	return fd;
}

/* stdio forgets why a write failed that it made on its own. */
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
	struct caller_rights rights;
	int fd;

	*a = (struct artifact){ .option = option, .path = path };
	caller_begin(&rights);
	fd = open_directly(path);
	if (fd == -2)
		fd = open_temporary(a);
	caller_end(&rights);
	if (fd < 0)
		return refused(option, path, &rights, f);
	a->fd = fd;
	a->out = fopencookie(a, "w", calls);
	if (a->out)
		return 0;
	close(fd);
	refused(option, path, &rights, f);
	artifact_abandon(a);
	return -1;
}

/* Of a pipe: a way to be done, and no failure. */
static bool reader_went_away(const struct artifact *a)
{
	struct pollfd p = { .fd = a->fd };

	return !a->temporary && poll(&p, 1, 0) == 1 && p.revents & POLLERR;
}

int artifact_close(struct artifact *a, struct fault *f)
{
	struct caller_rights rights;
	bool bad = ferror(a->out) || fflush(a->out);

	if (bad && reader_went_away(a)) {
		fclose(a->out);
		a->out = NULL;
		return 0;
	}
	bad |= fclose(a->out) != 0;
	a->out = NULL;
	caller_begin(&rights);
	if (bad)
		errno = a->error ? a->error : EIO;
	else if (a->temporary)
		bad = rename(a->temporary, a->path) != 0;
	caller_end(&rights);
	if (bad) {
		refused(a->option, a->path, &rights, f);
		artifact_abandon(a);
		return -1;
	}
	free(a->temporary);
	a->temporary = NULL;
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
			 is_file ? "is as it was" : "has what came before");
}

void artifact_abandon(struct artifact *a)
{
	struct caller_rights rights;

	if (a->out)
		fclose(a->out);
	a->out = NULL;
	if (a->temporary) {
		caller_begin(&rights);
		unlink(a->temporary);
		caller_end(&rights);
	}
	free(a->temporary);
	a->temporary = NULL;
}

int artifact_check(const char *option, const char *path, struct fault *f)
{
	struct artifact a;
	struct stat st;

	if (descriptor_of(path) >= 0 || (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return 0;   /* opening a pipe would wait for its reader */
	if (artifact_open(&a, option, path, f))
		return -1;
	artifact_abandon(&a);
	return 0;
}
