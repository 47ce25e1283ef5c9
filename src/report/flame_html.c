/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as a page; web/flame.js draws it. A stack is [number of frames shared with the
 * previous stack, weight, weight before, other frames...]. */
#include "report/flame_private.h"

#include "report/page.h"
#include "report/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

bool flame_has_html(void)
{
	return true;
}

static void put_frames(const struct folded *f, FILE *out)
{
	fputs("\"names\":[", out);
	for (uint32_t i = 0; i < folded_frames(f); i++) {
		fputs(i ? ",\n" : "", out);
		quote_json(folded_frame_name(f, i), out);
	}
	fputs("],\n\"kinds\":[", out);
	for (uint32_t i = 0; i < folded_frames(f); i++)
		fprintf(out, "%s%d", i ? "," : "", folded_frame_kind(f, i));
	fputs("],\n", out);
}

static size_t in_common(const struct folded_stack *a, const struct folded_stack *b)
{
	size_t n = 0;

	while (n < a->n && n < b->n && a->frames[n] == b->frames[n])
		n++;
	return n;
}

static void put_stacks(const struct folded_stack *stacks, size_t n, FILE *out)
{
	fputs("\"stacks\":[", out);
	for (size_t i = 0; i < n; i++) {
		size_t common = i ? in_common(&stacks[i - 1], &stacks[i]) : 0;

		fprintf(out, "%s[%zu,%" PRIu64 ",%" PRIu64, i ? ",\n" : "", common, stacks[i].weight,
			stacks[i].before);
		for (size_t k = common; k < stacks[i].n; k++)
			fprintf(out, ",%" PRIu32, stacks[i].frames[k]);
		fputc(']', out);
	}
	fputs("]}", out);
}

int flame_html(const struct folded *f, const struct flame_title *title, FILE *out)
{
	const char *name = title->title ? title->title : "flame graph";
	size_t n;
	struct folded_stack *stacks = folded_stacks(f, &n);

	if (!stacks)
		return -ENOMEM;
	page_begin(&flame_page, name, out);
	fputs("{\"title\":", out);
	quote_json(name, out);
	fputs(",\"unit\":", out);
	quote_json(flame_unit(title), out);
	fprintf(out, ",\"overflow\":%" PRIu64 ",\n", folded_overflow(f));
	put_frames(f, out);
	put_stacks(stacks, n, out);
	page_end(&flame_page, out);
	free(stacks);
	return 0;
}
