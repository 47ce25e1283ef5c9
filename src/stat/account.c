/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Context switches of a command whose user may not count them: the kernel's account of the command has them for everybody,
 * with those of the children that the command has waited for.
 */
#include "stat/stat.h"

#include "base/procstatus.h"
#include "base/unprivileged.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char why[] = "the kernel's account of the command (getrusage), with its start and the children that it waited for; "
			  "this user may not count the event";

static bool is_in_group(const struct counting *s, size_t event)
{
	for (size_t i = 0; i < s->nevents; i++)
		if (i != event && s->events[i].leader == s->events[event].leader)
			return true;
	return false;
}

bool stat_is_accounted(const struct counting *s, size_t event)
{
	const struct stat_event *e = &s->events[event];
	const struct perf_event_attr *attr = &e->buf.attr;

	return e->denied && !e->opened && s->on_command && s->by == BY_ALL && !s->config->interval_ms &&
	       attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES && !attr->exclude_kernel &&
	       !attr->exclude_user && !is_in_group(s, event);
}

const char *stat_account_advice(const struct counting *s, size_t event)
{
	const struct stat_event *e = &s->events[event];
	const struct perf_event_attr *attr = &e->buf.attr;
	const bool of_switches = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES;

	if (!e->denied || e->opened || !of_switches || !geteuid() || strstr(e->why, "needs no privilege"))
		return "";
	return "; without privilege: " UNPRIVILEGED_SWITCHES;
}

uint64_t stat_switches_of(pid_t pid)
{
	long by_itself = procstatus_of(pid, "\nvoluntary_ctxt_switches:"), by_others = procstatus_of(pid, "\nnonvoluntary_ctxt_switches:");

	return (uint64_t)(by_itself > 0 ? by_itself : 0) + (uint64_t)(by_others > 0 ? by_others : 0);
}

/* Needs no privilege. The file is there until somebody has waited for the process. */
struct stat_scheduled stat_scheduled(pid_t pid)
{
	struct stat_scheduled found = { 0 };
	unsigned long long ran, delayed;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	file = pid > 0 ? fopen(path, "re") : NULL;
	if (!file)
		return found;
	if (fscanf(file, "%llu %llu", &ran, &delayed) == 2)
		found = (struct stat_scheduled){ (double)ran / 1e9, (double)delayed / 1e9 };
	fclose(file);
	return found;
}

double stat_delayed(const struct stat_scheduled *ended, const struct stat_scheduled *before, double cpu)
{
	static const double most = 0.95;

	if (ended->ran <= 0 || ended->ran < most * cpu)
		return -1;
	return ended->delayed > before->delayed ? ended->delayed - before->delayed : 0;
}

void stat_take_account(struct counting *s, const struct rusage *usage, uint64_t before)
{
	const uint64_t all = (uint64_t)usage->ru_nvcsw + (uint64_t)usage->ru_nivcsw;

	for (size_t i = 0; i < s->nevents; i++)
		if (stat_is_accounted(s, i)) {
			struct count_row *r = &s->rows[i * s->nwheres];

			r->state = COUNT_GOOD;
			r->value = r->counted = (double)(all > before ? all - before : 0);
			r->accounted = true;
			r->why = why;
		}
}
