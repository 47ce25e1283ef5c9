/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output.h"

#include "base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { FIRST_SAVED = 3 };   /* above the standard streams */

static int redirect(const struct output *out, int flags)
{
	int fd = outfile_open(out->path, O_CREAT | O_APPEND | flags, 0644), rc = 0;

	if (fd < 0)
		return fd;
	fflush(stdout);
	fflush(stderr);
	if (dup2(fd, STDOUT_FILENO) < 0 || (!out->results_alone && dup2(fd, STDERR_FILENO) < 0))
		rc = -errno;
	close(fd);
	return rc;
}

int output_start(struct output *out, struct fault *f)
{
	int rc;

	out->saved_stderr = -1;
	if (!out->path)
		return 0;
	out->saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, FIRST_SAVED);
	rc = redirect(out, O_TRUNC);
	if (rc)
		return outfile_refused("--output", out->path, rc, f);
	return 0;
}

int output_reopen(const struct output *out)
{
	return out->path ? redirect(out, 0) : 0;
}

void output_end(struct output *out)
{
	if (out->saved_stderr < FIRST_SAVED)
		return;   /* nothing was redirected */
	fflush(stdout);
	fflush(stderr);
	dup2(out->saved_stderr, STDERR_FILENO);
	close(out->saved_stderr);
	out->saved_stderr = -1;
}

int output_flush(FILE *out)
{
	struct pollfd p = { .fd = fileno(out) };

	if (fflush(out))
		return errno;
	return !ferror(out) ? 0 : poll(&p, 1, 0) == 1 && p.revents & POLLERR ? EPIPE : EIO;
}
