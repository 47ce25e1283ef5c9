/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/profiles/levels.h"

#include "perfevent/attr/attr_fields.h"

#define AT(member) offsetof(struct levels, member)

const struct opt levels_opts[] = {
	{ "exclude-user", 0, NULL, OPT_FLAG, AT(no_user), NULL, "Leave out user space.", false, NULL },
	{ "exclude-kernel", 0, NULL, OPT_FLAG, AT(no_kernel), NULL, "Leave out the kernel.", false, NULL },
	{ "exclude-guest", 0, NULL, OPT_FLAG, AT(no_guest), NULL, "Leave out guests (virtual machines).",
	  false, NULL },
	{ "exclude-host", 'G', NULL, OPT_FLAG, AT(no_host), NULL,
	  "Leave out the host: sample guests only. Needs an event of the CPU, such as cycles.", false, NULL },
};

int levels_set(const struct levels *levels, struct perf_event_attr *attr, struct fault *f)
{
	attr->exclude_user |= levels->no_user;
	attr->exclude_kernel |= levels->no_kernel;
	attr->exclude_hv |= levels->no_kernel;
	attr->exclude_guest |= levels->no_guest;
	attr->exclude_host |= levels->no_host;
	if (levels->no_user | levels->no_kernel && attr->exclude_user && attr->exclude_kernel)
		return fault_usage(f, "--exclude-user with --exclude-kernel leaves nothing to count (the event's own :k and :u count, too)");
	if (levels->no_guest | levels->no_host && attr->exclude_guest && attr->exclude_host)
		return fault_usage(f, "--exclude-guest with --exclude-host leaves nothing to count (the event's own :H and :G count, too)");
	if (levels->no_host && pev_is_of_host_alone_(attr))
		return fault_usage(f, "--exclude-host: the kernel ignores it for software events such as cpu-clock and page-faults; it needs "
				   "an event of the CPU: -e cycles, if this machine has it (`perf-prof check`)");
	return 0;
}

bool levels_any(const struct levels *levels)
{
	return levels->no_user || levels->no_kernel || levels->no_guest || levels->no_host;
}
