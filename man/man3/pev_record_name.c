/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	printf("%s %s\n", pev_record_name(PERF_RECORD_MMAP2),
	       pev_sample_name(PERF_SAMPLE_CALLCHAIN));
	printf("%s %s\n", pev_cpu_mode_name(PERF_RECORD_MISC_GUEST_USER),
	       pev_context_name(PERF_CONTEXT_KERNEL));
	printf("%s %s %s\n", pev_namespace_name(0), pev_ksymbol_type_name(1),
	       pev_bpf_event_name(1));
	printf("%s\n", pev_record_name(4711) ? "known" : "unknown");
	return 0;
}
