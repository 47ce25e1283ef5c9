/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/progress.h"

#include "base/now.h"
#include "stream/replay/replay.h"

#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

enum { QUIET_MS = 700, EACH_MS = 200 };

void progress_begin(struct progress *p, const struct analysis *a)
{
	*p = (struct progress){ .off = a->opts->stream.verbose < 0 || !isatty(STDERR_FILENO) };
	p->begun = now_ns(CLOCK_MONOTONIC);
	p->next = p->begun + QUIET_MS * MS;
}

void progress_show(struct progress *p, const struct analysis *a)
{
	const struct replay *r = stream_replay(a->stream);
	uint64_t t = now_ns(CLOCK_MONOTONIC), at, size;

	if (t < p->next)
		return;
	p->next = t + EACH_MS * MS;
	p->shown = true;
	if (r && replay_place(r, &at, &size))
		fprintf(stderr, "\r\033[Kperf-prof: %s: %.0f %%, %llu samples", a->ops->name,
			100.0 * (double)(at < size ? at : size) / (double)size, (unsigned long long)p->samples);
	else
		fprintf(stderr, "\r\033[Kperf-prof: %s: %llu samples", a->ops->name,
			(unsigned long long)p->samples);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
