/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/probe.h - breakpoints, kprobes, uprobes and USDT probes */
#ifndef PEV_PROBE_H
#define PEV_PROBE_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- breakpoints ---- */

/* type is a mask of HW_BREAKPOINT_R, _W, or _X alone (<linux/hw_breakpoint.h>). len is 1 to 8
 * bytes, 0 = by type: 4 for data, pev_breakpoint_exec_length() for X. -EINVAL, explained in err,
 * for anything else. Limits of the CPU are reported when the event is opened, and err names the
 * field: x86 needs a length of 1, 2, 4 or 8, an aligned address, and W with R. */
PEV_API int pev_attr_breakpoint(struct perf_event_attr *attr, uint32_t type, uint64_t addr,
				uint64_t len, struct pev_error *err);
/* Length of an execution breakpoint: sizeof(long) bytes (on x86 the kernel accepts no other). */
PEV_API uint64_t pev_breakpoint_exec_length(void);

/* ---- probes: kprobe and uprobe PMUs, Linux 4.17 ---- */

/* attr.config1 points to `symbol` or `path`, which must stay valid until the event is opened. The kernel resolves the path then,
 * once more after pev_elf_symbol() and the like: if others may replace the file, pass "/proc/self/fd/N" of your descriptor. */

/* Kernel function `symbol` + offset, at its return if `ret` (then offset must be 0). -ENOENT if
 * the kernel has no kprobe PMU. An unknown symbol is only reported when the event is opened. */
PEV_API int pev_attr_kprobe(struct perf_event_attr *attr, const char *symbol, uint64_t offset,
			    bool ret, struct pev_error *err);
/* Kernel address. */
PEV_API int pev_attr_kprobe_addr(struct perf_event_attr *attr, uint64_t addr, bool ret,
				 struct pev_error *err);
/* An offset in the file of an executable or library. ref_ctr_offset: file offset of a counter
 * that the kernel increments while the probe is in use (USDT semaphore; Linux 4.20), or 0. */
PEV_API int pev_attr_uprobe(struct perf_event_attr *attr, const char *path, uint64_t offset,
			    uint64_t ref_ctr_offset, bool ret, struct pev_error *err);
/* pev_attr_uprobe() at a symbol of the file + offset. */
PEV_API int pev_attr_uprobe_symbol(struct perf_event_attr *attr, const char *path,
				   const char *symbol, uint64_t offset, bool ret,
				   struct pev_error *err);
/* File offset of a function symbol in an ELF file (symtab, else dynsym). -ENOENT: no such symbol;
 * -EBADMSG: not an ELF file, or a damaged one. */
PEV_API int pev_elf_symbol(const char *path, const char *symbol, uint64_t *file_offset,
			   struct pev_error *err);

/* USDT probes: the entries of DTRACE_PROBE() and the like in a binary's .note.stapsdt. */
struct pev_usdt;

struct pev_usdt_probe {
	const char *provider;
	const char *name;
	const char *args;         /* "-4@%edi 8@%rax" */
	uint64_t address;         /* of the probe, as linked */
	uint64_t offset;          /* of the probe in the file */
	uint64_t ref_ctr_offset;  /* of its semaphore in the file; 0 = none */
};

/* Reads the notes of path. A file without notes has 0 probes. -EBADMSG: damaged. */
PEV_API int pev_usdt_open(struct pev_usdt **out, const char *path, struct pev_error *err);
/* usdt may be NULL. Frees everything borrowed from it. */
PEV_API void pev_usdt_close(struct pev_usdt *usdt);
/* In the file's order; inlined probes come several times; NULL past the end. */
PEV_API const struct pev_usdt_probe *pev_usdt_at(const struct pev_usdt *usdt, size_t i);
/* Sets attr for probe i; attr.config1 borrows usdt's copy of the path. */
PEV_API int pev_attr_usdt(struct perf_event_attr *attr, const struct pev_usdt *usdt, size_t i,
			  struct pev_error *err);

#ifdef __cplusplus
}
#endif
#endif
