/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/probe.h - breakpoints, kprobes, uprobes and USDT probes */
#ifndef PEV_PROBE_H
#define PEV_PROBE_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- breakpoints ---- */

/* type is a mask of HW_BREAKPOINT_R, _W, or _X alone (<linux/hw_breakpoint.h>); len is 1
 * to 8 bytes, 0 = what fits the type: 4 for data, pev_breakpoint_exec_length() for X.
 * -EINVAL, said in err, for anything else. What this CPU lacks of it shows when the event is
 * opened, and err says which field it was: x86 knows lengths 1, 2, 4, 8, aligned addresses, and no
 * R without W. */
PEV_API int pev_attr_breakpoint(struct perf_event_attr *attr, uint32_t type, uint64_t addr,
				uint64_t len, struct pev_error *err);
/* Bytes of an execution breakpoint: sizeof(long) (the kernel takes no other on x86). */
PEV_API uint64_t pev_breakpoint_exec_length(void);

/* ---- probes: kprobe and uprobe PMUs, Linux 4.17 ---- */

/* attr.config1 points to `symbol` or `path`: it has to live until the event was opened. */

/* Kernel function `symbol` + offset, at its return if `ret` (then offset is 0). -ENOENT if
 * the kernel has no kprobe PMU. A symbol that does not exist shows when it is opened. */
PEV_API int pev_attr_kprobe(struct perf_event_attr *attr, const char *symbol, uint64_t offset,
			    bool ret, struct pev_error *err);
/* Kernel address. */
PEV_API int pev_attr_kprobe_addr(struct perf_event_attr *attr, uint64_t addr, bool ret,
				 struct pev_error *err);
/* File offset of an executable or library; ref_ctr_offset is the file offset of a
 * semaphore that the kernel raises while somebody watches (USDT; Linux 4.20), or 0. */
PEV_API int pev_attr_uprobe(struct perf_event_attr *attr, const char *path, uint64_t offset,
			    uint64_t ref_ctr_offset, bool ret, struct pev_error *err);
/* pev_attr_uprobe() at a symbol of the file + offset. */
PEV_API int pev_attr_uprobe_symbol(struct perf_event_attr *attr, const char *path,
				   const char *symbol, uint64_t offset, bool ret,
				   struct pev_error *err);
/* File offset of a function symbol of an ELF file (symtab, else dynsym). -ENOENT: no such
 * symbol; -EBADMSG: no ELF file, or a damaged one. */
PEV_API int pev_elf_symbol(const char *path, const char *symbol, uint64_t *file_offset,
			   struct pev_error *err);

/* USDT probes: what DTRACE_PROBE() and its like left in a binary's .note.stapsdt. */
struct pev_usdt;

struct pev_usdt_probe {
	const char *provider;
	const char *name;
	const char *args;         /* "-4@%edi 8@%rax" */
	uint64_t address;         /* of the probe, as linked */
	uint64_t offset;          /* of the probe in the file */
	uint64_t ref_ctr_offset;  /* of its semaphore in the file; 0 = none */
};

/* Reads the notes of path. A file without any has 0 probes. -EBADMSG: damaged. */
PEV_API int pev_usdt_open(struct pev_usdt **out, const char *path, struct pev_error *err);
/* NULL is fine. What was borrowed from it goes with it. */
PEV_API void pev_usdt_close(struct pev_usdt *usdt);
/* In the file's order; a probe may stand several times (inlined); NULL past the end. */
PEV_API const struct pev_usdt_probe *pev_usdt_at(const struct pev_usdt *usdt, size_t i);
/* attr of one of them; attr.config1 borrows usdt's copy of the path. */
PEV_API int pev_attr_usdt(struct perf_event_attr *attr, const struct pev_usdt *usdt, size_t i,
			  struct pev_error *err);

#ifdef __cplusplus
}
#endif
#endif
