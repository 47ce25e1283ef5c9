/* SPDX-License-Identifier: Apache-2.0 */
/* Events that the kernel counted, but did not deliver. */
#include "checks.h"

#include "stream/state/state.h"
#include "stream/summary.h"

TEST(what_is_missing)
{
	static const struct {
		struct stream_totals totals;
		enum stop_cause stop;
		uint64_t missing;
	} rows[] = {
		/* what has a reason is not missing */
		{ { .delivered = 1000, .lost = 200, .malformed = 30, .limited = 4, .skipped = 5, .filtered = 6, .beyond = 7,
		    .counted = 1252 }, 0, 0 },
		{ { .delivered = 82, .counted = 97 }, 0, 15 }, { { .delivered = 82, .skipped = 10, .counted = 97 }, 0, 5 },
		/* it may be unknown */
		{ { .delivered = 82, .counted = 97, .counted_other = true }, 0, 0 },
		{ { .delivered = 100, .counted = 97 }, 0, 0 },   /* after a source's -N */
		{ { .delivered = 100 }, 0, 0 },                  /* the counts were not read */
		/* nothing is after the consumer's stop: -N 68 */
		{ { .delivered = 68, .counted = 5146 }, STOP_CONSUMER, 0 },
		{ { .delivered = 68, .counted = 5146 }, STOP_SIGNAL, 5078 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stream s = { .loss.totals = rows[i].totals, .run.stop = rows[i].stop };
		uint64_t counted, n = summary_missing(&s, &counted);

		ARE(NUMBERS(i, n, counted), NUMBERS(i, rows[i].missing, rows[i].totals.counted));
	}
}
