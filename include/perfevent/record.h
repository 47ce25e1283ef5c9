/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/record.h - decoding of records */
#ifndef PEV_RECORD_H
#define PEV_RECORD_H

#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Kernel ABI missing in older <linux/perf_event.h>, with the kernel's values
 * (include/uapi/linux/perf_event.h). #ifdef cannot test for enumerators, hence the PEV_ prefix.
 */
#define PEV_RECORD_CALLCHAIN_DEFERRED 22     /* Linux 6.19 */
#define PEV_RECORD_MAX_KNOWN 22
#define PEV_RECORD_MAX_SIZE 65536            /* header.size is 16 bits */
#define PEV_SAMPLE_BRANCH_COUNTERS (1U << 19)          /* branch_sample_type. Linux 6.8 */
#define PEV_CONTEXT_USER_DEFERRED ((uint64_t)-640)     /* in call chains. Linux 6.19 */
#define PEV_MEM_LVLNUM_L2_MHB 0x05                     /* L2 miss handling buffer. Linux 6.11 */
#define PEV_MEM_LVLNUM_MSC 0x06                        /* memory-side cache. Linux 6.11 */
#define PEV_MEM_LVLNUM_L0 0x07                         /* Linux 7.0 */
#define PEV_MEM_LVLNUM_UNC 0x08                        /* uncached. Linux 6.6 */
#define PEV_MEM_REGION_SHIFT 46                        /* data_src: 5 bits. Linux 7.0 */

/* Decoding needs bytes and a format, no descriptor. */

/* Architecture whose register numbers are in a sample. */
enum pev_arch {
	PEV_ARCH_NATIVE,        /* this machine's */
	PEV_ARCH_X86_64,
	PEV_ARCH_I386,
	PEV_ARCH_ARM64,
	PEV_ARCH_RISCV64,
};

/* The parts of an attr that are needed to decode its records. */
struct pev_format {
	uint64_t sample_type;
	uint64_t read_format;
	uint64_t branch_sample_type;
	uint64_t regs_user;
	uint64_t regs_intr;
	bool sample_id_all;
	uint8_t arch;           /* enum pev_arch, for names only */
};

/* Sets fmt for records of attr. */
PEV_API void pev_format_from_attr(struct pev_format *fmt, const struct perf_event_attr *attr);

/* Counter values in a sample (PERF_SAMPLE_READ): nr == 1 unless PERF_FORMAT_GROUP. Get entry i
 * with pev_read_value(); `values` points into the record. */
struct pev_read {
	uint64_t nr;
	uint64_t time_enabled;
	uint64_t time_running;
	const uint64_t *values;
	uint32_t stride;        /* u64 words per entry */
	uint64_t format;        /* read_format */
};
/* All 0 if i >= nr. */
PEV_API void pev_read_value(const struct pev_read *read, uint64_t i, struct pev_count *out);

/* The sample_id trailer of records other than SAMPLE (attr.sample_id_all). */
struct pev_sample_id {
	uint64_t present;       /* PERF_SAMPLE_* bits that it has */
	uint32_t pid, tid;
	uint64_t time;
	uint64_t id;            /* from ID or IDENTIFIER */
	uint64_t stream_id;
	uint32_t cpu;
};

/* Branches taken before a sample, the latest first (Linux 3.4). Get one with pev_branch_entry(). */
struct pev_branches {
	uint64_t nr;
	bool has_hw_index;
	uint64_t hw_index;          /* top of the hardware's branch stack. Linux 5.7 */
	const uint64_t *entries;    /* three words each */
	const uint64_t *counters;   /* one word each, or NULL. Linux 6.8 */
};

struct pev_branch {
	uint64_t from, to;
	bool mispred, predicted;    /* both false: not supported by the hardware */
	bool in_tx, abort;          /* in a hardware transaction; aborted it */
	uint16_t cycles;            /* since the previous branch, 0 = unknown */
	uint8_t type;               /* PERF_BR_*. Linux 4.14 */
	uint8_t spec;               /* PERF_BR_SPEC_*. Linux 6.1 */
	uint8_t new_type;           /* PERF_BR_NEW_*, if type is PERF_BR_EXTEND_ABI. Linux 6.1 */
	uint8_t priv;               /* PERF_BR_PRIV_*. Linux 6.1 */
	uint64_t counters;          /* occurrences of the group's events, packed as by the PMU */
};
/* All 0 if i >= nr. */
PEV_API void pev_branch_entry(const struct pev_branches *branches, uint64_t i, struct pev_branch *out);

/* Registers: one value per bit of mask, lowest bit first (Linux 3.7 user, 3.19 intr). */
struct pev_regs {
	uint64_t abi;               /* PERF_SAMPLE_REGS_ABI_*; NONE: no registers */
	uint64_t mask;              /* sample_regs_user or sample_regs_intr; 0 if abi is NONE */
	const uint64_t *values;
};
/* Value of register `reg` (a bit of mask); false if it was not sampled. */
PEV_API bool pev_regs_value(const struct pev_regs *regs, unsigned int reg, uint64_t *value);

/* PERF_SAMPLE_WEIGHT has `full`; WEIGHT_STRUCT (Linux 5.12) has the three parts, whose meaning
 * depends on the PMU: on Intel latency, instruction latency, and retire latency. */
struct pev_weight {
	uint64_t full;
	uint32_t var1;
	uint16_t var2, var3;
};

/*
 * Pointers point into the record and are valid as long as it is. A field whose bit is not in
 * sample_type is 0 or NULL.
 */
struct pev_sample {
	uint64_t identifier, ip, time, addr, id, stream_id, period;
	uint32_t pid, tid, cpu;
	uint32_t raw_size;
	const void *raw;
	uint64_t callchain_nr;
	const uint64_t *callchain;   /* with PERF_CONTEXT_* markers */
	/* Bits of sample_type that were not decoded: from a newer kernel, or after registers of
	 * an unknown ABI. */
	uint64_t undecoded;
	bool exact_ip;               /* misc EXACT_IP: ip is the instruction that caused the event */

	struct pev_read read;
	struct pev_branches branches;
	struct pev_regs regs_user, regs_intr;
	uint64_t stack_size;         /* bytes at stack: the user stack from its stack pointer on */
	const void *stack;
	uint64_t stack_dyn_size;     /* number of these that the kernel could copy; at most stack_size */
	struct pev_weight weight;    /* Linux 3.10 */
	uint64_t data_src;           /* see pev_data_src(). Linux 3.10 */
	uint64_t transaction;        /* PERF_TXN_*. Linux 3.13 */
	uint64_t phys_addr;          /* of addr. Linux 4.14 */
	uint64_t cgroup;             /* as in CGROUP records. Linux 5.7 */
	uint64_t data_page_size;     /* bytes, of addr. Linux 5.11 */
	uint64_t code_page_size;     /* bytes, of ip. Linux 5.11 */
	uint64_t aux_size;           /* Linux 5.5 */
	const void *aux;
};

struct pev_lost { uint64_t id, lost; };
struct pev_comm { uint32_t pid, tid; const char *comm; bool exec; };
struct pev_task { uint32_t pid, ppid, tid, ptid; uint64_t time; };   /* FORK, EXIT */
struct pev_mmap {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	const char *filename;
	bool data;                   /* misc MMAP_DATA: not executable */
	/* MMAP2 only */
	bool has_build_id;
	uint8_t build_id_size;
	uint8_t build_id[20];
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};
struct pev_throttle { uint64_t time, id, stream_id; };
struct pev_counts { uint32_t pid, tid; struct pev_read read; };      /* READ: inherit_stat */
struct pev_aux { uint64_t offset, size, flags; };                    /* PERF_AUX_FLAG_* */
struct pev_itrace_start { uint32_t pid, tid; };
struct pev_switch {
	bool out;                    /* else in */
	bool preempt;                /* out, but runnable */
	uint32_t next_prev_pid, next_prev_tid;   /* SWITCH_CPU_WIDE: the task switched to or from */
};
struct pev_namespace { uint64_t dev, inode; };
struct pev_namespaces {
	uint32_t pid, tid;
	uint64_t nr;
	const struct pev_namespace *entries;     /* index: see pev_namespace_name() */
};
struct pev_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t type;               /* PERF_RECORD_KSYMBOL_TYPE_* */
	uint16_t flags;
	bool unregister;             /* unregistered; else registered */
	const char *name;
};
struct pev_bpf_event {
	uint16_t type;               /* PERF_BPF_EVENT_* */
	uint16_t flags;
	uint32_t id;
	uint8_t tag[8];
};
struct pev_cgroup { uint64_t id; const char *path; };
struct pev_text_poke {
	uint64_t addr;
	uint16_t old_len, new_len;
	const uint8_t *old_bytes, *new_bytes;
};
struct pev_aux_output_hw_id { uint64_t hw_id; };
/* The user part of call chains that ended with PEV_CONTEXT_USER_DEFERRED, cookie. */
struct pev_callchain_deferred { uint64_t cookie, nr; const uint64_t *ips; };

/* A decoded record. `type` selects the member of the union; types unknown to the library have
 * none, only type, misc, size and header. */
struct pev_record {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
	const struct perf_event_header *header;
	struct pev_sample_id sample_id;   /* not for SAMPLE */
	union {
		struct pev_sample sample;
		struct pev_lost lost;         /* LOST; LOST_SAMPLES (Linux 4.2) has id 0 */
		struct pev_comm comm;
		struct pev_task task;
		struct pev_mmap mmap;         /* MMAP, MMAP2 */
		struct pev_throttle throttle; /* THROTTLE, UNTHROTTLE */
		struct pev_counts read;       /* READ */
		struct pev_aux aux;           /* AUX. Linux 4.1 */
		struct pev_itrace_start itrace_start;             /* Linux 4.1 */
		struct pev_switch context_switch;                 /* SWITCH, SWITCH_CPU_WIDE. Linux 4.3 */
		struct pev_namespaces namespaces;                 /* Linux 4.12 */
		struct pev_ksymbol ksymbol;                       /* Linux 5.1 */
		struct pev_bpf_event bpf_event;                   /* Linux 5.1 */
		struct pev_cgroup cgroup;                         /* Linux 5.7 */
		struct pev_text_poke text_poke;                   /* Linux 5.9 */
		struct pev_aux_output_hw_id aux_output_hw_id;     /* Linux 5.16 */
		struct pev_callchain_deferred callchain_deferred; /* Linux 6.19 */
	};
};

/* Decodes the record at rec, which has at most `avail` bytes and is 8-byte aligned. 0, or
 * -EBADMSG if the bytes contradict themselves or the format. Nothing outside [rec, rec + avail)
 * is ever read. On failure *out is zeroed but for type, misc, size and header. Members of the
 * record's own struct beyond the end of the record are 0. */
PEV_API int pev_decode(const struct perf_event_header *rec, size_t avail,
		       const struct pev_format *fmt, struct pev_record *out);
struct pev_ring;
/* Decodes rec, a record of ring, by the layout of the event that the ring was mapped for; see pev_decode().
 * -EOPNOTSUPP if pev_event_set_output() has put records of another layout into the ring: decode each with
 * pev_decode() and the format of its own event. */
PEV_API int pev_ring_decode(const struct pev_ring *ring, const struct perf_event_header *rec,
			    struct pev_record *out);

#ifdef __cplusplus
}
#endif
#endif
