/* SPDX-License-Identifier: Apache-2.0 */
/* Results of `perf-prof list`: gathered once, printed as text or JSON. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "events/catalog.h"
#include "tracefmt/tracefmt.h"

#include <stdio.h>

struct listed {
	enum catalog_kind kind;
	char *name, *group, *event, *alias, *terms, *unit, *summary;   /* as in struct catalog_entry */
	int opens;
	const struct tracefmt *format;   /* tracepoints with -v; owned by the listing's db */
};

struct listing {
	struct listed *events;
	size_t n;
	struct tracefmt_db *formats;
	struct fault trouble;            /* the first part that could not be read; exit_code 0: none */
};

void listing_text(const struct listing *l, FILE *out);
/* 0, -ENOMEM or -EIO. */
int listing_json(const struct listing *l, FILE *out);
#endif
