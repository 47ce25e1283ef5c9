/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent.h"

#include <stdio.h>

size_t pev_error_text(const struct pev_error *err, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s: %s%s%s", err->asked, err->said,
			 err->remedy[0] ? "; " : "", err->remedy);

	if (n < 0 || !size)
		return 0;
	return (size_t)n < size ? (size_t)n : size - 1;
}
