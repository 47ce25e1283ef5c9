/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are a table of rules, and a stack to walk by them; and the instructions of an unwind table. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/dwarf/frameptr.h"
#include "symbols/dwarf/unwind.h"

enum { MAX = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* By any rule of the table, and by frame pointers. */
static bool any(void *table, uint64_t addr, const struct cfi_rule **rule)
{
	*rule = table && addr % 4 ? cfi_table_find(table, (unsigned int)(addr % CFI_PAGE)) : NULL;
	return addr % 3;
}

static void walk(struct cfi_table *t, const uint8_t *data, size_t size, enum unwind_machine machine)
{
	uint64_t regs[64] = { 0 }, ips[MAX];
	struct unwind_sample s = { machine, (UINT64_C(1) << 33) - 1, regs, data, size };

	memcpy(regs, data, size < sizeof(regs) ? size : sizeof(regs));
	assert(unwind(&s, any, t, ips, MAX, NULL) <= MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_table *t = cfi_table_unpack(data, size);

	for (unsigned int byte = 0; t && byte < CFI_PAGE; byte++) {
		const struct cfi_rule *r = cfi_table_find(t, byte);

		assert(!r || (r->ra < CFI_REGS && r->cfa.reg < CFI_REGS));
	}
	walk(t, data, size, UNWIND_X86_64);
	walk(t, data, size, UNWIND_I386);
	walk(t, data, size, UNWIND_ARM64);
	cfi_table_free(t);
	frameptr_scan(FRAMEPTR_X86_64, data, size);
	frameptr_scan(FRAMEPTR_ARM64, data, size);
	return 0;
}
