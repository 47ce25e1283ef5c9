/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks in speedscope's file format, as one sampled profile. */
#include "report/flame_private.h"

#include "report/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The units known to the format. */
static const char *unit_of(const struct flame_title *title)
{
	static const char *const units[][2] = {
		{ "ns", "nanoseconds" }, { "us", "microseconds" }, { "ms", "milliseconds" },
		{ "s", "seconds" }, { "bytes", "bytes" },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(flame_unit(title), units[i][0]))
			return units[i][1];
	return "none";
}

static void put_frames(const struct folded *f, FILE *out)
{
	for (uint32_t i = 0; i < folded_frames(f); i++) {
		fputs(i ? ",\n{\"name\":" : "{\"name\":", out);
		quote_json(folded_frame_name(f, i), out);
		fputc('}', out);
	}
}

static void put_stack(const struct folded_stack *s, FILE *out)
{
	for (size_t k = 0; k < s->n; k++)
		fprintf(out, "%s%" PRIu32, k ? "," : "[", s->frames[k]);
	fputc(']', out);
}

int flame_speedscope(const struct folded *f, const struct flame_title *title, FILE *out)
{
	size_t n;
	struct folded_stack *stacks = folded_stacks(f, &n);

	if (!stacks)
		return -ENOMEM;
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"perf-prof\",\n\"shared\":{\"frames\":[\n", out);
	put_frames(f, out);
	fputs("]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":", out);
	quote_json(title->title ? title->title : "", out);
	fprintf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[\n",
		unit_of(title), folded_total(f) - folded_overflow(f));
	for (size_t i = 0; i < n; i++) {
		put_stack(&stacks[i], out);
		fputs(i + 1 < n ? ",\n" : "", out);
	}
	fputs("],\n\"weights\":[", out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", stacks[i].weight);
	fputs("]}]}\n", out);
	free(stacks);
	return 0;
}
