/* SPDX-License-Identifier: Apache-2.0 */
/* From a name to its events. */
#include "perfevent/parse/parse.h"

#include "perfevent/attr/complain.h"
#include "perfevent/machine/pmu.h"
#include "perfevent/parse/near.h"

#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CORES_MAX 8

static int no_memory(struct pev_parser *p)
{
	return pev_parse_fail_(p, p->pos, ENOMEM, NULL, "out of memory, or more events than %d",
			       PARSE_EVENTS_MAX);
}

/* ---- generic names ---------------------------------------------------------------------- */

static bool generic(const char *name, uint32_t *type, uint64_t *config)
{
	static const struct {
		uint32_t type;
		int (*lookup)(const char *name, uint64_t *config);
	} kinds[] = {
		{ PERF_TYPE_SOFTWARE, pev_software_lookup },
		{ PERF_TYPE_HARDWARE, pev_hardware_lookup },
		{ PERF_TYPE_HW_CACHE, pev_cache_lookup },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		*type = kinds[i].type;
		if (!kinds[i].lookup(name, config))
			return true;
	}
	*type = PERF_TYPE_RAW;
	return !pev_raw_lookup(name, config);
}

bool pev_parse_is_generic_(const char *name)
{
	uint32_t type;
	uint64_t config;

	return generic(name, &type, &config);
}

/* The core types of a hybrid machine; 0 on others. */
static size_t open_cores(const struct pev_parser *p, struct pev_pmu **cores)
{
	char path[PATH_MAX], *names;
	size_t n = 0;

	if (pev_pmu_list_at_(p->env->pmus, &names))
		return 0;
	for (const char *name = names; *name && n < CORES_MAX; name += strlen(name) + 1) {
		if (snprintf(path, sizeof(path), "%s/%s/cpus", p->env->pmus, name) >= PATH_MAX ||
		    access(path, F_OK) || pev_pmu_open_at_(&cores[n], p->env->pmus, name, NULL))
			continue;
		if (cores[n]->hybrid)
			n++;
		else
			pev_pmu_close(cores[n]);
	}
	free(names);
	return n;
}

static int copy_cpus(struct pev_parsed_own *e, const struct pev_pmu *pmu)
{
	if (!pmu->ncpus)
		return 0;
	e->cpus = malloc(pmu->ncpus * sizeof(*e->cpus));
	if (!e->cpus)
		return -ENOMEM;
	memcpy(e->cpus, pmu->cpus, pmu->ncpus * sizeof(*e->cpus));
	e->pub.ncpus = pmu->ncpus;
	return 0;
}

/* A generic event on one core type. */
static int add_on_core(struct pev_parser *p, const struct pev_pmu *core, const char *name,
		       uint32_t type, uint64_t config)
{
	struct pev_parsed_own *e = pev_parse_add_(p, type, config);

	if (!e || copy_cpus(e, core) || asprintf(&e->label, "%s/%s/", core->name, name) < 0) {
		if (e)
			e->label = NULL;
		return no_memory(p);
	}
	if (type == PERF_TYPE_RAW)
		e->buf.attr.type = core->type;
	else
		pev_attr_set_core_type(&e->buf.attr, core->type);
	return pev_parse_own_terms_(p, e);
}

static int add_generic(struct pev_parser *p, const char *name, uint32_t type, uint64_t config)
{
	struct pev_pmu *cores[CORES_MAX];
	struct pev_parsed_own *e;
	size_t n = type == PERF_TYPE_SOFTWARE ? 0 : open_cores(p, cores);
	int rc = 0;

	if (!n) {
		e = pev_parse_add_(p, type, config);
		if (!e || !(e->label = strdup(name)))
			return no_memory(p);
		return pev_parse_own_terms_(p, e);
	}
	for (size_t i = 0; i < n; i++) {
		if (!rc)
			rc = add_on_core(p, cores[i], name, type, config);
		pev_pmu_close(cores[i]);
	}
	return rc;
}

int pev_parse_number_(struct pev_parser *p, uint32_t type, uint64_t config)
{
	struct pev_parsed_own *e = pev_parse_add_(p, type, config);

	return e ? pev_parse_own_terms_(p, e) : no_memory(p);
}

/* ---- PMUs ----------------------------------------------------------------------------------- */

static bool is_wild(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

/* "uncore_imc" and "imc" mean uncore_imc_0, uncore_imc_1, ... */
static bool is_instance(const char *pmu, const char *name)
{
	size_t len = strlen(name);

	if (!strncmp(pmu, "uncore_", 7) && strncmp(name, "uncore_", 7))
		pmu += 7;
	if (strncmp(pmu, name, len))
		return false;
	pmu += len;
	if (*pmu == '_')
		pmu++;
	return pmu[strspn(pmu, "0123456789")] == '\0';
}

/* Applies the terms to e. -ENOENT: the PMU lacks one of them. */
static int build(struct pev_parser *p, struct pev_parsed_own *e, const struct pev_pmu *pmu)
{
	struct pev_pmu_build b = { .pmu = pmu, .buf = &e->buf };
	int rc = 0;

	pev_pmu_begin_(&b);
	for (size_t i = 0; i < p->nterms && !rc; i++) {
		const struct pev_term *t = &p->terms[i];

		rc = pev_parse_term_(p, e, t);
		if (rc != -ENOENT)
			continue;
		rc = pev_pmu_term_(&b, t->name, t->value, p->err);
		if (rc)
			pev_parse_fail_in_(p, t->at, rc);
	}
	if (rc)
		return rc;
	rc = pev_pmu_end_(&b, p->err);
	if (rc)
		return pev_parse_fail_in_(p, p->pos, rc);
	if (!b.event)
		return 0;
	e->pub.scale = b.event->scale;
	e->pub.per_package = b.event->per_package;
	e->pub.snapshot = b.event->snapshot;
	e->unit = b.event->unit ? strdup(b.event->unit) : NULL;
	return b.event->unit && !e->unit ? -ENOMEM : 0;
}

/* Makes the label "msr/tsc/", with the terms as given. */
static int name_pmu_event(struct pev_parser *p, struct pev_parsed_own *e, const char *pmu)
{
	char label[600];
	size_t n = (size_t)snprintf(label, sizeof(label), "%s/", pmu);

	if (e->label)
		return 0;
	for (size_t i = 0; i < p->nterms && n < sizeof(label); i++)
		n += (size_t)snprintf(label + n, sizeof(label) - n, "%s%s%s%s", i ? "," : "",
				      p->terms[i].name, p->terms[i].value ? "=" : "",
				      p->terms[i].value ? p->terms[i].value : "");
	if (n < sizeof(label))
		snprintf(label + n, sizeof(label) - n, "/");
	e->label = strdup(label);
	return e->label ? 0 : -ENOMEM;
}

static int add_pmu_event(struct pev_parser *p, const char *name, size_t at)
{
	struct pev_parsed_own *e;
	struct pev_pmu *pmu;
	int rc = pev_pmu_open_at_(&pmu, p->env->pmus, name, p->err);

	if (rc)
		return pev_parse_fail_in_(p, at, rc);
	e = pev_parse_add_(p, pmu->type, 0);
	rc = e ? build(p, e, pmu) : no_memory(p);
	if (!rc && (copy_cpus(e, pmu) || name_pmu_event(p, e, name)))
		rc = no_memory(p);
	pev_pmu_close(pmu);
	return rc;
}

static int no_pmu(struct pev_parser *p, const char *names, const char *name, size_t at)
{
	char known[300] = "";
	size_t n = 0;

	for (; *names && n < sizeof(known); names += strlen(names) + 1)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "", names);
	return pev_parse_fail_(p, at, ENOENT, known, "there is no PMU, and no event with terms, named "
			       "\"%.60s\"", name);
}

/* Adds the event for each of the PMUs that has all the terms. */
static int add_instances(struct pev_parser *p, const char *names, const char *name, size_t at)
{
	size_t first = p->list->n;
	int rc = 0, lacking = 0;

	for (const char *pmu = names; *pmu && !rc; pmu += strlen(pmu) + 1) {
		size_t before = p->list->n;

		if (is_wild(name) ? fnmatch(name, pmu, 0) != 0 : !is_instance(pmu, name))
			continue;
		rc = add_pmu_event(p, pmu, at);
		if (rc != -ENOENT)
			continue;
		pev_attr_list_cut_(p->list, before);
		lacking = rc;
		rc = 0;
	}
	if (rc || p->list->n > first)
		return rc;
	return lacking ? lacking : no_pmu(p, names, name, at);
}

int pev_parse_pmu_(struct pev_parser *p, const char *name, size_t at)
{
	char path[PATH_MAX], *names;
	int rc;

	if (!is_wild(name) && name[0] != '.' &&
	    snprintf(path, sizeof(path), "%s/%s", p->env->pmus, name) < PATH_MAX &&
	    !access(path, F_OK))
		return add_pmu_event(p, name, at);
	if (pev_pmu_list_at_(p->env->pmus, &names))
		return no_pmu(p, "", name, at);
	rc = add_instances(p, names, name, at);
	free(names);
	return rc;
}

/* Calls found(p, pmu) for each PMU with an event of this name, until it returns other than 0. Returns that. */
static int each_with_event(const struct pev_parser *p, const char *name,
			   int (*found)(void *ctx, const char *pmu), void *ctx)
{
	char path[PATH_MAX], *names;
	int rc = 0;

	if (strchr(name, '.') || pev_pmu_list_at_(p->env->pmus, &names))
		return 0;
	for (const char *pmu = names; *pmu && !rc; pmu += strlen(pmu) + 1)
		if (snprintf(path, sizeof(path), "%s/%s/events/%s", p->env->pmus, pmu, name) < PATH_MAX &&
		    !access(path, F_OK))
			rc = found(ctx, pmu);
	free(names);
	return rc;
}

static int stop(void *ctx, const char *pmu)
{
	return 1;
}

bool pev_parse_is_pmu_event_(const struct pev_parser *p, const char *name)
{
	return each_with_event(p, name, stop, NULL);
}

struct plain {
	struct pev_parser *p;
	const char *name;
	size_t at;
};

/* Applies the name as the first term. */
static int add_plain(void *ctx, const char *pmu)
{
	struct plain *c = ctx;
	struct pev_parser *p = c->p;
	int rc;

	if (p->nterms == PARSE_TERMS_MAX)
		return pev_parse_fail_(p, c->at, EINVAL, NULL, "more than %d terms", PARSE_TERMS_MAX);
	memmove(p->terms + 1, p->terms, p->nterms * sizeof(*p->terms));
	p->terms[0] = (struct pev_term){ .name = (char *)c->name, .at = c->at };
	p->nterms++;
	rc = add_pmu_event(p, pmu, c->at);
	p->nterms--;
	memmove(p->terms, p->terms + 1, p->nterms * sizeof(*p->terms));
	return rc;
}

int pev_parse_name_(struct pev_parser *p, const char *name, size_t at)
{
	struct plain plain = { p, name, at };
	char near[128], place[256], hint[160] = "";
	uint32_t type;
	uint64_t config;
	int rc;

	if (generic(name, &type, &config))
		return add_generic(p, name, type, config);
	rc = each_with_event(p, name, add_plain, &plain);
	if (rc || p->list->n > p->first)
		return rc;
	if (p->err && pev_near_name_(name, p->env->pmus, near, sizeof(near)))
		snprintf(hint, sizeof(hint), "; did you mean \"%s\"?", near);
	else if (p->err && pev_tracefs_path(place, sizeof(place), NULL) == -EACCES)
		snprintf(hint, sizeof(hint), " (tracepoints could not be looked up: this user may not read /sys/kernel/tracing)");
	return pev_parse_fail_(p, at, ENOENT, "a name that `perf-prof list` shows, rHEX, pmu/terms/, "
			       "system:name or mem:address",
			       "there is no event named \"%.60s\"%s", name, hint);
}
