/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"

#include "stream/watched/execs.h"
#include "stream/watched/sideband.h"

#include <stdio.h>
#include <unistd.h>

static const struct perf_clock any_clock = { .kind = CLOCK_PERF };   /* times are only compared with each other */

void stat_children_open(struct counting *s, pid_t child)
{
	struct task_target task = { .tid = child, .cgroup_fd = -1 };
	const struct targets t = { .tasks = &task, .ntasks = 1, .nthreads = 1, .cpus = s->targets.cpus };
	const struct sideband_opts opts = { .clock = &any_clock, .inherit = true, .mappings = SIDE_MAPS_NONE };

	if (geteuid() && s->config->common.inherit >= 0)
		s->children = sideband_open(&t, &opts);
}

static bool is_command(const void *ctx, pid_t pid)
{
	return pid == *(const pid_t *)ctx;
}

void stat_children_tell(struct counting *s, pid_t child)
{
	const bool told = *s->partial;
	const char *name = NULL;
	pid_t pid = 0;
	size_t n;

	if (!s->children || *s->unwatched)
		return;
	sideband_collect(s->children);
	n = execs_removed(sideband_execs(s->children), is_command, &child, &pid, &name);
	if (!n)
		return;
	unwatched_say_of_child(pid, name, n - 1, s->partial, sizeof(s->partial));
	if (!told && !s->counts_say_why)
		fprintf(stderr, "perf-prof: %s\n", s->partial);
}

void stat_children_close(struct counting *s)
{
	sideband_free(s->children);
	s->children = NULL;
}
