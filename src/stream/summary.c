/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/summary.h"

#include "base/note.h"
#include "stream/private.h"

#include <stdio.h>

void summary_tell(const struct stream *s)
{
	struct stream_totals t;
	int verbose = stream_verbosity(s->opts);

	stream_totals(s, &t);
	if (t.lost || verbose > 0)
		fprintf(stderr, "perf-prof: %llu events delivered, %llu lost%s\n",
			(unsigned long long)t.delivered, (unsigned long long)t.lost,
			t.lost_at_least ? " at least" : "");
	if (t.limited)
		note(verbose, "%llu events were dropped by --sampling-limit",
		     (unsigned long long)t.limited);
	if (verbose > 0 && s->replay)
		fprintf(stderr, "perf-prof: %llu recorded, %llu malformed\n", (unsigned long long)t.counted,
			(unsigned long long)t.malformed);
	else if (verbose > 0 && t.counted_other)
		fprintf(stderr, "perf-prof: %llu perf-prof's own and not delivered, %llu malformed\n",
			(unsigned long long)t.skipped, (unsigned long long)t.malformed);
	else if (verbose > 0)
		fprintf(stderr, "perf-prof: %llu counted by the kernel, %llu of them perf-prof's own and "
			"not delivered, %llu malformed\n", (unsigned long long)t.counted,
			(unsigned long long)t.skipped, (unsigned long long)t.malformed);
	if (verbose > 0 && t.beyond)
		fprintf(stderr, "perf-prof: %llu came after a source's own -N\n",
			(unsigned long long)t.beyond);
	if (verbose > 0 && t.filtered)
		fprintf(stderr, "perf-prof: %llu dropped by filters that perf-prof evaluates itself\n",
			(unsigned long long)t.filtered);
	if (t.late)
		fprintf(stderr, "perf-prof: %llu events came late, out of order: %s\n",
			(unsigned long long)t.late, s->replay
			? "the recording holds more between two marks than is held here"
			: "the machine was overloaded");
}
