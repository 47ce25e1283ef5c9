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
/* Without callers, functions of the kernel do not show which function of the program calls them. */
static const struct way of_callers = {
	"which functions differ, with the kernel functions they call", "record -q -g -o", "data", "perf-prof diff --total"
};
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

/* At least a third of the difference of CPU time is time in the kernel. */
static bool is_in_kernel(const struct compared_table *t)
{
	const bool same_way = t->sys && t->cpu && (t->sys->difference.mean > 0) == (t->cpu->difference.mean > 0);

	return same_way && 3 * certain_msec(t->sys) >= certain_msec(t->cpu);
}

/* The rest of a line, behind the options of perf-prof. */
static void put_command(const struct compared_table *t, int side, FILE *out)
{
	fprintf(out, " -- %s", t->sides[side].started);
	if (t->input) {
		fputs(" < ", out);
		shellwords_put(t->input, out);
	}
	fputs(" > /dev/null\n", out);
}

static void put_way(const struct compared_table *t, const struct way *w, enum compared_right right, FILE *out)
{
	const struct five_runs runs = { { "a", "b" }, w->suffix, w->compare };
	const bool as_root = right == RIGHT_ROOT;

	fprintf(out, " %s%s ", w->what, as_root ? ", as root" : "");
	five_runs_begin(&runs, out);
	for (int i = 0; i < 2; i++) {
		five_runs_indent(out);
		fprintf(out, "%sperf-prof %s %s$i.%s", as_root ? "sudo " : "", w->record, runs.names[i], w->suffix);
		put_command(t, i, out);
	}
	five_runs_end(&runs, out);
}

/* Functions of Python are read without events. */
static enum compared_right right_for(const struct compared_table *t, bool waits)
{
	return t->python ? RIGHT_USER : waits ? t->waits : t->functions;
}

static void put_functions(const struct compared_table *t, FILE *out)
{
	if (right_for(t, false) != RIGHT_NOBODY)
		put_way(t, t->python ? &of_python : is_in_kernel(t) ? &of_callers : &of_functions, right_for(t, false), out);
}

/* Stacks do not show which lock, file or pipe it was. */
static void put_waits(const struct compared_table *t, FILE *out)
{
	const bool as_root = t->waits == RIGHT_ROOT;

	if (right_for(t, true) != RIGHT_NOBODY)
		put_way(t, t->python ? &of_python_waits : t->asleep ? &of_waits : &of_waiting, right_for(t, true), out);
	if (t->waits == RIGHT_NOBODY)
		return;
	fprintf(out, " which locks, files and pipes they wait for%s (writes a.waits and b.waits here):\n", as_root ? ", as root" : "");
	for (int i = 0; i < 2; i++) {
		fprintf(out, "    %sperf-prof waits -q --on -o %c.waits", as_root ? "sudo " : "", 'a' + i);
		put_command(t, i, out);
	}
	fputs("    cat a.waits b.waits\n", out);
}

/* Profiles do not show less than some msec. */
void compared_next(const struct compared_table *t, FILE *out)
{
	static const double least_msec = 10;
	const double cpu = certain_msec(t->cpu), off = certain_msec(t->asleep ? t->asleep : t->waiting), elapsed = certain_msec(t->elapsed);
	const struct compared_side *a = &t->sides[0], *b = &t->sides[1];
	const bool waits_first = off > cpu, may = right_for(t, waits_first) != RIGHT_NOBODY;

	if (a->failed || b->failed || !a->started || !b->started || t->unrepeatable)
		return;
	if (off >= least_msec && waits_first)
		put_waits(t, out);
	if (cpu >= least_msec && !(t->python && off >= least_msec))   /* elapsed time has both */
		put_functions(t, out);
	if (off >= least_msec && !waits_first)
		put_waits(t, out);
	if (may && fmax(cpu, off) < least_msec && (cpu > 0 || (elapsed > 0 && elapsed < least_msec)))
		fputs(" too short to find out where by sampling: use a larger input\n", out);
}
