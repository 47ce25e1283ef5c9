/* SPDX-License-Identifier: Apache-2.0 */
#include "base/note.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Thread_local const struct note_sink *redirected;

void note_redirect(const struct note_sink *sink)
{
	redirected = sink;
}

static void pass_on(const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	redirected->take(redirected->ctx, text);
}

int note_kept(int verbose)
{
	return redirected ? 1 : verbose;
}

bool note_is_shown(int verbose)
{
	return redirected ? verbose > 0 : verbose > 0 || (!verbose && isatty(STDERR_FILENO));
}

void note(int verbose, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	if (!note_is_shown(verbose))
		return;
	if (redirected) {
		va_start(ap, fmt);
		pass_on(fmt, ap);
		va_end(ap);
		return;
	}
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	fprintf(stderr, "perf-prof: %s\n", text);   /* in one write(2): others may write there, too */
	free(text);
}
