/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/framefold.h"

#include "report/unnamed.h"
#include "symbols/dso.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_SIZE = 2048 };
_Static_assert((int)DSO_BUILD_SIZE <= (int)FOLDED_BUILD_SIZE, "a build is a text of this size");

static enum folded_kind kind_of(const struct frame *frame)
{
	if ((!frame->symbol && !frame->guest) || frame == callstacks_broken())
		return FOLDED_UNKNOWN;
	return frame->script ? FOLDED_SCRIPT : frame->kernel ? FOLDED_KERNEL : frame->inlined ? FOLDED_INLINED : FOLDED_USER;
}

/* Many functions of scripts have the same name: "<lambda> (job.py:12)". */
static const char *name_of(const struct frame *frame, char *buf)
{
	const char *slash = strrchr(frame->dso, '/');

	if (!frame->script || !frame->symbol || !*frame->dso)
		return frame->guest ? frame->dso : frame->symbol;
	snprintf(buf, SHOWN_SIZE, "%s (%s)", frame->symbol, slash ? slash + 1 : frame->dso);
	return buf;
}

const char *framefold_build(const struct frame *frame, char build[FOLDED_BUILD_SIZE])
{
	*build = '\0';
	if (frame->object && frame->symbol && is_unnamed(frame->symbol, frame->dso))
		dso_build_text(frame->object, build);
	return build;
}

uint32_t framefold(struct folded *f, const struct frame *frame)
{
	char shown[SHOWN_SIZE], build[FOLDED_BUILD_SIZE];

	if (frame->object && frame->symbol && is_unnamed(frame->symbol, frame->dso))
		folded_set_build(f, frame->symbol, framefold_build(frame, build));
	return folded_frame(f, name_of(frame, shown), kind_of(frame));
}

char *framefold_text(const struct callstack *stack)
{
	char *text = NULL;
	size_t size;
	FILE *out = stack ? open_memstream(&text, &size) : NULL;

	for (uint32_t i = stack ? stack->n : 0; out && i--;)
		fprintf(out, "%s%s", stack->frames[i]->symbol ? stack->frames[i]->symbol : "[unknown]", i ? ";" : "");
	if (out)
		fclose(out);
	return text;
}
