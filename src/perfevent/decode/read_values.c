/* SPDX-License-Identifier: Apache-2.0 */
/* Counter values in the layout of read(2), samples and READ records. */
#include "perfevent/decode/cursor.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static bool take_times(struct cursor *c, struct pev_read *r)
{
	return (!(r->format & PERF_FORMAT_TOTAL_TIME_ENABLED) || take_u64(c, &r->time_enabled)) &&
	       (!(r->format & PERF_FORMAT_TOTAL_TIME_RUNNING) || take_u64(c, &r->time_running));
}

/* nr, times, then for each counter: value, id, lost */
static bool take_group(struct cursor *c, struct pev_read *r)
{
	if (!take_u64(c, &r->nr) || !take_times(c, r))
		return false;
	if (r->nr > left(c) / 8)   /* also prevents overflow of the product below */
		return false;
	r->values = take_words(c, r->nr * r->stride);
	return r->values != NULL;
}

bool pev_take_read_(struct cursor *c, uint64_t read_format, struct pev_read *r)
{
	r->format = read_format;
	r->nr = 1;
	r->stride = 1 + !!(read_format & PERF_FORMAT_ID) + !!(read_format & PEV_FORMAT_LOST);
	if (read_format & PERF_FORMAT_GROUP)
		return take_group(c, r);
	/* value, times, id, lost: used in place */
	r->values = take_words(c, 1);
	return r->values && take_times(c, r) && take_words(c, r->stride - 1);
}

void pev_read_value(const struct pev_read *read, uint64_t i, struct pev_count *out)
{
	const uint64_t *v;

	memset(out, 0, sizeof(*out));
	if (i >= read->nr)
		return;
	v = read->values + i * read->stride;
	out->value = *v++;
	out->time_enabled = read->time_enabled;
	out->time_running = read->time_running;
	out->timed = !(~read->format & TIMES);
	if (!(read->format & PERF_FORMAT_GROUP))
		v += __builtin_popcountll(read->format & TIMES);
	if (read->format & PERF_FORMAT_ID)
		out->id = *v++;
	if (read->format & PEV_FORMAT_LOST)
		out->lost = *v;
}
