/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/text.h - packed words in parts; records and flags as text */
#ifndef PEV_TEXT_H
#define PEV_TEXT_H

#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- parts of packed words ---- */

/* Parts of PERF_SAMPLE_DATA_SRC; values are PERF_MEM_* without their shift. Bit sets: op, level,
 * snoop, lock, tlb, snoopx, blk. Numbers: level_num, hops, region. */
struct pev_data_src {
	uint8_t op;
	uint16_t level;
	uint8_t snoop;
	uint8_t lock;
	uint8_t tlb;
	uint8_t level_num;      /* Linux 4.14 */
	bool remote;            /* Linux 4.14 */
	uint8_t snoopx;         /* Linux 4.14 */
	uint8_t blk;            /* Linux 5.12 */
	uint8_t hops;           /* Linux 5.16 */
	uint8_t region;         /* Linux 7.0 */
	uint64_t unknown;       /* all other bits, in place */
};
PEV_API void pev_data_src(uint64_t word, struct pev_data_src *out);

/* ---- text ----
 * Functions that write text return the length of the whole text, as snprintf() does,
 * and terminate what fits (unless size is 0). Functions that return a name return NULL
 * for an unknown value. */

/* A record in one line, like `perf script -D`: names are escaped, bytes in hex (the first 64, then a mark). */
PEV_API int pev_record_text(const struct pev_record *rec, const struct pev_format *fmt, char *buf,
			    size_t size);
/* "op:load,level:hit|L1,tlb:hit"; "n/a" for 0. */
PEV_API int pev_data_src_text(uint64_t word, char *buf, size_t size);
/* "elision|retry|abort:0x12": PERF_SAMPLE_TRANSACTION. */
PEV_API int pev_transaction_text(uint64_t word, char *buf, size_t size);
/* "truncated|partial": flags of AUX records. */
PEV_API int pev_aux_flags_text(uint64_t flags, char *buf, size_t size);
/* "user exact-ip", "kernel", "out preempt": misc of a record of that type. */
PEV_API int pev_misc_text(uint32_t type, uint16_t misc, char *buf, size_t size);

PEV_API const char *pev_record_name(uint32_t type);              /* "MMAP2" */
PEV_API const char *pev_sample_name(uint64_t bit);               /* "CALLCHAIN"; one PERF_SAMPLE_ bit */
PEV_API const char *pev_cpu_mode_name(uint16_t misc);            /* "kernel", "guest-user" */
PEV_API const char *pev_context_name(uint64_t ip);               /* "kernel" for PERF_CONTEXT_KERNEL */
PEV_API const char *pev_reg_name(enum pev_arch arch, uint64_t abi, unsigned int reg); /* "SP" */
PEV_API const char *pev_branch_type_name(const struct pev_branch *branch);  /* "COND" */
PEV_API const char *pev_branch_spec_name(uint8_t spec);          /* "SPEC_WRONG_PATH" */
PEV_API const char *pev_branch_priv_name(uint8_t priv);          /* "USER" */
PEV_API const char *pev_namespace_name(uint64_t index);          /* "net" */
PEV_API const char *pev_ksymbol_type_name(uint16_t type);        /* "BPF" */
PEV_API const char *pev_bpf_event_name(uint16_t type);           /* "PROG_LOAD" */

#ifdef __cplusplus
}
#endif
#endif
