/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/durations/sleepers.h"

#include "base/room.h"

#include <stdio.h>

struct sleeper {
	pid_t tid;
	uint64_t switches;       /* context switches before the run */
};

bool sleepers_status(pid_t tid, char *letter, uint64_t *switches)
{
	unsigned long long n;
	char path[64], line[256];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	*switches = 0;
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "State: %c", letter) == 1)
			found++;
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) != 1 &&
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) != 1)
			continue;
		*switches += n;
		found++;
	}
	if (f)
		fclose(f);
	return found == 3;
}

void sleepers_add(struct sleepers *s, pid_t tid)
{
	char letter;

	if (!ROOM_FOR_ONE(s->all, s->n))
		return;
	s->all[s->n].tid = tid;
	s->n += sleepers_status(tid, &letter, &s->all[s->n].switches);
}

static void add(void *ctx, pid_t tid)
{
	sleepers_add(ctx, tid);
}

void sleepers_begin(struct sleepers *s, const struct switches *w)
{
	*s = (struct sleepers){ 0 };
	if (!w->recorded && !w->everybody)
		switches_each(w, add, s);
}

void sleepers_free(struct sleepers *s)
{
	free(s->all);
	*s = (struct sleepers){ 0 };
}

void sleepers_each(struct sleepers *s, void (*fn)(void *ctx, pid_t tid, enum task_state state), void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		enum task_state state;
		uint64_t switches;
		char letter;

		if (!sleepers_status(s->all[i].tid, &letter, &switches) || switches != s->all[i].switches)
			continue;
		s->all[kept++] = s->all[i];
		if (task_state_sleeps(letter, &state))
			fn(ctx, s->all[i].tid, state);
	}
	s->n = kept;
}
