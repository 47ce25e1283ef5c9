/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of CPU events by libpfm4, if it was there at build time. It is loaded when the first such name is looked up: the
 * dynamic linker would take a millisecond at each start to relocate its tables. libpfm has global state:
 * pthread_once() initializes it once per process.
 */
#include "perfevent/parse/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_LIBPFM
#include <dlfcn.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>

#define LIBRARY "libpfm.so.4"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Its functions; all of them, or no library. */
static struct {
	void *library;
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_get_event_info) *event_info;
	__typeof__(pfm_get_event_attr_info) *attr_info;
	__typeof__(pfm_get_pmu_info) *pmu_info;
	__typeof__(pfm_get_event_next) *next;
} pfm;

#ifdef STATIC_PROGRAM
static void start(void)
{
	pfm.initialize = pfm_initialize;
	pfm.encode = pfm_get_os_event_encoding;
	pfm.event_info = pfm_get_event_info;
	pfm.attr_info = pfm_get_event_attr_info;
	pfm.pmu_info = pfm_get_pmu_info;
	pfm.next = pfm_get_event_next;
	if (pfm.initialize() == PFM_SUCCESS)
		pfm.library = &pfm;
}
#else
static const struct {
	const char *name;
	void *to;
} functions[] = {
	{ "pfm_initialize", &pfm.initialize }, { "pfm_get_os_event_encoding", &pfm.encode },
	{ "pfm_get_event_info", &pfm.event_info }, { "pfm_get_event_attr_info", &pfm.attr_info },
	{ "pfm_get_pmu_info", &pfm.pmu_info }, { "pfm_get_event_next", &pfm.next },
};

static bool find_functions(void *library)
{
	bool all = library != NULL;

	for (size_t i = 0; all && i < sizeof(functions) / sizeof(*functions); i++) {
		void *function = dlsym(library, functions[i].name);

		all = function != NULL;
		memcpy(functions[i].to, &function, sizeof(function));
	}
	return all;
}

static void start(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (find_functions(library) && pfm.initialize() == PFM_SUCCESS)
		pfm.library = library;
	else if (library)
		dlclose(library);
}
#endif

static bool is_there(void)
{
	pthread_once(&once, start);
	return pfm.library;
}

/* By default libpfm excludes hypervisor and guests; here a name without such letters counts everything. */
static void take_levels(struct perf_event_attr *a, const char *name)
{
	if (a->exclude_user || a->exclude_kernel || strstr(name, ":mh") || strstr(name, ":mg"))
		return;
	a->exclude_hv = 0;
	a->exclude_guest = a->exclude_host = 0;
}

int pev_pfm_encode_(const char *name, union pev_attr_buf *buf)
{
	pfm_perf_encode_arg_t arg = { .attr = &buf->attr, .size = sizeof(arg), .cpu = -1 };

	if (!is_there())
		return -ENOENT;
	pev_attr_buf_init(buf, 0, 0);
	if (pfm.encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg) !=
	    PFM_SUCCESS)
		return -ENOENT;
	buf->attr.size = PERF_ATTR_SIZE_VER7;
	take_levels(&buf->attr, name);
	/* libpfm finds tracepoints in debugfs: those were refused by our own lookup before */
	return buf->attr.type == PERF_TYPE_TRACEPOINT ? -ENOENT : 0;
}

/* ---- all vendor events ------------------------------------------------------------ */

struct walk {
	pev_vendor_fn *fn;
	void *ctx;
	pfm_pmu_info_t pmu;
	bool prefix;           /* the name alone could belong to another PMU */
};

static int offer(const struct walk *w, const char *event, const char *mask, const char *desc)
{
	char name[256];
	int n = snprintf(name, sizeof(name), "%s%s%s%s%s", w->prefix ? w->pmu.name : "",
			 w->prefix ? "::" : "", event, mask ? ":" : "", mask ? mask : "");

	if (n < 0 || (size_t)n >= sizeof(name))
		return 0;
	return w->fn(w->pmu.name, name, desc ? desc : "", w->ctx);
}

/* An event and its unit masks. */
static int offer_event(const struct walk *w, int index)
{
	pfm_event_info_t event = { .size = sizeof(event) };
	int rc;

	if (pfm.event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
		return 0;
	rc = offer(w, event.name, NULL, event.desc);
	for (int i = 0; !rc && i < event.nattrs; i++) {
		pfm_event_attr_info_t mask = { .size = sizeof(mask) };

		if (pfm.attr_info(index, i, PFM_OS_PERF_EVENT, &mask) == PFM_SUCCESS &&
		    mask.type == PFM_ATTR_UMASK)
			rc = offer(w, event.name, mask.name, mask.desc);
	}
	return rc;
}

/* The next PMU of this machine, without the kernel's generic one, whose names the library has. */
static bool next_pmu(int *number, pfm_pmu_info_t *pmu)
{
	while (++*number < PFM_PMU_MAX) {
		*pmu = (pfm_pmu_info_t){ .size = sizeof(*pmu) };
		if (pfm.pmu_info((pfm_pmu_t)*number, pmu) == PFM_SUCCESS && pmu->is_present &&
		    pmu->pmu != PFM_PMU_PERF_EVENT && pmu->pmu != PFM_PMU_PERF_EVENT_RAW)
			return true;
	}
	return false;
}

int pev_vendor_each(pev_vendor_fn *fn, void *ctx)
{
	struct walk w = { .fn = fn, .ctx = ctx };
	int rc = 0, cores = 0;

	if (!is_there())
		return -ENOTSUP;
	for (int n = PFM_PMU_NONE; next_pmu(&n, &w.pmu); )
		cores += w.pmu.type == PFM_PMU_TYPE_CORE;
	for (int n = PFM_PMU_NONE; !rc && next_pmu(&n, &w.pmu); ) {
		w.prefix = w.pmu.type != PFM_PMU_TYPE_CORE || cores > 1;
		for (int i = w.pmu.first_event; !rc && i != -1; i = pfm.next(i))
			rc = offer_event(&w, i);
	}
	return rc;
}
#else
int pev_vendor_each(pev_vendor_fn *fn, void *ctx)
{
	return -ENOTSUP;
}

int pev_pfm_encode_(const char *name, union pev_attr_buf *buf)
{
	return -ENOENT;
}
#endif
