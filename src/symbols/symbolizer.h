/* SPDX-License-Identifier: Apache-2.0 */
/* Names of addresses in the kernel and in mapped files. */
#ifndef SYMBOLS_SYMBOLIZER_H
#define SYMBOLS_SYMBOLIZER_H

#include "symbols/dso.h"
#include "symbols/kernel/kallsyms.h"

struct symbolizer;

struct symbolizer_opts {
	const struct opener *opener;     /* outlives the symbolizer; NULL: opener_direct */
	size_t max_bytes;                /* limit for symbol tables; 0: 16 MiB */
	enum parser_place parse;         /* where files are parsed: see parser.h */
	/* debuginfod servers, as in DEBUGINFOD_URLS, for debug files; NULL: none. Use them only if the user asks for
	 * it, as build ids reveal which programs run here. Outlives it. */
	const char *debuginfod;
	/* For a recorded kernel: the address of "_text" or "_stext" in it. If it was another boot, this kernel's
	 * table is used only for the image and for modules at the same address as then. NULL: this kernel. */
	const char *base;
	uint64_t base_address;
	bool other_boot;
	/* For recordings that are read one after the other: this kernel's table, which the first symbolizer reads. The caller frees
	 * it after the last one. NULL: each reads it. */
	struct kallsyms **kept;
	int verbose;                     /* -v: report files that could not be read */
	/* NULL, or ring buffers are read meanwhile: see dsos_live(). */
	bool (*is_pressed)(void *ctx);
	/* When the run was asked to stop (CLOCK_MONOTONIC, ns; 0: not yet): then files of other users are given up. */
	uint64_t (*stopped)(void *ctx);
	void *ctx;
	struct helpers helpers;          /* notified of each process that is started */
};

/* Opens /proc/kallsyms with the current privilege, without reading it. Forks the parser's process, if one is used.
 * NULL: out of memory. */
struct symbolizer *symbolizer_new(const struct symbolizer_opts *opts);
void symbolizer_free(struct symbolizer *s);

/* Reads the kernel's table now, not at the first lookup. -EACCES if it shows no addresses to this user. */
int symbolizer_read_kernel(struct symbolizer *s);
/* The function of the kernel at addr; false if there is none. If an address has no name, the table is read again
 * after some seconds: modules and BPF programs are loaded and unloaded. The names are valid until the next call. */
bool symbolizer_kernel(struct symbolizer *s, uint64_t addr, struct kernel_symbol *sym);
/* The kernel object at addr, also without a symbol: the module recorded there, or the image. Valid as long. */
const char *symbolizer_kernel_dso(struct symbolizer *s, uint64_t addr);
/* Code reported by KSYMBOL records, which override the table: it exists since, or is gone. dso must be a constant.
 * After one BPF program was reported, BPF programs in the table are ignored. */
void symbolizer_kernel_came(struct symbolizer *s, uint64_t start, uint64_t len, const char *name, const char *dso);
void symbolizer_kernel_went(struct symbolizer *s, uint64_t start, uint64_t len);
/* Address of a module, named as by perf: "[ext4]", or the path of its file. */
void symbolizer_kernel_module(struct symbolizer *s, uint64_t start, uint64_t len, const char *name);
/* Version of the kernel's table: changes when it is read again or code is reported. */
uint64_t symbolizer_kernel_serial(const struct symbolizer *s);
/* While this is the same, each address has the same name, in the kernel and in files (dsos_answers()). */
uint64_t symbolizer_answers(struct symbolizer *s);
/* The mapped files; their functions by dso_find(). */
struct dsos *symbolizer_dsos(struct symbolizer *s);
#endif
