/* SPDX-License-Identifier: Apache-2.0 */
/* After a verdict: the commands that show where the difference is, in functions or in waits. */
#include "base/capabilities.h"
#include "base/shellwords.h"
#include "report/fiveruns.h"
#include "stat/counts.h"
#include "tasks/shebang.h"
#include "tasks/workload.h"

#include <perfevent.h>

#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

/* The highest kernel.perf_event_paranoid at which a user without capabilities may sample user space, and the scheduler's events. */
enum { LEVEL_USER_SPACE = 2, LEVEL_TRACEPOINTS = -1 };

struct way {
	const char *what, *record;       /* record: up to the name of the file */
	const char *suffix, *compare;
};

static const struct way of_functions = { "which functions differ", "record -q -o", "data", "perf-prof diff" };
static const struct way of_python = { "which Python functions differ", "profile -q -F 997 --python --flame-graph", "folded", "perf-prof diff" };
static const struct way of_waits = { "which waits differ", "profile -q --off-cpu --flame-graph", "folded", "perf-prof diff --total" };
/* In elapsed time, waiting for a CPU is included. */
static const struct way of_python_waits = {
	"which Python functions differ in elapsed time", "profile -q -F 997 --python --idle --flame-graph", "folded", "perf-prof diff"
};
/* If it is not known how long they waited for a CPU: the profile has nothing of that after a preemption. */
static const struct way of_waiting = {
	"which waits differ, unless A or B waited for a CPU", "profile -q --off-cpu --flame-graph", "folded", "perf-prof diff --total"
};

static bool is_allowed(int most)
{
	const uint64_t all = UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_PERFMON;
	int level;

	return capabilities_effective() & all || (!pev_paranoid(&level) && level <= most);
}

static enum compared_right right_of(bool allowed)
{
	return allowed ? RIGHT_USER : geteuid() ? RIGHT_ROOT : RIGHT_NOBODY;
}

void compared_find_rights(struct compared_table *t)
{
	char tracefs[256];

	t->functions = right_of(is_allowed(LEVEL_USER_SPACE));
	t->waits = right_of(is_allowed(LEVEL_TRACEPOINTS) && !pev_tracefs_path(tracefs, sizeof(tracefs), NULL));
}

/* B - A in msec, if it is certain; else 0. */
static double certain_msec(const struct compared_row *r)
{
	return r && fabs(r->difference.mean) > r->difference.half ? fabs(r->difference.mean) * r->scale : 0;
}

/* python3.9 to python3.14: pystack knows these with a GIL, whose names do not end in t. */
static bool is_known_python(const char *name)
{
	enum { OLDEST = 9, NEWEST = 14 };
	unsigned int minor;
	int n = 0;

	return sscanf(name, "python3.%u%n", &minor, &n) == 1 && !name[n] && minor >= OLDEST && minor <= NEWEST;
}

/* The next program that starts: name becomes the interpreter of a script. False: path is no script. */
static bool follow_script(const char *path, char *name, size_t size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const bool is_script = fd >= 0 && shebang_read(fd, name, size);

	if (fd >= 0)
		close(fd);
	return is_script;
}

bool compared_is_python(const char *program)
{
	char name[PATH_MAX], path[PATH_MAX], real[PATH_MAX];
	const char *base;

	snprintf(name, sizeof(name), "%s", program);
	for (int i = 0; i <= SHEBANG_MOST; i++) {
		if (!workload_find(name, path, sizeof(path)) || !realpath(path, real))
			return false;
		if (!follow_script(real, name, sizeof(name)))
			return is_known_python(strrchr(real, '/') + 1);
		/* a script with the name of Python starts it, such as those of pyenv */
		base = strrchr(path, '/');
		base = base ? base + 1 : path;
		if (!strcmp(base, "python3") || is_known_python(base))
			return true;
	}
	return false;
}

static void put_input(const struct compared_table *t, FILE *out)
{
	if (!t->input)
		return;
	fputs(" < ", out);
	shellwords_put(t->input, out);
}

static void put_way(const struct compared_table *t, const struct way *w, bool as_root, FILE *out)
{
	const struct five_runs runs = { { "a", "b" }, w->suffix, w->compare };

	fprintf(out, " %s%s ", w->what, as_root ? ", as root" : "");
	five_runs_begin(&runs, out);
	for (int i = 0; i < 2; i++) {
		five_runs_indent(out);
		fprintf(out, "%sperf-prof %s %s$i.%s -- %s", as_root ? "sudo " : "", w->record, runs.names[i], w->suffix, t->sides[i].started);
		put_input(t, out);
		fputs(" > /dev/null\n", out);
	}
	five_runs_end(&runs, out);
}

/* Profiles do not show less than some msec. */
void compared_next(const struct compared_table *t, FILE *out)
{
	static const double least_msec = 10;
	const double cpu = certain_msec(t->cpu), off = certain_msec(t->asleep ? t->asleep : t->waiting), elapsed = certain_msec(t->elapsed);
	const struct compared_side *a = &t->sides[0], *b = &t->sides[1];
	/* functions of Python are read without events */
	const enum compared_right right = t->python ? RIGHT_USER : off > cpu ? t->waits : t->functions;
	const struct way *waits = t->python ? &of_python_waits : t->asleep ? &of_waits : &of_waiting;
	const struct way *way = off > cpu ? waits : t->python ? &of_python : &of_functions;

	if (a->failed || b->failed || !a->started || !b->started || t->unrepeatable || right == RIGHT_NOBODY)
		return;
	if (fmax(cpu, off) >= least_msec)
		put_way(t, way, right == RIGHT_ROOT, out);
	else if (cpu > 0 || (elapsed > 0 && elapsed < least_msec))
		fputs(" too short to find out where by sampling: use a larger input\n", out);
}
