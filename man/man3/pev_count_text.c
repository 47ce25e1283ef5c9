/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

int main(void)
{
	static const char *const names[] = { "task-clock", "page-faults" };
	struct pev_count counts[2] = { { .value = 25, .time_enabled = 100, .time_running = 25 } };
	struct pev_group *group = pev_group_new();
	struct pev_error err = { 0 };
	char text[512];

	if (!group)
		return 1;
	pev_count_text(counts, "cycles", text, sizeof(text));
	puts(text);
	for (int i = 0; i < 2; i++) {
		struct perf_event_attr attr;

		if (pev_attr_software(&attr, names[i], &err))
			return fail(&err);
		if (pev_group_add(group, &attr, NULL) < 0)
			return 1;
	}
	if (pev_group_open(group, pev_target_self(), NULL, &err))
		return fail(&err);
	if (pev_group_read(group, counts, 2) != 2)
		return 1;
	pev_group_text(group, counts, 2, text, sizeof(text));
	fputs(text, stdout);
	pev_group_close(group);
	return 0;
}
