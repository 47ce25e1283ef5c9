/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters: what the kernel can evaluate goes to the kernel, and the rest is evaluated
 * here, on what the kernel lets pass. A conjunction is split: of pid>10 && _pid!=0 the
 * kernel gets pid>10.
 */
#ifndef STREAM_ASKED_FILTER_H
#define STREAM_ASKED_FILTER_H

#include "expr/expr.h"
#include "stream/asked/schema.h"

/* A filter taken apart. All NULL: there is none. */
struct filter {
	char *kernel;                 /* in the kernel's words */
	struct expr *here;
	char *text;                   /* of `here`, for messages: a part of the user's words */
	uint64_t failed;              /* events for which `here` had no value */
};

enum filter_fate {
	FILTER_SPLIT,
	FILTER_NO_EXPRESSION,         /* err says why; the kernel's own syntax goes further */
	FILTER_NO_FIELDS,             /* it is one, but not over this event: err says why */
	FILTER_NO_MEMORY,
};

/* Takes the text apart. all_here: the kernel gets nothing. */
enum filter_fate filter_split(struct filter *filter, const char *text,
			      const struct expr_schema *schema, bool all_here,
			      struct expr_error *err);
void filter_free(struct filter *filter);

struct stream_event;

/* Whether the sample passes what is evaluated here. The event has such a filter. */
bool filter_passes(const struct stream_event *event, const struct perf_event_header *rec,
		   const void *raw, uint32_t raw_size, uint32_t cpu);
#endif
