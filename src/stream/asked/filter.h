/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters. The kernel evaluates what it can, and perf-prof evaluates the rest on the samples that
 * pass. A conjunction is split: of pid>10 && _pid!=0, the kernel gets pid>10.
 */
#ifndef STREAM_ASKED_FILTER_H
#define STREAM_ASKED_FILTER_H

#include "expr/expr.h"
#include "stream/asked/schema.h"

/* A parsed filter. All NULL: no filter. */
struct filter {
	char *kernel;                 /* in the syntax of the kernel */
	struct expr *here;
	char *text;                   /* of `here`: a part of the user's text, for messages */
	bool named;                   /* `here` reads _comm */
	uint64_t failed;              /* events for which `here` could not be evaluated */
};

enum filter_fate {
	FILTER_SPLIT,
	FILTER_NO_EXPRESSION,         /* no valid expression, err says why; the kernel's own syntax may still
				       * accept it */
	FILTER_NO_FIELDS,             /* valid, but not for the fields of this event; err says why */
	FILTER_NO_MEMORY,
};

/* Parses a filter and splits it. all_here: nothing goes to the kernel. */
enum filter_fate filter_split(struct filter *filter, const char *text,
			      const struct expr_schema *schema, bool all_here,
			      struct expr_error *err);
void filter_free(struct filter *filter);
/* Whether it compares the name of a task, as the kernel keeps it, with a longer text, which is never equal; err says so. */
bool filter_names_longer(const char *text, const struct expr_schema *schema, struct expr_error *err);

struct stream_event;

/* Whether the sample passes the part that is evaluated here. Only for events with `filter_here`. */
bool filter_passes(const struct stream_event *event, const struct perf_event_header *rec,
		   const void *raw, uint32_t raw_size, uint32_t cpu);
#endif
