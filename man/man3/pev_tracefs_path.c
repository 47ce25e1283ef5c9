/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
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
	struct pev_error err = { 0 };
	char path[256];
	int64_t id;

	if (pev_tracefs_path(path, sizeof(path), &err))
		return fail(&err);
	printf("tracefs is at %s\n", path);
	id = pev_tracepoint_id("sched", "sched_switch", &err);
	if (id < 0)
		return fail(&err);
	printf("sched:sched_switch is %" PRId64 "\n", id);
	return 0;
}
