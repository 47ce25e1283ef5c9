/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	static const uint64_t values[] = { 0x1111, 0x7ffe0000 };
	struct pev_regs regs = { .abi = PERF_SAMPLE_REGS_ABI_64, .mask = 1 << 0 | 1 << 7,
				 .values = values };
	uint64_t value;

	for (unsigned int reg = 0; reg < 64; reg++)
		if (pev_regs_value(&regs, reg, &value))
			printf("%s %#" PRIx64 "\n", pev_reg_name(PEV_ARCH_X86_64, regs.abi, reg),
			       value);
	return 0;
}
