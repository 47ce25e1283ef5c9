/* SPDX-License-Identifier: Apache-2.0 */
#include "base/note.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void note(int verbose, const char *fmt, ...)
{
	va_list ap;

	if (verbose < 0 || (verbose == 0 && !isatty(STDERR_FILENO)))
		return;
	va_start(ap, fmt);
	fputs("perf-prof: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
}
