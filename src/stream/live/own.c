/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/live/own.h"

#include <string.h>
#include <unistd.h>

/* ns. After its EXIT record a process still schedules for the last time; its pid is free only after
 * it was reaped. */
enum { LAST_BREATH = 1000000000 };

static void mark(struct own *o, pid_t pid)
{
	if (o->counts)
		o->bits[(uint32_t)pid >> 6 & (OWN_WORDS - 1)] |= UINT64_C(1) << ((uint32_t)pid & 63);
}

/* Helpers may be added before the events are opened. */
void own_begin(struct own *o, bool counts)
{
	memset(o->bits, 0, sizeof(o->bits));
	o->counts = counts;
	o->all[0] = (struct own_process){ getpid(), UINT64_MAX, 0 };
	if (!o->n)
		o->n = 1;
	for (unsigned int i = 0; i < o->n; i++)
		mark(o, o->all[i].pid);
}

void own_add(struct own *o, pid_t pid)
{
	if (!o->n)
		o->n = 1;
	if (o->n == OWN_MAX) {
		memmove(&o->all[1], &o->all[2], (OWN_MAX - 2) * sizeof(*o->all));
		o->n--;
	}
	o->all[o->n++] = (struct own_process){ pid, UINT64_MAX, 0 };
	mark(o, pid);
}

/* Ends the oldest one with that pid: its EXIT record may be read after another helper got the same pid. */
void own_ended(struct own *o, uint32_t pid, uint64_t time)
{
	for (unsigned int i = 1; i < o->n && own_may_have(o, pid); i++)
		if ((uint32_t)o->all[i].pid == pid && o->all[i].until == UINT64_MAX) {
			o->all[i].until = time + LAST_BREATH;
			return;
		}
}

bool own_has(const struct own *o, uint32_t pid, uint64_t time)
{
	if (!o->counts || !own_may_have(o, pid))
		return false;
	for (unsigned int i = 0; i < o->n; i++)
		if ((uint32_t)o->all[i].pid == pid && time <= o->all[i].until)
			return true;
	return false;
}
