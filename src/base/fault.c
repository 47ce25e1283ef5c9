/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fault.h"

#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fault_set(struct fault *f, int exit_code, const char *fmt, ...)
{
	va_list ap;

	if (!f)
		return -1;
	f->exit_code = exit_code;
	f->error = 0;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	return -1;
}

int fault_unreadable(struct fault *f, const char *path, int error)
{
	fault_set(f, EXIT_FAILED, "cannot read %s: %s", path, strerror(abs(error)));
	if (f)
		f->error = abs(error);
	return -1;
}

/* The text quotes users, kernel and files: control characters are escaped, newlines stay. */
void fault_print(const struct fault *f)
{
	char line[sizeof(f->text) * 4];
	const char *p = f->text;

	fputs("perf-prof: ", stderr);
	while (*p) {
		size_t n = strcspn(p, "\n");

		escape_terminal(p, n, line, sizeof(line));
		fprintf(stderr, "%s\n", line);
		p += n + (p[n] == '\n');
	}
}
