/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	uint64_t word = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, L1) |
			PERF_MEM_S(TLB, HIT);
	struct pev_data_src source;
	char text[256];

	pev_data_src(word, &source);
	pev_data_src_text(word, text, sizeof(text));
	printf("%s: %s\n", source.op & PERF_MEM_OP_LOAD ? "load" : "other", text);
	return 0;
}
