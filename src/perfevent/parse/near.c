/* SPDX-License-Identifier: Apache-2.0 */
/* base/nearest, compiled into the library with pev_ names. */
#define nearest_begin pev_nearest_begin_
#define nearest_offer pev_nearest_offer_
#define nearest_get pev_nearest_get_
#include "base/nearest.c"

#include "perfevent/parse/near.h"

#include "perfevent.h"
#include "perfevent/machine/pmu.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static void offer_pmu_events(struct nearest *n, const char *pmus, const char *pmu)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s/events", pmus, pmu);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (!strchr(e->d_name, '.'))   /* "energy-cores.scale" is not an event */
			nearest_offer(n, e->d_name);
	if (dir)
		closedir(dir);
}

static bool near_folder(const char *path, const char *name, char *buf, size_t size)
{
	DIR *dir = opendir(path);
	struct nearest n;
	struct dirent *e;

	if (!dir)
		return false;
	nearest_begin(&n, name);
	while ((e = readdir(dir)))
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			nearest_offer(&n, e->d_name);
	if (nearest_get(&n))
		snprintf(buf, size, "%s", nearest_get(&n));
	closedir(dir);
	return nearest_get(&n);
}

bool pev_near_tracepoint_(const char *sys, const char *name, const char *events, char *buf, size_t size)
{
	char path[PATH_MAX], near_sys[NAME_MAX + 1], near[NAME_MAX + 1];

	if (!near_folder(events, sys, near_sys, sizeof(near_sys)))
		return false;
	snprintf(path, sizeof(path), "%s/%s", events, near_sys);
	if (!near_folder(path, name, near, sizeof(near)))
		return false;
	snprintf(buf, size, "%s:%s", near_sys, near);
	return true;
}

static void offer_caches(struct nearest *n)
{
	uint64_t config;
	bool usual;
	char name[64];

	for (unsigned int i = 0; pev_cache_at(i, &config, &usual); i++)
		if (!pev_cache_name(config, name, sizeof(name)))
			nearest_offer(n, name);
}

bool pev_near_name_(const char *name, const char *pmus, char *buf, size_t size)
{
	struct nearest n;
	const char *known;
	char *names;
	uint64_t config;

	nearest_begin(&n, name);
	for (unsigned int i = 0; (known = pev_software_name(i, &config)); i++)
		nearest_offer(&n, known);
	for (unsigned int i = 0; (known = pev_hardware_name(i, &config)); i++)
		nearest_offer(&n, known);
	offer_caches(&n);
	if (!pev_pmu_list_at_(pmus, &names)) {
		for (const char *pmu = names; *pmu; pmu += strlen(pmu) + 1)
			offer_pmu_events(&n, pmus, pmu);
		free(names);
	}
	if (!nearest_get(&n))
		return false;
	snprintf(buf, size, "%s", nearest_get(&n));
	return true;
}

bool pev_near_field_(const char *name, char *buf, size_t size)
{
	const struct pev_attr_field *f;
	struct nearest n;

	nearest_begin(&n, name);
	for (unsigned int i = 0; (f = pev_attr_field_at(i)); i++)
		nearest_offer(&n, f->name);
	if (nearest_get(&n))
		snprintf(buf, size, "%s", nearest_get(&n));
	return nearest_get(&n);
}
