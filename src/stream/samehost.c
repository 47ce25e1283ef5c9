/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a recording is of this machine, and of the kernel that runs now. Addresses of the
 * kernel have names only if it lies where it lay: it is laid elsewhere at each boot.
 */
#include "stream/kerneladdr.h"
#include "stream/replay_private.h"

#include <string.h>
#include <sys/utsname.h>

enum { LOOK_AHEAD = 64 };

static bool same_text(const char *a, const char *b)
{
	return a && !strcmp(a, b);
}

/* "[kernel.kallsyms]_text": perf says by it where that symbol lay. */
static bool lies_there(const struct pev_mmap *m)
{
	const char *symbol = strchr(m->filename, ']');
	uint64_t now;

	if (!symbol || !symbol[1])
		return false;
	now = kernel_address(symbol + 1);
	return now && now == m->pgoff;
}

static bool is_kernel(const struct pev_record *rec)
{
	return (rec->type == PERF_RECORD_MMAP || rec->type == PERF_RECORD_MMAP2) &&
	       rec->mmap.pid == UINT32_MAX && !strncmp(rec->mmap.filename, "[kernel.kallsyms]", 17);
}

static bool kernel_lies_there(struct replay *p)
{
	const struct perf_event_header *rec;
	const struct pev_format *fmt = &perfdata_event(p->reader, 0)->format;
	struct pev_record out;

	if (perfdata_is_foreign(p->reader))
		return false;
	for (size_t i = 0; i < LOOK_AHEAD && perfdata_peek(p->reader, i, &rec); i++) {
		if (rec->type == PERF_RECORD_SAMPLE)
			return false;
		if (!pev_decode(rec, rec->size, fmt, &out) && is_kernel(&out))
			return lies_there(&out.mmap);
	}
	return false;
}

void replay_compare_machine(struct replay *p)
{
	const struct perfdata_info *info = perfdata_info(p->reader);
	struct utsname name;

	if (uname(&name))
		return;
	p->same_machine = same_text(info->hostname, name.nodename) && same_text(info->arch, name.machine);
	p->same_kernel = same_text(info->osrelease, name.release) && same_text(info->arch, name.machine) &&
			 kernel_lies_there(p);
}
