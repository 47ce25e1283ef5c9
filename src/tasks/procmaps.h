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
	char *path;              /* the kernel's \012 is a newline again; may be "" */
};

/* Parses one line without its newline; `path` points into it. False: not such a line. */
bool procmaps_parse(char *line, size_t len, struct procmaps_line *out);
#endif
