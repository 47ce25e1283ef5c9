/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/PID/maps. */
#ifndef TASKS_PROCMAPS_H
#define TASKS_PROCMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct procmaps_line {
	uint64_t start, end, pgoff;
	bool exec;
	uint32_t maj, min;
	uint64_t ino;
	char *path;              /* newlines that the kernel wrote as \012 are newlines; may be "" */
};

/* Takes one line, without its end, apart; `path` points into it. False if it is none. */
bool procmaps_parse(char *line, size_t len, struct procmaps_line *out);
#endif
