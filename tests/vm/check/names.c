/* SPDX-License-Identifier: Apache-2.0 */
/* Events by name, as this kernel and this machine have them. */
#include "check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses; NULL: the check is over. */
static struct pev_attr_list *parse(const char *text)
{
	struct pev_attr_list *list;
	struct pev_error err = { 0 };
	int rc = pev_attr_parse(&list, text, NULL, &err);

	if (!rc)
		return list;
	failed_with(text, rc, &err);
	return NULL;
}

/* All that is parsed opens, and its label parses to the same. */
static bool opens_and_comes_back(const struct pev_parsed *p, char *why, size_t size)
{
	struct pev_attr_list *again = NULL;
	struct pev_error err = { 0 };
	struct pev_event *ev = NULL;
	char label[256];
	bool same;

	if (pev_event_open(&ev, p->attr, pev_target_self(), NULL, &err)) {
		snprintf(why, size, "%s", error_text(&err));
		return false;
	}
	pev_event_close(ev);
	pev_attr_label(p->attr, label, sizeof(label));
	same = !pev_attr_parse(&again, label, NULL, &err) && pev_attr_list_size(again) == 1 &&
	       pev_attr_list_at(again, 0)->attr->type == p->attr->type &&
	       pev_attr_list_at(again, 0)->attr->config == p->attr->config;
	pev_attr_list_free(again);
	snprintf(why, size, "the label %s %s", label, same ? "" : "means another event");
	return same;
}

static void event_list(void)
{
	static const char text[] = "page-faults:u,cs,sched:sched_switch,{task-clock,dummy}:u,"
				   "syscalls:sys_enter_getppi*";
	struct pev_attr_list *list = parse(text);
	char why[1024] = "";
	size_t good = 0, n;

	if (!list)
		return;
	n = pev_attr_list_size(list);
	while (good < n && opens_and_comes_back(pev_attr_list_at(list, good), why, sizeof(why)))
		good++;
	works_if(good == 6 && n == 6, "%s; expected 6 events that open and whose labels mean the "
		 "same, seen %zu of %zu; %s", text, good, n, why);
	pev_attr_list_free(list);
}

/* Name of the first PMU of a core that sysfs has, or "". */
static void core_pmu(char *name, size_t size)
{
	char *names;

	name[0] = '\0';
	if (pev_pmu_list(&names))
		return;
	for (const char *n = names; *n && !name[0]; n += strlen(n) + 1) {
		struct pev_pmu *pmu;

		if (pev_pmu_open(&pmu, n, NULL))
			continue;
		if (pev_pmu_is_core(pmu) && pev_pmu_event_at(pmu, 0))
			snprintf(name, size, "%s", n);
		pev_pmu_close(pmu);
	}
	free(names);
}

static void burn_50ms(void)
{
	burn(50000000);
}

/* Every event that sysfs names of a core's PMU opens and has its format's bits. */
static void pmu_events(void)
{
	struct pev_error err = { 0 };
	const struct pev_pmu_event *event;
	size_t n = 0, good = 0;
	struct pev_pmu *pmu;
	char name[128], text[256];

	core_pmu(name, sizeof(name));
	if (!name[0] || pev_pmu_open(&pmu, name, &err)) {
		skip("needs a core's PMU with events in sysfs");
		return;
	}
	for (; (event = pev_pmu_event_at(pmu, (unsigned int)n)); n++) {
		struct pev_attr_list *list;
		struct pev_event *ev;

		snprintf(text, sizeof(text), "%s/%s/", name, event->name);
		if (pev_attr_parse(&list, text, NULL, &err))
			continue;
		if (!pev_event_open(&ev, pev_attr_list_at(list, 0)->attr, pev_target_self(), NULL,
				    &err)) {
			good++;
			pev_event_close(ev);
		}
		pev_attr_list_free(list);
	}
	works_if(n && good == n, "each event of %s; expected %zu to open, seen %zu; %s", name, n, good,
		 good < n ? error_text(&err) : "");
	pev_pmu_close(pmu);
}

static void cycles_by_name(void)
{
	struct pev_attr_list *list = parse("cycles:u");
	struct pev_event *ev;
	uint64_t seen;
	int rc;

	if (!list)
		return;
	rc = pev_event_open(&ev, pev_attr_list_at(list, 0)->attr, pev_target_self(), NULL, NULL);
	if (rc == -ENOENT || rc == -EOPNOTSUPP) {
		skip("needs a PMU that counts cycles");
	} else if (!rc) {
		pev_event_close(ev);
		if (!count_work(&seen, pev_attr_list_at(list, 0)->attr, "cycles:u", burn_50ms))
			works_if(seen > 1000000, "50 ms of cycles:u; expected more than a million, "
				 "seen %llu", (unsigned long long)seen);
	} else {
		works_if(false, "cycles:u; seen %s", strerror(-rc));
	}
	pev_attr_list_free(list);
}

const struct check name_checks[] = {
	{ "event list", event_list },
	{ "events of the PMU", pmu_events },
	{ "cycles by name", cycles_by_name },
	{ NULL, NULL },
};
