/* SPDX-License-Identifier: Apache-2.0 */
/* Which mappings of watched tasks the names of addresses need. The rest of it is in stream.h. */
#ifndef STREAM_STATE_MAPPINGS_H
#define STREAM_STATE_MAPPINGS_H

#include <stdbool.h>

struct stream;

/* Whether samples have stacks: kilobytes in each. */
bool stream_has_stacks(const struct stream *s);
/* Whether mappings of data are asked for, too. */
bool mappings_have_data(const struct stream *s);
#endif
