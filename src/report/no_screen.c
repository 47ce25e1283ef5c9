/* SPDX-License-Identifier: Apache-2.0 */
/* Without ncurses tables are plain text on terminals, too. */
#include "report/screen.h"

bool screen_is_possible(void)
{
	return false;
}

struct screen *screen_open(const struct screen_opts *opts)
{
	return NULL;
}

void screen_show(struct screen *s, struct table *t, const char *head)
{
}

bool screen_poll(struct screen *s)
{
	return false;
}

bool screen_is_paused(const struct screen *s)
{
	return false;
}

void screen_close(struct screen *s)
{
}

void screen_rescue(void)
{
}
