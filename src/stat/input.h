/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several runs of commands read from standard input. Without this, the first run would read it, and the others would do less
 * work. A file is read by each run from where it was. What comes through a pipe or a socket is there only once.
 */
#ifndef STAT_INPUT_H
#define STAT_INPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct stat_input {
	off_t start;             /* of a file; -1: it is none */
	bool is_stream;
	bool told;               /* that runs read different parts of a stream */
};

void stat_input_begin(struct stat_input *in);
/* Before and after a run. */
void stat_input_rewind(const struct stat_input *in);
void stat_input_tell(struct stat_input *in);
/* Whether a shell can give the same to a command that it starts; *path: of the file, to be freed, or NULL if there is none. */
bool stat_input_can_repeat(const struct stat_input *in, char **path);
#endif
