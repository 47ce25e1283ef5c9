/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From terms to an attr: which bits get a value (the sysfs folder `format`), and what an event's
 * name stands for. A later term overrides an earlier one, so "mem-loads,ldlat=30" changes a
 * default of the event.
 */
#include "perfevent/machine/pmu.h"

#include "perfevent/attr/complain.h"
#include "perfevent/parse/parse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TERM_LIMIT 4096

static const char *const words[] = { "config", "config1", "config2", "config3", "config4" };
enum { NWORDS = sizeof(words) / sizeof(*words) };

void pev_pmu_begin_(struct pev_pmu_build *b)
{
	pev_attr_buf_init(b->buf, b->pmu->type, 0);
}

static const struct pev_pmu_format *find_format(const struct pev_pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nformats; i++)
		if (!strcmp(pmu->formats[i].name, name))
			return &pmu->formats[i];
	return NULL;
}

static const struct pev_pmu_event *find_event(const struct pev_pmu *pmu, const char *name)
{
	for (size_t i = 0; i < pmu->nevents; i++)
		if (!strcmp(pmu->events[i].name, name))
			return &pmu->events[i];
	return NULL;
}

static int wrong_value(struct pev_error *err, const struct pev_pmu *pmu, const char *name,
		       const char *value, uint64_t max)
{
	pev_ask_(err, EINVAL, "%.80s=%.80s of the PMU %.60s", name, value ? value : "", pmu->name);
	pev_say_(err, "expected a number from 0 to %#llx", (unsigned long long)max);
	return -EINVAL;
}

static bool parse_value(const char *text, uint64_t max, uint64_t *value)
{
	if (!text) {
		*value = 1;
		return max >= 1;
	}
	return pev_parse_u64_(text, value) && *value <= max;
}

/* Distributes value over the bits, lowest bit first. */
static uint64_t spread(uint64_t value, uint64_t bits)
{
	uint64_t out = 0;

	for (; bits; bits &= bits - 1, value >>= 1)
		if (value & 1)
			out |= bits & -bits;
	return out;
}

static uint64_t max_of(uint64_t bits)
{
	int n = __builtin_popcountll(bits);

	return n == 64 ? UINT64_MAX : (1ull << n) - 1;
}

static void given(struct pev_pmu_build *b, const struct pev_pmu_format *f)
{
	for (size_t i = 0; i < b->nmissing; i++)
		if (b->missing[i] == f)
			b->missing[i--] = b->missing[--b->nmissing];
}

static int set_format(struct pev_pmu_build *b, const struct pev_pmu_format *f, const char *value,
		      struct pev_error *err)
{
	uint64_t v, word;

	if (f->word >= NWORDS) {
		pev_ask_(err, EINVAL, "%.80s of the PMU %.60s", f->name, b->pmu->name);
		pev_say_(err, "it goes to config%u of an attr, which this library does not know",
			 f->word);
		return -EINVAL;
	}
	if (!parse_value(value, max_of(f->bits), &v))
		return wrong_value(err, b->pmu, f->name, value, max_of(f->bits));
	given(b, f);
	pev_attr_get(&b->buf->attr, words[f->word], &word);
	pev_attr_set(b->buf, words[f->word], (word & ~f->bits) | spread(v, f->bits));
	return 0;
}

static int set_word(struct pev_pmu_build *b, const char *name, const char *value,
		    struct pev_error *err)
{
	uint64_t v;

	if (!value || !parse_value(value, UINT64_MAX, &v))
		return wrong_value(err, b->pmu, name, value, UINT64_MAX);
	return pev_attr_set(b->buf, name, v);
}

/* The terms of an event are formats and config words, not events. */
static int set_event_term(struct pev_pmu_build *b, const char *name, const char *value,
			  struct pev_error *err)
{
	const struct pev_pmu_format *f = find_format(b->pmu, name);

	if (f && value && !strcmp(value, "?")) {
		if (b->nmissing < sizeof(b->missing) / sizeof(*b->missing))
			b->missing[b->nmissing++] = f;
		return 0;
	}
	if (f)
		return set_format(b, f, value, err);
	for (size_t i = 0; i < NWORDS; i++)
		if (!strcmp(words[i], name))
			return set_word(b, name, value, err);
	pev_ask_(err, EBADMSG, "the event %.80s of the PMU %.60s", b->event->name, b->pmu->name);
	pev_say_(err, "its sysfs file uses \"%.80s\", which is not a term of the PMU", name);
	return -EBADMSG;
}

/* Calls set() for each "name[=value]" in text. */
static int each_term(struct pev_pmu_build *b, const char *text,
		     int (*set)(struct pev_pmu_build *, const char *, const char *,
				struct pev_error *),
		     struct pev_error *err)
{
	char copy[TERM_LIMIT], *save, *term;
	int rc = 0;

	if (strlen(text) >= sizeof(copy)) {
		pev_ask_(err, E2BIG, "terms of the PMU %.60s", b->pmu->name);
		pev_say_(err, "they are longer than %d bytes", TERM_LIMIT - 1);
		return -E2BIG;
	}
	strcpy(copy, text);
	for (term = strtok_r(copy, ",", &save); term && !rc; term = strtok_r(NULL, ",", &save)) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		rc = set(b, term, value, err);
	}
	return rc;
}

/* Generic names inside a core PMU: cpu_atom/cycles/, cpu/L1-dcache-loads/, cpu/r1a8/. */
static bool set_generic(struct pev_pmu_build *b, const char *name)
{
	struct perf_event_attr *a = &b->buf->attr;
	uint64_t config;

	if (!b->pmu->core)
		return false;
	if (!pev_hardware_lookup(name, &config)) {
		a->type = PERF_TYPE_HARDWARE;
	} else if (!pev_cache_lookup(name, &config)) {
		a->type = PERF_TYPE_HW_CACHE;
	} else {
		if (pev_raw_lookup(name, &config))
			return false;
		a->config = config;
		return true;
	}
	a->config = config;
	if (b->pmu->hybrid)
		pev_attr_set_core_type(a, b->pmu->type);
	return true;
}

/* "event, umask, tsc": the valid terms. */
static void list_terms(const struct pev_pmu *pmu, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < pmu->nformats && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s=", n ? ", " : "",
				      pmu->formats[i].name);
	for (size_t i = 0; i < pmu->nevents && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", pmu->events[i].name);
}

static int unknown_term(const struct pev_pmu_build *b, const char *name, struct pev_error *err)
{
	char known[400];

	list_terms(b->pmu, known, sizeof(known));
	pev_ask_(err, ENOENT, "the term \"%.100s\" of the PMU %.60s", name, b->pmu->name);
	pev_say_(err, "the PMU has no such term");
	pev_advise_(err, "it has: %s%sconfig=", known, known[0] ? ", " : "");
	return -ENOENT;
}

int pev_pmu_term_(struct pev_pmu_build *b, const char *name, const char *value,
		  struct pev_error *err)
{
	const struct pev_pmu_format *f = find_format(b->pmu, name);
	const struct pev_pmu_event *e = value ? NULL : find_event(b->pmu, name);

	if (e) {
		b->event = e;
		return each_term(b, e->terms, set_event_term, err);
	}
	if (f)
		return set_format(b, f, value, err);
	for (size_t i = 0; i < NWORDS; i++)
		if (!strcmp(words[i], name))
			return set_word(b, name, value, err);
	if (!value && set_generic(b, name))
		return 0;
	return unknown_term(b, name, err);
}

int pev_pmu_end_(const struct pev_pmu_build *b, struct pev_error *err)
{
	if (!b->nmissing)
		return 0;
	pev_ask_(err, EINVAL, "the event %.80s of the PMU %.60s", b->event->name, b->pmu->name);
	pev_say_(err, "it needs a value for %.80s", b->missing[0]->name);
	pev_advise_(err, "write %.60s/%.80s,%.80s=NUMBER/", b->pmu->name, b->event->name,
		    b->missing[0]->name);
	return -EINVAL;
}

int pev_pmu_attr(const struct pev_pmu *pmu, const char *terms, union pev_attr_buf *buf,
		 struct pev_error *err)
{
	struct pev_pmu_build b = { .pmu = pmu, .buf = buf };
	int rc;

	pev_pmu_begin_(&b);
	rc = each_term(&b, terms, pev_pmu_term_, err);
	if (rc == -ENOENT)
		rc = -EINVAL;
	return rc ? rc : pev_pmu_end_(&b, err);
}
