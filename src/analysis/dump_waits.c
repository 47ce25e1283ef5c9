/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/dump_waits.h"

#include "analysis/durations/deadlocks.h"
#include "analysis/durations/waitargs.h"
#include "engine/callnames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "futex big (/usr/bin/lock)", "join of thread reader (4712)", or any lock "held by reader (4712)". */
static bool tells(const char *text)
{
	return strncmp(text, "futex 0x", strlen("futex 0x")) || strstr(text, " held by ");
}

static void find(struct waiton *on, struct dump_thread *t)
{
	struct waitargs c;
	char text[512];
	const char *call;

	if (waitargs_find(t->tid, &c) != WAITARGS_A_CALL || !c.pid || !(call = syscall_name(c.call)) || strcmp(call, "futex"))
		return;
	waitargs_text(on, &c, text, sizeof(text));
	if (tells(text) && waitargs_is_still(&c))
		t->waits = strdup(text);   /* NULL: not known, then */
}

void dump_waits_find(struct dump *d)
{
	struct waiton on = { 0 };

	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].tid && !d->v[i].runs)
			find(&on, &d->v[i]);
	waiton_free(&on);
}

void dump_waits_print_deadlocks(const struct dump *d)
{
	struct deadlocks found = { 0 };

	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].tid && d->v[i].waits)
			deadlocks_look(&found, d->v[i].tid);
	if (found.lines)
		putchar('\n');
	deadlocks_print(&found, NULL);
	deadlocks_free(&found);
}
