/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"

#include "stream/watched/execs.h"
#include "stream/watched/sideband.h"

#include <stdio.h>
#include <unistd.h>

static const struct perf_clock any_clock = { .kind = CLOCK_PERF };   /* times are only compared with each other */

enum { MOST_EVENTS = 4096 };   /* opening more takes too long */

void stat_children_open(struct counting *s, pid_t child)
{
	struct task_target task = { .tid = child, .cgroup_fd = -1 };
	const struct targets command = { .tasks = &task, .ntasks = 1, .nthreads = 1, .cpus = s->targets.cpus };
	const struct targets *t = s->on_command ? &command : &s->targets;
	const struct sideband_opts opts = { .clock = &any_clock, .inherit = true, .mappings = SIDE_MAPS_NONE };

	if (geteuid() && s->config->common.inherit >= 0 && t->nthreads && sideband_descriptors(t) <= MOST_EVENTS)
		s->children = sideband_open(t, &opts);
}

/* The command itself was reported when it executed the program. */
static bool is_command(const void *ctx, pid_t pid)
{
	return pid == *(const pid_t *)ctx;
}

/* Again, if there are any: the record of a mapping may be in a ring that was read before that of the end. */
static size_t removed(struct counting *s, pid_t child, pid_t *pid, const char **name)
{
	size_t n = 0;

	for (int i = 0; i < 2 && (!i || n); i++) {
		sideband_collect(s->children);
		n = execs_removed(sideband_execs(s->children), is_command, &child, pid, name);
	}
	return n;
}

void stat_children_tell(struct counting *s, pid_t child)
{
	const bool told = *s->partial;
	const char *name = NULL;
	pid_t pid = 0;
	size_t n;

	if (!s->children || *s->unwatched)
		return;
	n = removed(s, child, &pid, &name);
	if (!n)
		return;
	unwatched_say_of_child(pid, name, n - 1, s->on_command ? UNWATCHED_IN_COMMAND : UNWATCHED_IN_PROCESS, s->partial,
			       sizeof(s->partial));
	if (!told && !s->counts_say_why)
		fprintf(stderr, "perf-prof: %s\n", s->partial);
}

void stat_children_close(struct counting *s)
{
	sideband_free(s->children);
	s->children = NULL;
}
