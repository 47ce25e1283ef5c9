/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent.h"
#include "perfevent/attr/complain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* perf's names; aliases follow their name. */
static const struct {
	const char *name;
	uint64_t config;
} software[] = {
	{ "cpu-clock", PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "minor-faults", PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_COUNT_SW_EMULATION_FAULTS },
	{ "dummy", PERF_COUNT_SW_DUMMY },
	{ "bpf-output", PERF_COUNT_SW_BPF_OUTPUT },
	{ "cgroup-switches", PERF_COUNT_SW_CGROUP_SWITCHES },
};
enum { NSOFTWARE = sizeof(software) / sizeof(*software) };

int pev_software_lookup(const char *name, uint64_t *config)
{
	for (size_t i = 0; i < NSOFTWARE; i++) {
		if (strcmp(software[i].name, name))
			continue;
		*config = software[i].config;
		return 0;
	}
	return -ENOENT;
}

const char *pev_software_name(unsigned int index, uint64_t *config)
{
	if (index >= NSOFTWARE)
		return NULL;
	if (config)
		*config = software[index].config;
	return software[index].name;
}

void pev_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t config)
{
	/* not sizeof: the program may be built with an older header than the library */
	memset(attr, 0, PERF_ATTR_SIZE_VER7);
	attr->size = PERF_ATTR_SIZE_VER7;
	attr->type = type;
	attr->config = config;
}

int pev_attr_software(struct perf_event_attr *attr, const char *name, struct pev_error *err)
{
	uint64_t config;

	if (!pev_software_lookup(name, &config)) {
		pev_attr_init(attr, PERF_TYPE_SOFTWARE, config);
		return 0;
	}
	pev_ask_(err, ENOENT, "software event \"%s\"", name);
	pev_say_(err, "there is no such software event");
	pev_advise_(err, "use one of: cpu-clock, task-clock, page-faults, context-switches, cpu-migrations, minor-faults, "
		    "major-faults, alignment-faults, emulation-faults, cgroup-switches, bpf-output, dummy");
	return -ENOENT;
}

void pev_attr_sample_period(struct perf_event_attr *attr, uint64_t period)
{
	attr->freq = 0;
	attr->sample_period = period;
}

void pev_attr_sample_freq(struct perf_event_attr *attr, uint64_t freq)
{
	attr->freq = 1;
	attr->sample_freq = freq;
}

void pev_attr_wakeup_events(struct perf_event_attr *attr, uint32_t n)
{
	attr->watermark = 0;
	attr->wakeup_events = n;
}

void pev_attr_wakeup_watermark(struct perf_event_attr *attr, uint32_t bytes)
{
	attr->watermark = 1;
	attr->wakeup_watermark = bytes;
}
