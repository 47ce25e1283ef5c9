/* SPDX-License-Identifier: Apache-2.0 */
#include "events/parts.h"

#include <linux/perf_event.h>
#include <string.h>

static const struct sample_part parts[] = {
	{ "identifier", PERF_SAMPLE_IDENTIFIER, PART_INT },
	{ "ip", PERF_SAMPLE_IP, PART_INT },
	{ "pid", PERF_SAMPLE_TID, PART_INT },
	{ "tid", PERF_SAMPLE_TID, PART_INT },
	{ "time", PERF_SAMPLE_TIME, PART_INT },
	{ "addr", PERF_SAMPLE_ADDR, PART_INT },
	{ "id", PERF_SAMPLE_ID, PART_INT },
	{ "stream_id", PERF_SAMPLE_STREAM_ID, PART_INT },
	{ "cpu", PERF_SAMPLE_CPU, PART_INT },
	{ "period", PERF_SAMPLE_PERIOD, PART_INT },
	{ "callchain", PERF_SAMPLE_CALLCHAIN, PART_LIST },
	{ "raw", PERF_SAMPLE_RAW, PART_BYTES },
	{ "read", PERF_SAMPLE_READ, PART_DICT },
	{ "branch_stack", PERF_SAMPLE_BRANCH_STACK, PART_BYTES },
	{ "regs_user", PERF_SAMPLE_REGS_USER, PART_DICT },
	{ "stack_user", PERF_SAMPLE_STACK_USER, PART_BYTES },
	{ "weight", PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, PART_INT },
	{ "data_src", PERF_SAMPLE_DATA_SRC, PART_INT },
	{ "transaction", PERF_SAMPLE_TRANSACTION, PART_INT },
	{ "regs_intr", PERF_SAMPLE_REGS_INTR, PART_DICT },
	{ "phys_addr", PERF_SAMPLE_PHYS_ADDR, PART_INT },
	{ "aux", PERF_SAMPLE_AUX, PART_BYTES },
	{ "cgroup", PERF_SAMPLE_CGROUP, PART_INT },
	{ "data_page_size", PERF_SAMPLE_DATA_PAGE_SIZE, PART_INT },
	{ "code_page_size", PERF_SAMPLE_CODE_PAGE_SIZE, PART_INT },
};

const struct sample_part *sample_part_at(size_t i)
{
	return i < sizeof(parts) / sizeof(*parts) ? &parts[i] : NULL;
}

uint64_t sample_part_bits(const char *name, size_t len)
{
	static const char newer[] = "weight_struct";   /* in events it is `weight`, too */

	if (len == sizeof(newer) - 1 && !strncmp(name, newer, len))
		return PERF_SAMPLE_WEIGHT_STRUCT;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (strlen(parts[i].name) == len && !strncmp(parts[i].name, name, len))
			return parts[i].bits;
	return 0;
}
