/* SPDX-License-Identifier: Apache-2.0 */
#include "perfdata/read/reading.h"

#include "base/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int reading_fault(const struct perfdata_reader *r, struct fault *f, uint64_t at, const char *fmt, ...)
{
	char text[1600];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return fault_set(f, EXIT_FAILED, "%s: at offset %#" PRIx64 ": %s", r->name, at, text);
}

int reading_failed(const struct perfdata_reader *r, struct fault *f)
{
	return reading_fault(r, f, window_at(&r->w), "%s", strerror(-r->w.error));
}

int reading_no_memory(struct fault *f)
{
	return fault_set(f, EXIT_FAILED, "out of memory");
}

char *reading_text(const char *text, size_t len)
{
	char *raw = text ? strndup(text, len) : NULL, *safe = raw ? escape_whole(raw) : NULL;

	free(raw);
	return safe;
}

int reading_at(const struct perfdata_reader *r, uint64_t at, void *out, size_t n)
{
	char *to = out;

	while (n) {
		ssize_t got = pread(r->w.fd, to, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -ENODATA;
		at += (uint64_t)got;
		to += got;
		n -= (size_t)got;
	}
	return 0;
}

uint64_t perfdata_end(const struct perfdata_reader *r)
{
	struct stat st;

	if (r->w.end != UINT64_MAX || !r->w.seekable)
		return r->w.end;
	return fstat(r->w.fd, &st) ? UINT64_MAX : (uint64_t)st.st_size;
}
