/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fault.h"

#include <stdarg.h>
#include <stdio.h>

static int set(struct fault *f, int exit_code, const char *fmt, va_list ap)
{
	if (f) {
		f->exit_code = exit_code;
		vsnprintf(f->text, sizeof(f->text), fmt, ap);
	}
	return -1;
}

int fault_set(struct fault *f, int exit_code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(f, exit_code, fmt, ap);
	va_end(ap);
	return -1;
}

int fault_usage(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(f, EXIT_USAGE, fmt, ap);
	va_end(ap);
	return -1;
}

void fault_print(const struct fault *f)
{
	fprintf(stderr, "perf-prof: %s\n", f->text);
}
