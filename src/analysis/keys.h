/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions over the fields of events: -k, and the attribute key=. */
#ifndef ANALYSIS_KEYS_H
#define ANALYSIS_KEYS_H

#include "analysis/analysis.h"
#include "expr/expr.h"

/* The expression, for that event. place: in the event's item, of an attribute's value; or
 * NULL, of an option called `option`. 0, or -1 with f. */
int key_compile(struct expr **key, const struct stream_event *event, const char *text,
		const char *option, struct fault *f);
/* Its value as a number; of text a hash. False: it has none for this sample. */
bool key_of(const struct expr *key, const struct analysis_sample *s, uint64_t *value);
#endif
