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

int main(int argc, char **argv)
{
	const struct pev_usdt_probe *probe;
	struct perf_event_attr attr;
	struct pev_error err = { 0 };
	struct pev_usdt *usdt;
	size_t i;

	if (pev_usdt_open(&usdt, argc > 1 ? argv[1] : "/proc/self/exe", &err))
		return fail(&err);
	for (i = 0; (probe = pev_usdt_at(usdt, i)); i++)
		if (!pev_attr_usdt(&attr, usdt, i, &err))
			printf("%s:%s %s\n", probe->provider, probe->name, probe->args);
	printf("%zu probes\n", i);
	pev_usdt_close(usdt);
	return 0;
}
