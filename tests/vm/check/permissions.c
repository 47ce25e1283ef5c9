/* SPDX-License-Identifier: Apache-2.0 */
/* What nobody may open at each perf_event_paranoid, and what the error advises. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char sysctl_path[] = "/proc/sys/kernel/perf_event_paranoid";
enum { NOBODY = 65534 };

static bool set_level(int level)
{
	FILE *f = fopen(sysctl_path, "w");
	bool good = f && fprintf(f, "%d", level) > 0;

	return f && !fclose(f) && good;
}

/* What opening said to nobody: 0 or errno, and the text. */
struct verdict {
	int rc;
	char text[1024];
};

static void as_nobody(const struct perf_event_attr *attr, struct pev_target target,
		      struct verdict *verdict)
{
	struct pev_error err = { 0 };
	struct pev_event *ev = NULL;
	int wire[2];

	memset(verdict, 0, sizeof(*verdict));
	verdict->rc = -EPIPE;
	if (pipe(wire))
		return;
	if (!fork()) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		verdict->rc = pev_event_open(&ev, attr, target, NULL, &err);
		snprintf(verdict->text, sizeof(verdict->text), "%s", error_text(&err));
		_exit(write(wire[1], verdict, sizeof(*verdict)) < 0);
	}
	wait(NULL);
	close(wire[1]);
	if (read(wire[0], verdict, sizeof(*verdict)) != sizeof(*verdict))
		verdict->rc = -EPIPE;
	close(wire[0]);
}

/* Opens at one level more than allowed and at the level that allows it. */
static void judge(const struct perf_event_attr *attr, struct pev_target target, int allows)
{
	struct verdict above, below;
	int before;
	char advice[64];

	if (pev_paranoid(&before) || geteuid() != 0 || !set_level(allows + 1)) {
		skip("needs root, to set kernel.perf_event_paranoid");
		return;
	}
	as_nobody(attr, target, &above);
	set_level(allows);
	as_nobody(attr, target, &below);
	set_level(before);
	snprintf(advice, sizeof(advice), "perf_event_paranoid=%d", allows);
	works_if((above.rc == -EACCES || above.rc == -EPERM) && strstr(above.text, advice) &&
		 !below.rc,
		 "as nobody; expected a refusal at level %d that advises %s, and success there, seen "
		 "\"%s\" and %s", allows + 1, advice, above.text, below.rc ? below.text : "success");
}

static void own_kernel_side(void)
{
	struct perf_event_attr attr;

	pev_attr_software(&attr, "task-clock", NULL);
	judge(&attr, pev_target_self(), 1);
}

static void whole_cpu(void)
{
	struct perf_event_attr attr;

	pev_attr_software(&attr, "cpu-clock", NULL);
	judge(&attr, pev_target_cpu(0), 0);
}

static void raw_tracepoint(void)
{
	struct perf_event_attr attr;

	/* not one of syscalls:, which the kernel lets anyone have on own tasks */
	if (pev_attr_tracepoint(&attr, "sched", "sched_switch", NULL)) {
		skip("needs sched:sched_switch");
		return;
	}
	pev_attr_sample_period(&attr, 1);
	attr.sample_type = PERF_SAMPLE_RAW;
	judge(&attr, pev_target_self(), -1);
}

static void own_user_side(void)
{
	struct perf_event_attr attr;
	struct verdict verdict;
	int before;

	if (pev_paranoid(&before) || geteuid() != 0 || !set_level(2)) {
		skip("needs root, to set kernel.perf_event_paranoid");
		return;
	}
	pev_attr_software(&attr, "task-clock", NULL);
	attr.exclude_kernel = 1;
	as_nobody(&attr, pev_target_self(), &verdict);
	set_level(before);
	works_if(!verdict.rc, "user side of the own task at level 2, as nobody; expected success, "
		 "seen %s", verdict.rc ? verdict.text : "that");
}

/* Debian's kernels know a level 3, which refuses everything. */
static void debian_level(void)
{
	struct perf_event_attr attr;
	struct verdict verdict;
	int before;

	if (pev_paranoid(&before) || geteuid() != 0 || !set_level(3)) {
		skip("needs root, to set kernel.perf_event_paranoid");
		return;
	}
	pev_attr_software(&attr, "task-clock", NULL);
	attr.exclude_kernel = 1;
	as_nobody(&attr, pev_target_self(), &verdict);
	set_level(before);
	if (!verdict.rc) {
		skip("this kernel has no level 3");
		return;
	}
	refused_if(strstr(verdict.text, "perf_event_paranoid is 3") &&
		   strstr(verdict.text, "perf_event_paranoid=2"),
		   "user side of the own task at level 3, as nobody; expected a refusal that advises "
		   "level 2, seen \"%s\"", verdict.text);
}

const struct check permission_checks[] = {
	{ "own task, user side", own_user_side },
	{ "own task, kernel side", own_kernel_side },
	{ "whole CPU", whole_cpu },
	{ "tracepoint with RAW", raw_tracepoint },
	{ "paranoid level 3", debian_level },
	{ NULL, NULL },
};
