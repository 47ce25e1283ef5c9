/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is wrong with a uprobe. No trials: a probe at another place would put a breakpoint into
 * processes that run the file. The attr's path pointer may be invalid, since the kernel may have
 * failed before reading it, so the path is read like memory of another process.
 */
#include "perfevent/open/explain.h"

#include "perfevent/machine/pmu.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REF_CTR_SHIFT 32     /* from the PMU's format file: config:32-63 */

/* Reads a string at an address that may be invalid; false if it has no end. */
static bool fetch(uint64_t address, char *buf, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), first = page - address % page;
	struct iovec to = { buf, size }, from[2] = {
		{ (void *)(uintptr_t)address, first < size ? first : size },
		{ (void *)(uintptr_t)(address + first), first < size ? size - first : 0 },
	};
	ssize_t n = process_vm_readv(getpid(), &to, 1, from, 2, 0);

	return n > 0 && memchr(buf, '\0', (size_t)n);
}

static bool is_uprobe(const struct perf_event_attr *attr)
{
	uint32_t type;

	return !pev_pmu_lookup_type("uprobe", &type) && type == attr->type;
}

bool pev_blame_uprobe_(const struct pev_event *ev, char *buf, size_t size)
{
	const struct perf_event_attr *a = &ev->attr;
	char path[PATH_MAX];
	struct stat st;

	if (!is_uprobe(a) || !fetch(a->uprobe_path, path, sizeof(path)))
		return false;
	if (!path[0])
		return snprintf(buf, size, "uprobe_path: it is empty");
	if (stat(path, &st))
		return snprintf(buf, size, "uprobe_path: there is no file %.150s", path);
	if (!S_ISREG(st.st_mode))
		return snprintf(buf, size, "uprobe_path: %.150s is no regular file", path);
	if (a->probe_offset >= (uint64_t)st.st_size)
		return snprintf(buf, size, "probe_offset = %#llx: %.120s has %#llx bytes",
				(unsigned long long)a->probe_offset, path,
				(unsigned long long)st.st_size);
	if (a->config >> REF_CTR_SHIFT & 1)
		return snprintf(buf, size, "config = %#llx: ref_ctr_offset (its upper half) has to be even",
				(unsigned long long)a->config);
	return false;
}
