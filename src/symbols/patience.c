/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/patience.h"

#include "base/now.h"

enum { SHARE = 10, MOST = 1000000000, FIRM = MOST / 10, LOOK = 5000000, LEAST = 1000000 };   /* ns */

uint64_t patience_left(struct patience *p, bool firm)
{
	uint64_t now;

	if (!p->is_pressed)
		return UINT64_MAX;
	now = now_ns(CLOCK_MONOTONIC);
	p->left = p->since ? p->left + (now - p->since) / SHARE : MOST;
	p->left = p->left < MOST ? p->left : MOST;
	p->since = now;
	/* what was regained since the last look is no new wait: there would be one after the other, without an end */
	if (p->left < LEAST || (p->is_pressed(p->ctx) && !firm && p->left < MOST - FIRM))
		return 0;
	return p->left < LOOK ? p->left : LOOK;
}

void patience_end(struct patience *p, uint64_t begin)
{
	uint64_t waited = now_ns(CLOCK_MONOTONIC) - begin;

	p->left -= waited < p->left ? waited : p->left;
}
