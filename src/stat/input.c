/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/input.h"

#include "base/note.h"

#include <poll.h>
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
	note(1, "stdin is a pipe, and each run reads what the runs before it have left, which may be nothing: give all runs the same file "
	     "(< FILE)");
}
