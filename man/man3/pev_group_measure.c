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

static int add(struct pev_group *group, const char *name, struct pev_error *err)
{
	struct perf_event_attr attr;
	int rc = pev_attr_tracepoint(&attr, "syscalls", name, err);

	if (rc)
		return rc;
	attr.disabled = 1;
	rc = pev_group_add(group, &attr, NULL);
	return rc < 0 ? rc : 0;
}

static void work(void *arg)
{
	(void)arg;
	syscall(SYS_getppid);
	syscall(SYS_getuid);
	syscall(SYS_getuid);
}

int main(void)
{
	struct pev_group *group = pev_group_new();
	struct pev_count counts[2];
	struct pev_error err = { 0 };

	if (!group || add(group, "sys_enter_getppid", &err) ||
	    add(group, "sys_enter_getuid", &err) ||
	    pev_group_open(group, pev_target_self(), NULL, &err))
		return fail(&err);
	if (pev_group_measure(group, work, NULL, counts, 2) < 0)
		return 1;
	printf("measured: %llu and %llu\n", (unsigned long long)counts[0].value,
	       (unsigned long long)counts[1].value);

	pev_group_enable(group);        /* and it stays on */
	for (int i = 0; i < 3; i++) {
		pev_group_begin(group);
		work(NULL);
		if (pev_group_end(group, counts, 2) < 0)
			return 1;
		printf("piece %d: %llu and %llu\n", i, (unsigned long long)counts[0].value,
		       (unsigned long long)counts[1].value);
	}
	pev_group_close(group);
	return 0;
}
