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

/* The text quotes users, kernel and files: control characters are escaped, newlines stay. It is one write(2): others may write
 * to stderr, too. */
void fault_print(const struct fault *f)
{
	static const char head[] = "perf-prof: ";
	char all[sizeof(head) + 5 * sizeof(f->text)];   /* an escape takes four bytes, the last newline one more */
	size_t n = (size_t)snprintf(all, sizeof(all), "%s", head);
	const char *p = f->text;

	while (*p) {
		size_t len = strcspn(p, "\n");

		n += escape_terminal(p, len, all + n, sizeof(all) - n - 1);
		all[n++] = '\n';
		p += len + (p[len] == '\n');
	}
	fwrite(all, 1, n, stderr);
}
