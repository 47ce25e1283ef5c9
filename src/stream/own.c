/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/own.h"

#include <string.h>
#include <unistd.h>

static void mark(struct own *o, pid_t pid)
{
	if (o->counts)
		o->bits[(uint32_t)pid >> 6 & (OWN_WORDS - 1)] |= UINT64_C(1) << ((uint32_t)pid & 63);
}

/* Helpers are there before the events are. */
void own_begin(struct own *o, bool counts)
{
	memset(o->bits, 0, sizeof(o->bits));
	o->counts = counts;
	o->pids[0] = getpid();
	if (!o->n)
		o->n = 1;
	for (unsigned int i = 0; i < o->n; i++)
		mark(o, o->pids[i]);
}

void own_add(struct own *o, pid_t pid)
{
	if (!o->n)
		o->n = 1;
	if (o->n == OWN_MAX) {
		memmove(&o->pids[1], &o->pids[2], (OWN_MAX - 2) * sizeof(*o->pids));
		o->n--;
	}
	o->pids[o->n++] = pid;
	mark(o, pid);
}

bool own_has(const struct own *o, uint32_t pid)
{
	if (!o->counts || !own_may_have(o, pid))
		return false;
	for (unsigned int i = 0; i < o->n; i++)
		if ((uint32_t)o->pids[i] == pid)
			return true;
	return false;
}
