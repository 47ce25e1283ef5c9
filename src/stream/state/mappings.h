/* SPDX-License-Identifier: Apache-2.0 */
/* Which mappings of watched tasks are needed to name addresses. More of it is in consumer.h. */
#ifndef STREAM_STATE_MAPPINGS_H
#define STREAM_STATE_MAPPINGS_H

#include <stdbool.h>

struct stream;

/* Whether samples carry stacks, kilobytes each. */
bool stream_has_stacks(const struct stream *s);
/* Whether an event is sampled each time it happens. */
bool stream_has_samples_of_each(const struct stream *s);
/* Whether an event does that is sampled each time it happens: a tracepoint, or page faults. */
bool stream_has_stack_of_each(const struct stream *s);
/* Whether mappings of data are needed, too. */
bool mappings_have_data(const struct stream *s);
#endif
