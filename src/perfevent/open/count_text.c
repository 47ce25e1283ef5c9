/* SPDX-License-Identifier: Apache-2.0 */
/* Counts as text. */
#include "perfevent/decode/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* Prints nothing for a count that ran all the time, or was read without times. */
static void put_share(struct text *t, const struct pev_count *count)
{
	struct pev_estimate seen;
	int rc = pev_count_estimate(count, &seen);

	if (rc == -ENODATA)
		pev_text_put_(t, " (never seen)");
	else if (!rc && !seen.exact)
		pev_text_put_(t, " (seen %.1f%% of the time)", 100 * seen.share);
}

int pev_count_text(const struct pev_count *count, const char *label, char *buf, size_t size)
{
	struct text t = pev_text_(buf, size);

	if (label)
		pev_text_put_(&t, "%s = ", label);
	pev_text_put_(&t, "%" PRIu64, count->value);
	put_share(&t, count);
	return (int)t.n;
}

int pev_group_text(const struct pev_group *g, const struct pev_count *counts, size_t n, char *buf,
		   size_t size)
{
	struct text t = pev_text_(buf, size);
	int width = 0;

	if (n != pev_group_size(g))
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		int digits = snprintf(NULL, 0, "%" PRIu64, counts[i].value);

		width = digits > width ? digits : width;
	}
	for (size_t i = 0; i < n; i++) {
		const char *label = pev_group_label(g, i);

		pev_text_put_(&t, "%*" PRIu64 " %s", width, counts[i].value, label ? label : "");
		put_share(&t, &counts[i]);
		pev_text_put_(&t, "\n");
	}
	return (int)t.n;
}
