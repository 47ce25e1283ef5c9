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

static void print(const struct pev_pmu *pmu)
{
	const struct pev_pmu_format *format;
	const struct pev_pmu_event *event;

	printf("%s: type %u, %s\n", pev_pmu_name(pmu), pev_pmu_type(pmu),
	       pev_pmu_is_core(pmu) ? "counts CPUs and tasks" : "counts on some CPUs for all");
	if (pev_pmu_cpus(pmu, NULL, 0))
		printf("  open it on %d of the CPUs\n", pev_pmu_cpus(pmu, NULL, 0));
	for (unsigned int i = 0; (format = pev_pmu_format_at(pmu, i)); i++)
		printf("  term %s: config%u bits %#llx\n", format->name, format->word,
		       (unsigned long long)format->bits);
	for (unsigned int i = 0; (event = pev_pmu_event_at(pmu, i)); i++)
		printf("  event %s: %s\n", event->name, event->terms);
}

int main(int argc, char **argv)
{
	struct pev_error err = { 0 };
	union pev_attr_buf buf;
	struct pev_pmu *pmu;

	if (pev_pmu_open(&pmu, argc > 1 ? argv[1] : "msr", &err))
		return fail(&err);
	print(pmu);
	if (!pev_pmu_attr(pmu, argc > 2 ? argv[2] : "tsc", &buf, &err))
		printf("config %#llx\n", (unsigned long long)buf.attr.config);
	pev_pmu_close(pmu);
	return err.code ? fail(&err) : 0;
}
