/* SPDX-License-Identifier: Apache-2.0 */
/* Without .html: npm, or the packages that it downloads, were not available. */
#include "report/flame_private.h"
#include "report/heatmap_private.h"

#include <errno.h>

bool flame_has_html(void)
{
	return false;
}

int flame_html(const struct folded *f, const struct flame_title *title, FILE *out)
{
	return -ENOSYS;
}

int heatmap_html(const struct heatmap *h, const struct heatmap_title *title, FILE *out)
{
	return -ENOSYS;
}
