/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/oncpu.h"

#include "base/room.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CPUS = 1 << 16 };             /* a damaged recording can have any number */

struct oncpu_cpu {
	bool known;                      /* `tid` is known */
	pid_t tid;                       /* the task that runs */
	uint64_t since;
};

static struct oncpu_cpu *cpu_of(struct oncpu *o, uint32_t cpu)
{
	return cpu < MAX_CPUS && ROOM_AT(o->cpus, o->ncpus, cpu) ? &o->cpus[cpu] : NULL;
}

void oncpu_see(struct oncpu *o, uint64_t time)
{
	if (!o->start)
		o->start = time;
}

uint64_t oncpu_take(struct oncpu *o, uint32_t cpu, pid_t tid, uint64_t time)
{
	struct oncpu_cpu *c = cpu_of(o, cpu);
	uint64_t since;

	if (!c)
		return 0;
	if (!c->known)   /* it has run since before the first event */
		*c = (struct oncpu_cpu){ true, tid, o->start };
	if (c->tid != tid || time <= c->since)
		return 0;
	since = c->since;
	c->since = time;
	return time - since;
}

bool oncpu_switch(struct oncpu *o, uint32_t cpu, pid_t prev, pid_t next, uint64_t time, uint64_t *ran)
{
	struct oncpu_cpu *c;
	bool seen;

	*ran = oncpu_take(o, cpu, prev, time);
	c = cpu_of(o, cpu);
	if (!c)
		return false;
	seen = c->tid == prev;
	*c = (struct oncpu_cpu){ true, next, time };
	return seen;
}

pid_t oncpu_task(const struct oncpu *o, uint32_t cpu)
{
	return cpu < o->ncpus && o->cpus[cpu].known ? o->cpus[cpu].tid : -1;
}

void oncpu_free(struct oncpu *o)
{
	free(o->cpus);
	*o = (struct oncpu){ 0 };
}
