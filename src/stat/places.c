/* SPDX-License-Identifier: Apache-2.0 */
/* The places in which perf-prof stat counts, and how they are added up. */
#include "base/textfile.h"
#include "stat/stat.h"

#include "base/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int read_number(const char *path)
{
	char text[32];
	int n = textfile_read(path, text, sizeof(text)) > 0 ? atoi(text) : 0;

	return n < 0 ? 0 : n;
}

/* As in perf stat, "S0-D0-C1": socket, die, core. */
static void core_name(int cpu, char *buf, size_t size)
{
	static const char *const files[] = { "physical_package_id", "die_id", "core_id" };
	char path[128];
	int ids[3];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, files[i]);
		ids[i] = read_number(path);
	}
	snprintf(buf, size, "S%d-D%d-C%d", ids[0], ids[1], ids[2]);
}

static void thread_name(pid_t tid, char *buf, size_t size)
{
	char path[64], comm[32];
	bool there;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	there = textfile_read(path, comm, sizeof(comm)) >= 0;
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(buf, size, "%s-%d", there ? comm : "?", (int)tid);
}

static void where_name(enum stat_by by, const struct task_target *task, int cpu, char *buf,
		       size_t size)
{
	buf[0] = '\0';
	switch (by) {
	case BY_ALL:
		break;
	case BY_CPU:
		snprintf(buf, size, "CPU%d", cpu);
		break;
	case BY_CORE:
		core_name(cpu, buf, size);
		break;
	case BY_THREAD:
		thread_name(task->tid, buf, size);
		break;
	case BY_CGROUP:
		snprintf(buf, size, "%s", task->cgroup);
		break;
	}
}

/* The index of the where with that name, which is added if it is new; -1: out of memory. */
static int find_where(struct counting *s, const char *name)
{
	for (size_t i = 0; i < s->nwheres; i++)
		if (!*name || (s->wheres[i] && !strcmp(s->wheres[i], name)))
			return (int)i;
	if (!ROOM_FOR_ONE(s->wheres, s->nwheres))
		return -1;
	s->wheres[s->nwheres] = *name ? strdup(name) : NULL;
	if (*name && !s->wheres[s->nwheres])
		return -1;
	return (int)s->nwheres++;
}

static struct pev_target target_of(const struct task_target *task, int cpu)
{
	if (task->cgroup_fd >= 0)
		return pev_target_cgroup(task->cgroup_fd, cpu);
	if (task->tid < 0)
		return pev_target_cpu(cpu);
	return cpu < 0 ? pev_target_thread(task->tid) : pev_target_thread_on_cpu(task->tid, cpu);
}

static int add_place(struct counting *s, const struct task_target *task, int cpu, struct fault *f)
{
	char name[512];
	int where;

	where_name(s->by, task, cpu, name, sizeof(name));
	where = ROOM_FOR_ONE(s->places, s->nplaces) ? find_where(s, name) : -1;
	if (where < 0)
		return fault_set(f, EXIT_FAILED, "stat: out of memory");
	s->places[s->nplaces++] = (struct stat_place){ target_of(task, cpu), cpu, (size_t)where };
	return 0;
}

/* A task is counted on any CPU, unless CPUs were given or are reported separately. */
static bool on_any_cpu(const struct counting *s, const struct task_target *task)
{
	return task->tid >= 0 && !s->config->common.cpus.n && s->by != BY_CPU && s->by != BY_CORE;
}

static int add_task(struct counting *s, const struct task_target *task, struct fault *f)
{
	if (on_any_cpu(s, task))
		return add_place(s, task, -1, f);
	for (size_t i = 0; i < s->targets.cpus.n; i++)
		if (add_place(s, task, s->targets.cpus.v[i], f))
			return -1;
	return 0;
}

int stat_places_make(struct counting *s, pid_t child, struct fault *f)
{
	struct task_target own = { .tid = child, .cgroup_fd = -1 };

	stat_places_free(s);
	if (s->on_command)
		return add_task(s, &own, f);
	for (size_t i = 0; i < s->targets.ntasks; i++)
		if (add_task(s, &s->targets.tasks[i], f))
			return -1;
	return 0;
}

void stat_places_free(struct counting *s)
{
	for (size_t i = 0; i < s->nwheres; i++)
		free(s->wheres[i]);
	free(s->wheres);
	free(s->places);
	s->wheres = NULL;
	s->places = NULL;
	s->nwheres = s->nplaces = 0;
}
