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
	static const char *const names[] = { "task-clock", "page-faults", "context-switches" };
	struct pev_group *group = pev_group_new();
	struct pev_count counts[3];
	struct pev_error err = { 0 };

	if (!group)
		return 1;
	for (int i = 0; i < 3; i++) {
		struct perf_event_attr attr;

		if (pev_attr_software(&attr, names[i], &err))
			return fail(&err);
		if (pev_group_add(group, &attr, names[i]) < 0)
			return 1;
	}
	if (pev_group_open(group, pev_target_self(), NULL, &err))
		return fail(&err);
	if (pev_group_read(group, counts, 3) != 3)
		return 1;
	for (size_t i = 0; i < pev_group_size(group); i++)
		printf("%s %llu\n", pev_group_label(group, i), (unsigned long long)counts[i].value);
	pev_group_close(group);
	return 0;
}
