/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes by the kprobe and uprobe PMUs, which create and remove the probe with the event: nothing
 * is left in tracefs if the process dies. The PMU's format files say which bits are retprobe and
 * ref_ctr_offset.
 */
#include "perfevent/attr/complain.h"
#include "perfevent/machine/pmu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* attr for the PMU `name` with the retprobe bit. */
static int begin(struct perf_event_attr *attr, const char *name, bool ret,
		 uint64_t ref_ctr_offset, struct pev_error *err)
{
	union pev_attr_buf buf;
	struct pev_pmu *pmu;
	char terms[64] = "";
	size_t n = 0;
	int rc = pev_pmu_open(&pmu, name, err);

	if (rc == -ENOENT)
		pev_advise_(err, "needs Linux 4.17 or later, built with "
			    "CONFIG_%s_EVENTS", name[0] == 'k' ? "KPROBE" : "UPROBE");
	if (rc)
		return rc;
	if (ret)
		n = (size_t)snprintf(terms, sizeof(terms), "retprobe");
	if (ref_ctr_offset)
		snprintf(terms + n, sizeof(terms) - n, "%sref_ctr_offset=%#llx", n ? "," : "",
			 (unsigned long long)ref_ctr_offset);
	rc = pev_pmu_attr(pmu, terms, &buf, err);
	if (!rc)
		pev_attr_init(attr, buf.attr.type, buf.attr.config);
	pev_pmu_close(pmu);
	return rc;
}

int pev_attr_kprobe(struct perf_event_attr *attr, const char *symbol, uint64_t offset, bool ret,
		    struct pev_error *err)
{
	int rc;

	if (!symbol || !symbol[0] || (ret && offset)) {
		pev_ask_(err, EINVAL, "a probe at \"%.100s\"+%#llx", symbol ? symbol : "",
			 (unsigned long long)offset);
		pev_say_(err, ret && offset ? "a return probe cannot have an offset"
					    : "the name of the function is missing");
		return -EINVAL;
	}
	rc = begin(attr, "kprobe", ret, 0, err);
	if (rc)
		return rc;
	attr->kprobe_func = (uint64_t)(uintptr_t)symbol;
	attr->probe_offset = offset;
	return 0;
}

int pev_attr_kprobe_addr(struct perf_event_attr *attr, uint64_t addr, bool ret,
			 struct pev_error *err)
{
	int rc = begin(attr, "kprobe", ret, 0, err);

	if (!rc)
		attr->kprobe_addr = addr;
	return rc;
}

int pev_attr_uprobe(struct perf_event_attr *attr, const char *path, uint64_t offset,
		    uint64_t ref_ctr_offset, bool ret, struct pev_error *err)
{
	int rc;

	if (!path || !path[0]) {
		pev_ask_(err, EINVAL, "a probe in a file");
		pev_say_(err, "the name of the file is missing");
		return -EINVAL;
	}
	rc = begin(attr, "uprobe", ret, ref_ctr_offset, err);
	if (rc)
		return rc;
	attr->uprobe_path = (uint64_t)(uintptr_t)path;
	attr->probe_offset = offset;
	return 0;
}

int pev_attr_uprobe_symbol(struct perf_event_attr *attr, const char *path, const char *symbol,
			   uint64_t offset, bool ret, struct pev_error *err)
{
	uint64_t at;
	int rc = pev_elf_symbol(path, symbol, &at, err);

	return rc ? rc : pev_attr_uprobe(attr, path, at + offset, 0, ret, err);
}
