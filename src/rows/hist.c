/* SPDX-License-Identifier: Apache-2.0 */
#include "rows/hist.h"

#include "report/json.h"

#include <string.h>

static const char *const units[HIST_UNITS] = { "ns", "us", "ms", "s" };

static unsigned int bucket_of(uint64_t ns)
{
	unsigned int unit = 0, power;

	for (; ns >= 1000 && unit + 1 < HIST_UNITS; unit++)
		ns /= 1000;
	power = ns ? 63 - (unsigned int)__builtin_clzll(ns) : 0;
	return unit * HIST_PER_UNIT + (power < HIST_PER_UNIT ? power : HIST_PER_UNIT - 1);
}

void hist_add(struct hist *h, uint64_t ns)
{
	h->n[bucket_of(ns)]++;
}

uint64_t hist_from(unsigned int bucket)
{
	uint64_t ns = bucket ? UINT64_C(1) << bucket % HIST_PER_UNIT : 0;

	for (unsigned int unit = bucket / HIST_PER_UNIT; unit; unit--)
		ns *= 1000;
	return ns;
}

uint64_t hist_to(unsigned int bucket)
{
	return bucket + 1 < HIST_BUCKETS ? hist_from(bucket + 1) : UINT64_MAX;
}

static char *border(unsigned int bucket, char *buf, size_t size)
{
	if (bucket >= HIST_BUCKETS)
		return strcpy(buf, "");
	snprintf(buf, size, "%u %s", bucket ? 1u << bucket % HIST_PER_UNIT : 0, units[bucket / HIST_PER_UNIT]);
	return buf;
}

static void print_bucket(const struct hist *h, unsigned int bucket, uint64_t all, uint64_t most, unsigned int width, FILE *out)
{
	const uint64_t n = h->n[bucket];
	const uint64_t bar = (n * width + most - 1) / most;   /* what happened at all has one */
	char from[32], to[32];

	fprintf(out, "%6s - %-6s  %9llu  %6.2f  |", border(bucket, from, sizeof(from)), border(bucket + 1, to, sizeof(to)),
		(unsigned long long)n, 100 * (double)n / (double)all);
	for (unsigned int i = 0; i < width; i++)
		fputc(i < bar ? '#' : ' ', out);
	fputs("|\n", out);
}

void hist_print(const struct hist *h, unsigned int width, FILE *out)
{
	unsigned int first = HIST_BUCKETS, last = 0;
	uint64_t all = 0, most = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		if (!h->n[i])
			continue;
		first = first < i ? first : i;
		last = i;
		all += h->n[i];
		most = most > h->n[i] ? most : h->n[i];
	}
	if (all)
		fputs("from   - to            calls  %calls\n", out);
	for (unsigned int i = first; all && i <= last; i++)
		print_bucket(h, i, all, most, width, out);
}

struct json_object *hist_json(const struct hist *h)
{
	struct json_object *all = json_object_new_array();
	bool good = all;

	for (unsigned int i = 0; i < HIST_BUCKETS && good; i++) {
		struct json_object *one;

		if (!h->n[i])
			continue;
		one = json_object_new_object();
		good = json_append(all, one) && json_put_unsigned(one, "from", hist_from(i)) &&
		       (hist_to(i) == UINT64_MAX || json_put_unsigned(one, "to", hist_to(i))) &&
		       json_put_unsigned(one, "calls", h->n[i]);
	}
	if (good)
		return all;
	json_object_put(all);
	return NULL;
}
