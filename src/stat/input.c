/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/input.h"

#include "base/note.h"

#include <ctype.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void stat_input_begin(struct stat_input *in)
{
	struct stat st;
	const bool open = !fstat(STDIN_FILENO, &st);

	*in = (struct stat_input){ .start = open && S_ISREG(st.st_mode) ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1,
				   .is_stream = open && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) };
}

void stat_input_rewind(const struct stat_input *in)
{
	if (in->start >= 0)
		lseek(STDIN_FILENO, in->start, SEEK_SET);
}

void stat_input_tell(struct stat_input *in)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	if (!in->is_stream || poll(&p, 1, 0) <= 0)
		return;
	in->is_stream = false;   /* said once */
	in->told = true;
	note(1, "stdin is a pipe, and each run reads what the runs before it have left, which may be nothing: give all runs the same file "
	     "(< FILE)");
}

/* Whether the path still leads to what is open there: a file may have been deleted or replaced. */
static bool leads_to(const char *path, int fd)
{
	struct stat named, open;

	for (const char *c = path; *c; c++)
		if (iscntrl((unsigned char)*c))
			return false;
	return !stat(path, &named) && !fstat(fd, &open) && named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

bool stat_input_can_repeat(const struct stat_input *in, char **path)
{
	char found[PATH_MAX];
	ssize_t n;

	*path = NULL;
	if (in->start < 0)
		return !in->told;
	n = readlink("/proc/self/fd/0", found, sizeof(found) - 1);
	if (in->start > 0 || n < 0)
		return false;
	found[n] = '\0';
	*path = leads_to(found, STDIN_FILENO) ? strdup(found) : NULL;
	return *path;
}
