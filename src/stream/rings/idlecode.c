/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/rings/idlecode.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static bool is_idle_function(const char *name)
{
	static const char *const names[] = { "do_idle", "cpu_startup_entry", "arch_cpu_idle" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* A function ends where the next symbol begins. */
void idlecode_read(struct idlecode *c, FILE *symbols)
{
	char *line = NULL, name[64];
	uint64_t start, open = 0;
	size_t room = 0;

	*c = (struct idlecode){ .n = 0 };
	while (getline(&line, &room, symbols) >= 0 && (c->n < IDLECODE_MAX || open)) {
		if (sscanf(line, "%" SCNx64 " %*c %63s", &start, name) != 2 || !start)
			continue;
		if (open && start > open) {
			c->code[c->n - 1].end = start;
			open = 0;
		}
		if (!open && c->n < IDLECODE_MAX && is_idle_function(name)) {
			c->code[c->n].start = open = start;
			c->code[c->n++].end = start + 1;
		}
	}
	free(line);
}

bool idlecode_has(const struct idlecode *c, const uint64_t *ips, uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		/* behind a marker is where it was interrupted; the others are return addresses */
		const uint64_t at = !i || ips[i - 1] >= PERF_CONTEXT_MAX ? ips[i] : ips[i] - 1;

		for (size_t k = 0; k < c->n; k++)
			if (at >= c->code[k].start && at < c->code[k].end)
				return true;
	}
	return false;
}
