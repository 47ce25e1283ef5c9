/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All constants of <linux/perf_event.h>, up to Linux 6.19. The values are written out, so that the
 * module does not depend on the header it was built with; tests/python/test_pyperf.py compares them
 * with the header of the machine. Constants that end in _MAX are not ABI: they are those of the
 * newest kernel.
 */
#include "pyperf/pyperf.h"

#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

/* Names in a row: the values are consecutive numbers from first, or bits from first. */
#define UP(prefix, first, names) { prefix, "", names, first, false }
#define BITS(prefix, first, names) { prefix, "", names, first, true }

#define BRANCHES \
	"USER KERNEL HV ANY ANY_CALL ANY_RETURN IND_CALL ABORT_TX IN_TX NO_TX COND CALL_STACK IND_JUMP " \
	"CALL NO_FLAGS NO_CYCLES TYPE_SAVE HW_INDEX PRIV_SAVE COUNTERS MAX"

static const struct series {
	const char *prefix, *suffix;
	const char *names;          /* between prefix and suffix, separated by spaces */
	uint64_t first;
	bool bits;
} series[] = {
	/* attr.type */
	UP("PERF_TYPE_", 0, "HARDWARE SOFTWARE TRACEPOINT HW_CACHE RAW BREAKPOINT MAX"),

	/* parts of attr.config */
	UP("PERF_COUNT_HW_", 0,
	   "CPU_CYCLES INSTRUCTIONS CACHE_REFERENCES CACHE_MISSES BRANCH_INSTRUCTIONS BRANCH_MISSES "
	   "BUS_CYCLES STALLED_CYCLES_FRONTEND STALLED_CYCLES_BACKEND REF_CPU_CYCLES MAX"),

	/* attr.config of PERF_TYPE_HW_CACHE: cache | op << 8 | result << 16 */
	UP("PERF_COUNT_HW_CACHE_", 0, "L1D L1I LL DTLB ITLB BPU NODE MAX"),
	UP("PERF_COUNT_HW_CACHE_OP_", 0, "READ WRITE PREFETCH MAX"),
	UP("PERF_COUNT_HW_CACHE_RESULT_", 0, "ACCESS MISS MAX"),

	/* attr.config of PERF_TYPE_SOFTWARE */
	UP("PERF_COUNT_SW_", 0,
	   "CPU_CLOCK TASK_CLOCK PAGE_FAULTS CONTEXT_SWITCHES CPU_MIGRATIONS PAGE_FAULTS_MIN "
	   "PAGE_FAULTS_MAJ ALIGNMENT_FAULTS EMULATION_FAULTS DUMMY BPF_OUTPUT CGROUP_SWITCHES MAX"),

	/* attr.sample_type */
	BITS("PERF_SAMPLE_", 1,
	     "IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER "
	     "STACK_USER WEIGHT DATA_SRC IDENTIFIER TRANSACTION REGS_INTR PHYS_ADDR AUX CGROUP "
	     "DATA_PAGE_SIZE CODE_PAGE_SIZE WEIGHT_STRUCT MAX"),

	/* attr.branch_sample_type */
	{ "PERF_SAMPLE_BRANCH_", "_SHIFT", BRANCHES, 0, false },
	BITS("PERF_SAMPLE_BRANCH_", 1, BRANCHES),

	/* kinds of branches */
	UP("PERF_BR_", 0,
	   "UNKNOWN COND UNCOND IND CALL IND_CALL RET SYSCALL SYSRET COND_CALL COND_RET ERET IRQ SERROR "
	   "NO_TX EXTEND_ABI MAX"),
	UP("PERF_BR_", 0, "SPEC_NA SPEC_WRONG_PATH NON_SPEC_CORRECT_PATH SPEC_CORRECT_PATH SPEC_MAX"),
	UP("PERF_BR_NEW_", 0, "FAULT_ALGN FAULT_DATA FAULT_INST ARCH_1 ARCH_2 ARCH_3 ARCH_4 ARCH_5 MAX"),
	UP("PERF_BR_PRIV_", 0, "UNKNOWN USER KERNEL HV"),
	UP("PERF_BR_ARM64_", 3, "FIQ DEBUG_HALT DEBUG_EXIT DEBUG_INST DEBUG_DATA"),

	/* registers and transactions */
	UP("PERF_SAMPLE_REGS_ABI_", 0, "NONE 32 64"),
	BITS("PERF_TXN_", 1,
	     "ELISION TRANSACTION SYNC ASYNC RETRY CONFLICT CAPACITY_WRITE CAPACITY_READ MAX"),

	/* attr.read_format */
	BITS("PERF_FORMAT_", 1, "TOTAL_TIME_ENABLED TOTAL_TIME_RUNNING ID GROUP LOST MAX"),

	/* header.misc */
	UP("PERF_RECORD_MISC_", 0, "CPUMODE_UNKNOWN KERNEL USER HYPERVISOR GUEST_KERNEL GUEST_USER"),

	/* header.type */
	UP("PERF_RECORD_", 1,
	   "MMAP LOST COMM EXIT THROTTLE UNTHROTTLE FORK READ SAMPLE MMAP2 AUX ITRACE_START LOST_SAMPLES "
	   "SWITCH SWITCH_CPU_WIDE NAMESPACES KSYMBOL BPF_EVENT CGROUP TEXT_POKE AUX_OUTPUT_HW_ID "
	   "CALLCHAIN_DEFERRED MAX"),

	/* parts of records */
	UP("PERF_RECORD_KSYMBOL_TYPE_", 0, "UNKNOWN BPF OOL MAX"),
	UP("PERF_BPF_EVENT_", 0, "UNKNOWN PROG_LOAD PROG_UNLOAD MAX"),
	BITS("PERF_AUX_FLAG_", 1, "TRUNCATED OVERWRITE PARTIAL COLLISION"),

	/* flags of perf_event_open() */
	BITS("PERF_FLAG_", 1, "FD_NO_GROUP FD_OUTPUT PID_CGROUP FD_CLOEXEC"),

	/* data_src */
	BITS("PERF_MEM_OP_", 1, "NA LOAD STORE PFETCH EXEC"),
	BITS("PERF_MEM_LVL_", 1,
	     "NA HIT MISS L1 LFB L2 L3 LOC_RAM REM_RAM1 REM_RAM2 REM_CCE1 REM_CCE2 IO UNC"),
	UP("PERF_MEM_LVLNUM_", 1, "L1 L2 L3 L4 L2_MHB MSC L0 UNC CXL IO ANY_CACHE LFB RAM PMEM NA"),
	BITS("PERF_MEM_SNOOP_", 1, "NA NONE HIT MISS HITM"),
	BITS("PERF_MEM_SNOOPX_", 1, "FWD PEER"),
	BITS("PERF_MEM_LOCK_", 1, "NA LOCKED"),
	BITS("PERF_MEM_TLB_", 1, "NA HIT MISS L1 L2 WK OS"),
	BITS("PERF_MEM_BLK_", 1, "NA DATA ADDR"),
	UP("PERF_MEM_HOPS_", 1, "0 1 2 3"),
};

#define NEGATIVE(n) (uint64_t)-(n)
#define HEADER(name) { #name, name }

static const struct constant {
	const char *name;
	uint64_t value;
} constants[] = {
	/* parts of attr.config */
	{ "PERF_PMU_TYPE_SHIFT", 32 },
	{ "PERF_HW_EVENT_MASK", 0xffffffff },

	/* of samples */
	{ "PERF_SAMPLE_WEIGHT_TYPE", 0x1004000 },
	{ "PERF_SAMPLE_BRANCH_PLM_ALL", 7 },
	{ "PERF_TXN_ABORT_MASK", 0xffffffffull << 32 },
	{ "PERF_TXN_ABORT_SHIFT", 32 },
	{ "PERF_MAX_STACK_DEPTH", 127 },
	{ "PERF_MAX_CONTEXTS_PER_STACK", 8 },
	{ "PERF_BRANCH_ENTRY_INFO_BITS_MAX", 33 },

	/* attr.size: Linux 2.6.31, 2.6.33, 3.4, 3.7, 3.19, 4.1, 5.5, 5.13, 6.3, 6.19 */
	{ "PERF_ATTR_SIZE_VER0", 64 },
	{ "PERF_ATTR_SIZE_VER1", 72 },
	{ "PERF_ATTR_SIZE_VER2", 80 },
	{ "PERF_ATTR_SIZE_VER3", 96 },
	{ "PERF_ATTR_SIZE_VER4", 104 },
	{ "PERF_ATTR_SIZE_VER5", 112 },
	{ "PERF_ATTR_SIZE_VER6", 120 },
	{ "PERF_ATTR_SIZE_VER7", 128 },
	{ "PERF_ATTR_SIZE_VER8", 136 },
	{ "PERF_ATTR_SIZE_VER9", 144 },

	/* ioctl(2): numbers of the architecture */
	HEADER(PERF_EVENT_IOC_ENABLE),
	HEADER(PERF_EVENT_IOC_DISABLE),
	HEADER(PERF_EVENT_IOC_REFRESH),
	HEADER(PERF_EVENT_IOC_RESET),
	HEADER(PERF_EVENT_IOC_PERIOD),
	HEADER(PERF_EVENT_IOC_SET_OUTPUT),
	HEADER(PERF_EVENT_IOC_SET_FILTER),
	HEADER(PERF_EVENT_IOC_ID),
	HEADER(PERF_EVENT_IOC_SET_BPF),
	HEADER(PERF_EVENT_IOC_PAUSE_OUTPUT),
	HEADER(PERF_EVENT_IOC_QUERY_BPF),
	HEADER(PERF_EVENT_IOC_MODIFY_ATTRIBUTES),
	{ "PERF_IOC_FLAG_GROUP", 1 },

	/* header.misc */
	{ "PERF_RECORD_MISC_CPUMODE_MASK", 7 },
	{ "PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT", 0x1000 },
	{ "PERF_RECORD_MISC_MMAP_DATA", 0x2000 },
	{ "PERF_RECORD_MISC_COMM_EXEC", 0x2000 },
	{ "PERF_RECORD_MISC_FORK_EXEC", 0x2000 },
	{ "PERF_RECORD_MISC_SWITCH_OUT", 0x2000 },
	{ "PERF_RECORD_MISC_EXACT_IP", 0x4000 },
	{ "PERF_RECORD_MISC_SWITCH_OUT_PREEMPT", 0x4000 },
	{ "PERF_RECORD_MISC_MMAP_BUILD_ID", 0x4000 },
	{ "PERF_RECORD_MISC_EXT_RESERVED", 0x8000 },

	/* parts of records */
	{ "PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER", 1 },
	{ "PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK", 0xff00 },
	{ "PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT", 0 },
	{ "PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW", 0x100 },

	/* markers in call chains, unsigned */
	{ "PERF_CONTEXT_HV", NEGATIVE(32) },
	{ "PERF_CONTEXT_KERNEL", NEGATIVE(128) },
	{ "PERF_CONTEXT_USER", NEGATIVE(512) },
	{ "PERF_CONTEXT_USER_DEFERRED", NEGATIVE(640) },
	{ "PERF_CONTEXT_GUEST", NEGATIVE(2048) },
	{ "PERF_CONTEXT_GUEST_KERNEL", NEGATIVE(2176) },
	{ "PERF_CONTEXT_GUEST_USER", NEGATIVE(2560) },
	{ "PERF_CONTEXT_MAX", NEGATIVE(4095) },

	/* data_src */
	{ "PERF_MEM_OP_SHIFT", 0 },
	{ "PERF_MEM_LVL_SHIFT", 5 },
	{ "PERF_MEM_REMOTE_REMOTE", 1 },
	{ "PERF_MEM_REMOTE_SHIFT", 37 },
	{ "PERF_MEM_LVLNUM_SHIFT", 33 },
	{ "PERF_MEM_SNOOP_SHIFT", 19 },
	{ "PERF_MEM_SNOOPX_SHIFT", 38 },
	{ "PERF_MEM_LOCK_SHIFT", 24 },
	{ "PERF_MEM_TLB_SHIFT", 26 },
	{ "PERF_MEM_BLK_SHIFT", 40 },
	{ "PERF_MEM_HOPS_SHIFT", 43 },

	/* prctl(2) */
	HEADER(PR_TASK_PERF_EVENTS_DISABLE),
	HEADER(PR_TASK_PERF_EVENTS_ENABLE),

	/* attr.bp_type, attr.bp_len */
	HEADER(HW_BREAKPOINT_EMPTY),
	HEADER(HW_BREAKPOINT_R),
	HEADER(HW_BREAKPOINT_W),
	HEADER(HW_BREAKPOINT_RW),
	HEADER(HW_BREAKPOINT_X),
	HEADER(HW_BREAKPOINT_LEN_1),
	HEADER(HW_BREAKPOINT_LEN_2),
	HEADER(HW_BREAKPOINT_LEN_4),
	HEADER(HW_BREAKPOINT_LEN_8),
};

static int add_constant(PyObject *module, const char *name, uint64_t value)
{
	return add_object(module, name, PyLong_FromUnsignedLongLong(value));
}

static int add_series(PyObject *module, const struct series *s)
{
	uint64_t value = s->first;
	char name[64];

	for (const char *at = s->names; *at; at += strspn(at, " ")) {
		int len = (int)strcspn(at, " ");

		snprintf(name, sizeof(name), "%s%.*s%s", s->prefix, len, at, s->suffix);
		if (add_constant(module, name, value))
			return -1;
		value = s->bits ? value << 1 : value + 1;
		at += len;
	}
	return 0;
}

int add_constants(PyObject *module)
{
	for (size_t i = 0; i < sizeof(series) / sizeof(*series); i++)
		if (add_series(module, &series[i]))
			return -1;
	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
		if (add_constant(module, constants[i].name, constants[i].value))
			return -1;
	return 0;
}
