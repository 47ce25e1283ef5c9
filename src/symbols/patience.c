/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols/patience.h"

#include <time.h>

enum { SHARE = 10, MOST = 1000000000, FIRM = MOST / 10, LOOK = 5000000 };   /* ns */

uint64_t patience_begin(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint64_t patience_left(struct patience *p, bool firm)
{
	uint64_t now;

	if (!p->is_pressed)
		return UINT64_MAX;
	now = patience_begin();
	p->left = p->since ? p->left + (now - p->since) / SHARE : MOST;
	p->left = p->left < MOST ? p->left : MOST;
	p->since = now;
	if (p->is_pressed(p->ctx) && !firm && p->left < MOST - FIRM)
		return 0;
	return p->left < LOOK ? p->left : LOOK;
}

void patience_end(struct patience *p, uint64_t begin)
{
	uint64_t waited = patience_begin() - begin;

	p->left -= waited < p->left ? waited : p->left;
}
