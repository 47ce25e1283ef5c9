/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	/* One branch, as the kernel writes it: from, to, and a word of flags. */
	static const uint64_t words[] = { 0x401000, 0x402000, 1u << 1 | 12u << 4 | 1u << 20 };
	struct pev_branches branches = { .nr = 1, .entries = words };
	struct pev_branch branch;

	pev_branch_entry(&branches, 0, &branch);
	printf("%#" PRIx64 " -> %#" PRIx64 " %s%s, %u cycles\n", branch.from, branch.to,
	       branch.predicted ? "predicted " : "", pev_branch_type_name(&branch), branch.cycles);
	return 0;
}
