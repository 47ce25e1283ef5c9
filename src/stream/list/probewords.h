/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a probe's args=, each [NAME=]WHAT[:TYPE]. WHAT is the kernel's (%di, $arg1, +8(%sp)), or a name:
 *
 *	a function's parameter, or a member of it: id, item->id; in uretprobe: ret
 *	a USDT probe's argument: arg1
 *	*: all others that can be fetched
 *
 * Names are replaced by what the kernel takes.
 */
#ifndef STREAM_LIST_PROBEWORDS_H
#define STREAM_LIST_PROBEWORDS_H

#include "stream/list/probefile.h"

struct probe_words {
	const struct spec_item *item;
	const struct probe_name *name;
	struct probe_file *file;
	int verbose;
};

/* The fetch arguments for one place: 0, or -1 with f. `args` is the value of the item's args=. */
int probe_words_expand(const struct probe_words *w, const struct place *place, const char *args, char *buf, size_t size,
		       struct fault *f);
#endif
