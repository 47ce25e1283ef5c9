/* SPDX-License-Identifier: Apache-2.0 */
/* Names of numbers in records. */
#include "perfevent/decode/text.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *const records[] = {
	[PERF_RECORD_MMAP] = "MMAP",
	[PERF_RECORD_LOST] = "LOST",
	[PERF_RECORD_COMM] = "COMM",
	[PERF_RECORD_EXIT] = "EXIT",
	[PERF_RECORD_THROTTLE] = "THROTTLE",
	[PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
	[PERF_RECORD_FORK] = "FORK",
	[PERF_RECORD_READ] = "READ",
	[PERF_RECORD_SAMPLE] = "SAMPLE",
	[PERF_RECORD_MMAP2] = "MMAP2",
	[PERF_RECORD_AUX] = "AUX",
	[PERF_RECORD_ITRACE_START] = "ITRACE_START",
	[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
	[PERF_RECORD_SWITCH] = "SWITCH",
	[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PERF_RECORD_NAMESPACES] = "NAMESPACES",
	[PERF_RECORD_KSYMBOL] = "KSYMBOL",
	[PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
	[PERF_RECORD_CGROUP] = "CGROUP",
	[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[PEV_RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
};

static const char *const samples[] = {
	"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID", "RAW",
	"BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER", "TRANSACTION",
	"REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP", "DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT",
};

static const char *const cpu_modes[] = {
	[PERF_RECORD_MISC_KERNEL] = "kernel",
	[PERF_RECORD_MISC_USER] = "user",
	[PERF_RECORD_MISC_HYPERVISOR] = "hypervisor",
	[PERF_RECORD_MISC_GUEST_KERNEL] = "guest-kernel",
	[PERF_RECORD_MISC_GUEST_USER] = "guest-user",
};

static const char *const namespaces[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };

static const char *const ksymbols[] = {
	[PERF_RECORD_KSYMBOL_TYPE_UNKNOWN] = "UNKNOWN",
	[PERF_RECORD_KSYMBOL_TYPE_BPF] = "BPF",
	[PERF_RECORD_KSYMBOL_TYPE_OOL] = "OOL",
};

static const char *const bpf_events[] = {
	[PERF_BPF_EVENT_UNKNOWN] = "UNKNOWN",
	[PERF_BPF_EVENT_PROG_LOAD] = "PROG_LOAD",
	[PERF_BPF_EVENT_PROG_UNLOAD] = "PROG_UNLOAD",
};

#define PICK(table, i) ((i) < COUNT(table) ? (table)[i] : NULL)

const char *pev_record_name(uint32_t type)
{
	return PICK(records, type);
}

const char *pev_sample_name(uint64_t bit)
{
	if (!bit || bit & (bit - 1))
		return NULL;
	return PICK(samples, (size_t)__builtin_ctzll(bit));
}

const char *pev_cpu_mode_name(uint16_t misc)
{
	return PICK(cpu_modes, misc & (size_t)PERF_RECORD_MISC_CPUMODE_MASK);
}

const char *pev_namespace_name(uint64_t index)
{
	return PICK(namespaces, index);
}

const char *pev_ksymbol_type_name(uint16_t type)
{
	return PICK(ksymbols, type);
}

const char *pev_bpf_event_name(uint16_t type)
{
	return PICK(bpf_events, type);
}

const char *pev_context_name(uint64_t ip)
{
	static const struct {
		uint64_t ip;
		const char *name;
	} contexts[] = {
		{ (uint64_t)PERF_CONTEXT_HV, "hypervisor" },
		{ (uint64_t)PERF_CONTEXT_KERNEL, "kernel" },
		{ (uint64_t)PERF_CONTEXT_USER, "user" },
		{ PEV_CONTEXT_USER_DEFERRED, "user-deferred" },
		{ (uint64_t)PERF_CONTEXT_GUEST, "guest" },
		{ (uint64_t)PERF_CONTEXT_GUEST_KERNEL, "guest-kernel" },
		{ (uint64_t)PERF_CONTEXT_GUEST_USER, "guest-user" },
	};

	for (size_t i = 0; i < COUNT(contexts); i++)
		if (contexts[i].ip == ip)
			return contexts[i].name;
	return NULL;
}

/* ---- misc: the meaning of its upper bits depends on the type ------------------------ */

#define OF(type) (1U << (type))
#define ANY UINT32_MAX

static const struct {
	uint32_t types;     /* a bit per record type */
	uint16_t bit;
	const char *name;
} misc_bits[] = {
	{ OF(PERF_RECORD_COMM), PERF_RECORD_MISC_COMM_EXEC, "exec" },
	{ OF(PERF_RECORD_FORK), PERF_RECORD_MISC_FORK_EXEC, "exec" },
	{ OF(PERF_RECORD_MMAP) | OF(PERF_RECORD_MMAP2), PERF_RECORD_MISC_MMAP_DATA, "data" },
	{ OF(PERF_RECORD_MMAP2), PERF_RECORD_MISC_MMAP_BUILD_ID, "build-id" },
	{ OF(PERF_RECORD_SWITCH) | OF(PERF_RECORD_SWITCH_CPU_WIDE), PERF_RECORD_MISC_SWITCH_OUT, "out" },
	{ OF(PERF_RECORD_SWITCH) | OF(PERF_RECORD_SWITCH_CPU_WIDE), PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
	  "preempt" },
	{ OF(PERF_RECORD_SAMPLE), PERF_RECORD_MISC_EXACT_IP, "exact-ip" },
	{ ANY, PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT, "proc-map-timeout" },
};

int pev_misc_text(uint32_t type, uint16_t misc, char *buf, size_t size)
{
	struct text t = pev_text_(buf, size);
	const char *mode = pev_cpu_mode_name(misc);
	uint32_t of = type < 32 ? OF(type) : 0;

	if (mode) {
		pev_text_put_(&t, "%s", mode);
		misc &= (uint16_t)~PERF_RECORD_MISC_CPUMODE_MASK;
	}
	for (size_t i = 0; i < COUNT(misc_bits); i++) {
		if (!(misc_bits[i].types & of) || !(misc & misc_bits[i].bit))
			continue;
		pev_text_put_(&t, "%s%s", t.n ? " " : "", misc_bits[i].name);
		misc &= (uint16_t)~misc_bits[i].bit;
	}
	if (misc)
		pev_text_put_(&t, "%s0x%x", t.n ? " " : "", misc);
	return (int)t.n;
}
