/* SPDX-License-Identifier: Apache-2.0 */
/* From an attr back to the syntax of pev_attr_parse(). */
#include "base/textfile.h"
#include "perfevent/parse/parse.h"

#include "perfevent/attr/attr_fields.h"
#include "perfevent/machine/kernel.h"
#include "perfevent/machine/pmu.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 640
#define CORE_TYPE(config) ((uint32_t)((config) >> 32))
#define CORE_CONFIG(config) ((config) & 0xffffffffull)

/* ---- modifiers ------------------------------------------------------------------------ */

void pev_label_modifiers_(const struct perf_event_attr *a, char *buf)
{
	bool level = a->exclude_user || a->exclude_kernel || a->exclude_hv;
	bool guest_excluded = level || a->precise_ip;   /* by the letters other than G and H */
	char *p = buf;

	if (level) {
		const struct { bool excluded; char letter; } levels[] = {
			{ a->exclude_user, 'u' }, { a->exclude_kernel, 'k' }, { a->exclude_hv, 'h' },
		};

		for (size_t i = 0; i < 3; i++)
			if (!levels[i].excluded)
				*p++ = levels[i].letter;
	}
	if (a->exclude_idle)
		*p++ = 'I';
	for (unsigned int i = 0; i < a->precise_ip; i++)
		*p++ = 'p';
	if (a->exclude_host || a->exclude_guest != guest_excluded) {
		if (!a->exclude_guest)
			*p++ = 'G';
		if (!a->exclude_host)
			*p++ = 'H';
	}
	if (a->pinned)
		*p++ = 'D';
	if (a->exclusive)
		*p++ = 'e';
	*p = '\0';
}

/* ---- generic events ---------------------------------------------------------------------- */

static const char *table_name(const char *(*at)(unsigned int, uint64_t *), uint64_t wanted)
{
	const char *name;
	uint64_t config;

	for (unsigned int i = 0; (name = at(i, &config)); i++)
		if (config == wanted)
			return name;
	return NULL;
}

/* Software, hardware and cache events; false if the config is unknown. */
static bool generic_name(const struct perf_event_attr *a, uint64_t config, char *buf)
{
	const char *name = NULL;

	switch (a->type) {
	case PERF_TYPE_SOFTWARE:
		name = table_name(pev_software_name, config);
		break;
	case PERF_TYPE_HARDWARE:
		name = table_name(pev_hardware_name, config);
		break;
	case PERF_TYPE_HW_CACHE:
		return !pev_cache_name(config, buf, NAME_SIZE);
	}
	if (name)
		snprintf(buf, NAME_SIZE, "%s", name);
	return name;
}

static uint64_t extra(const struct perf_event_attr *a, unsigned int word)
{
	static const char *const names[] = { "config1", "config2", "config3", "config4" };
	uint64_t value = 0;

	pev_attr_get(a, names[word], &value);
	return value;
}

/* "config=0x1,config2=0x3": the words that are not 0; config in any case if `first`. */
static size_t put_words(const struct perf_event_attr *a, bool first, char *buf, size_t size)
{
	int n = first ? snprintf(buf, size, "config=%#llx", (unsigned long long)a->config) : 0;

	for (unsigned int i = 0; i < 4 && (size_t)n < size; i++)
		if (extra(a, i))
			n += snprintf(buf + n, size - (size_t)n, "%sconfig%u=%#llx", n ? "," : "", i + 1,
				      (unsigned long long)extra(a, i));
	return (size_t)n;
}

/* Appends "/config1=.../" if any of these words is set. */
static void append_words(const struct perf_event_attr *a, char *buf)
{
	char words[200] = "";
	size_t len = strlen(buf);

	if (put_words(a, false, words, sizeof(words)))
		snprintf(buf + len, NAME_SIZE - len, "/%s/", words);
}

/* ---- PMUs ----------------------------------------------------------------------------------- */

static bool same_words(const struct perf_event_attr *a, const union pev_attr_buf *b)
{
	for (unsigned int i = 0; i < 4; i++)
		if (extra(a, i) != extra(&b->attr, i))
			return false;
	return a->config == b->attr.config;
}

/* The event in sysfs with exactly these words. */
static const char *event_name(const struct pev_pmu *pmu, const struct perf_event_attr *a)
{
	const struct pev_pmu_event *e;
	union pev_attr_buf buf;

	for (unsigned int i = 0; (e = pev_pmu_event_at(pmu, i)); i++)
		if (!pev_pmu_attr(pmu, e->name, &buf, NULL) && same_words(a, &buf))
			return e->name;
	return NULL;
}

static struct pev_pmu *find_pmu(const struct pev_parse_env *env, uint32_t type)
{
	struct pev_pmu *pmu = NULL;
	uint32_t found;
	char *names;

	if (!env || pev_pmu_list_at_(env->pmus, &names))
		return NULL;
	for (const char *p = names; *p && !pmu; p += strlen(p) + 1)
		if (!pev_pmu_lookup_type_at_(env->pmus, p, &found) && found == type)
			pev_pmu_open_at_(&pmu, env->pmus, p, NULL);
	free(names);
	return pmu;
}

static bool pmu_name(const struct perf_event_attr *a, const struct pev_parse_env *env, char *buf)
{
	struct pev_pmu *pmu = find_pmu(env, a->type);
	const char *event = pmu ? event_name(pmu, a) : NULL;
	char words[200];

	if (!pmu)
		return false;
	put_words(a, true, words, sizeof(words));
	snprintf(buf, NAME_SIZE, "%s/%s/", pmu->name, event ? event : words);
	pev_pmu_close(pmu);
	return true;
}

/* A generic event, possibly on one core type: "cpu_atom/cycles/". */
static bool hardware_name(const struct perf_event_attr *a, const struct pev_parse_env *env,
			  char *buf)
{
	char name[NAME_SIZE];
	struct pev_pmu *pmu;

	if (a->type == PERF_TYPE_SOFTWARE || !CORE_TYPE(a->config)) {
		if (!generic_name(a, a->config, buf))
			return false;
		append_words(a, buf);
		return true;
	}
	pmu = find_pmu(env, CORE_TYPE(a->config));
	if (!pmu || !generic_name(a, CORE_CONFIG(a->config), name)) {
		pev_pmu_close(pmu);
		return false;
	}
	snprintf(buf, NAME_SIZE, "%.200s/%.200s/", pmu->name, name);
	pev_pmu_close(pmu);
	return true;
}

/* ---- other kinds ------------------------------------------------------------------------------ */

static bool raw_name(const struct perf_event_attr *a, const struct pev_parse_env *env, char *buf)
{
	snprintf(buf, NAME_SIZE, "r%llx", (unsigned long long)a->config);
	append_words(a, buf);
	return true;
}

static bool breakpoint_name(const struct perf_event_attr *a, const struct pev_parse_env *env,
			    char *buf)
{
	const char *access = a->bp_type == HW_BREAKPOINT_X ? "x"
			   : a->bp_type == HW_BREAKPOINT_R ? "r"
			   : a->bp_type == HW_BREAKPOINT_W ? "w"
			   : a->bp_type == HW_BREAKPOINT_RW ? "rw" : NULL;

	if (!access || !a->bp_len || a->bp_len > HW_BREAKPOINT_LEN_8)
		return false;
	snprintf(buf, NAME_SIZE, "mem:%#llx/%llu:%s", (unsigned long long)a->bp_addr,
		 (unsigned long long)a->bp_len, access);
	return true;
}

static bool has_id(const char *root, const char *sys, const char *name, uint64_t id)
{
	char path[PATH_MAX], text[32];

	return snprintf(path, sizeof(path), "%s/%s/%s/id", root, sys, name) < PATH_MAX &&
	       textfile_read(path, text, sizeof(text)) > 0 && strtoull(text, NULL, 10) == id;
}

static bool search_system(const char *root, const char *sys, uint64_t id, char *buf)
{
	char path[PATH_MAX];
	struct dirent *d;
	bool found = false;
	DIR *dir;

	if (sys[0] == '.' || snprintf(path, sizeof(path), "%s/%s", root, sys) >= PATH_MAX)
		return false;
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir))) {
		found = d->d_name[0] != '.' && has_id(root, sys, d->d_name, id);
		if (found)
			snprintf(buf, NAME_SIZE, "%s:%s", sys, d->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

static bool tracepoint_name(const struct perf_event_attr *a, const struct pev_parse_env *env,
			    char *buf)
{
	char mounted[256], root[300];
	const char *tracefs = env ? env->tracefs : NULL;
	struct dirent *d;
	bool found = false;
	DIR *dir;

	if (!env || (!tracefs && pev_tracefs_path(mounted, sizeof(mounted), NULL)))
		return false;
	snprintf(root, sizeof(root), "%s/events", tracefs ? tracefs : mounted);
	dir = opendir(root);
	while (dir && !found && (d = readdir(dir)))
		found = search_system(root, d->d_name, a->config, buf);
	if (dir)
		closedir(dir);
	return found;
}

/* Indexed by PERF_TYPE_. */
static bool (*const by_type[])(const struct perf_event_attr *, const struct pev_parse_env *,
			       char *) = {
	[PERF_TYPE_HARDWARE] = hardware_name,
	[PERF_TYPE_SOFTWARE] = hardware_name,
	[PERF_TYPE_TRACEPOINT] = tracepoint_name,
	[PERF_TYPE_HW_CACHE] = hardware_name,
	[PERF_TYPE_RAW] = raw_name,
	[PERF_TYPE_BREAKPOINT] = breakpoint_name,
};

size_t pev_label_at_(const struct perf_event_attr *attr, const struct pev_parse_env *env,
		     char *buf, size_t size)
{
	char name[NAME_SIZE], mods[PEV_MODIFIERS_SIZE_];
	bool known = attr->type < PERF_TYPE_MAX ? by_type[attr->type](attr, env, name)
						: pmu_name(attr, env, name);
	int n;

	if (!known) {
		snprintf(name, sizeof(name), "%u:%#llx", attr->type, (unsigned long long)attr->config);
		append_words(attr, name);
	}
	pev_label_modifiers_(attr, mods);
	n = snprintf(buf, size, "%s%s%s", name,
		     mods[0] && name[strlen(name) - 1] != '/' ? ":" : "", mods);
	return n < 0 ? 0 : (size_t)n;
}

size_t pev_attr_label(const struct perf_event_attr *attr, char *buf, size_t size)
{
	static const struct pev_parse_env env = { .pmus = PEV_PMU_ROOT_ };

	return pev_label_at_(attr, &env, buf, size);
}
