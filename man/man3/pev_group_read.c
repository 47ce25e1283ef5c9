/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

int main(void)
{
	struct pev_group *group = pev_group_new();
	struct perf_event_attr clock, getppid_attr;
	struct pev_count counts[2];
	struct pev_error err = { 0 };

	if (!group || pev_attr_software(&clock, "task-clock", &err) ||
	    pev_attr_tracepoint(&getppid_attr, "syscalls", "sys_enter_getppid", &err))
		return fail(&err);
	clock.disabled = 1;             /* the leader's: for all */
	pev_group_add(group, &clock, NULL);
	pev_group_add(group, &getppid_attr, NULL);
	if (pev_group_open(group, pev_target_self(), NULL, &err))
		return fail(&err);
	pev_group_enable(group);
	for (int i = 0; i < 4; i++)
		syscall(SYS_getppid);
	pev_group_disable(group);
	if (pev_group_read(group, counts, 2) < 0)
		return 1;
	printf("getppid %llu times in %s\n", (unsigned long long)counts[1].value,
	       counts[0].value ? "some ns" : "no time");
	pev_group_reset(group);
	pev_group_read(group, counts, 2);
	printf("after the reset %llu\n", (unsigned long long)counts[1].value);
	pev_group_close(group);
	return 0;
}
