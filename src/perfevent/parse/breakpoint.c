/* SPDX-License-Identifier: Apache-2.0 */
#include "perfevent/attr/complain.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>

uint64_t pev_breakpoint_exec_length(void)
{
	return sizeof(long);
}

static uint64_t usual_length(uint32_t type)
{
	return type == HW_BREAKPOINT_X ? pev_breakpoint_exec_length() : 4;
}

static int refuse(struct pev_error *err, uint32_t type, uint64_t addr, uint64_t len,
		  const char *field, const char *remedy)
{
	pev_ask_(err, EINVAL, "a breakpoint of type %u, %llu bytes at %#llx", type,
		 (unsigned long long)len, (unsigned long long)addr);
	pev_say_(err, "%s is not valid", field);
	pev_advise_(err, "%s", remedy);
	return -EINVAL;
}

int pev_attr_breakpoint(struct perf_event_attr *attr, uint32_t type, uint64_t addr, uint64_t len,
			struct pev_error *err)
{
	if (!type || (type & HW_BREAKPOINT_X && type != HW_BREAKPOINT_X) || type > HW_BREAKPOINT_X)
		return refuse(err, type, addr, len, "bp_type", "use HW_BREAKPOINT_W, HW_BREAKPOINT_R | "
			      "HW_BREAKPOINT_W, HW_BREAKPOINT_R, or HW_BREAKPOINT_X alone");
	if (len > HW_BREAKPOINT_LEN_8)
		return refuse(err, type, addr, len, "bp_len", "1 to 8 bytes can be watched (x86: 1, 2, "
			      "4 or 8); 0 takes the usual length");
	pev_attr_init(attr, PERF_TYPE_BREAKPOINT, 0);
	attr->bp_type = type;
	attr->bp_addr = addr;
	attr->bp_len = len ? len : usual_length(type);
	return 0;
}
